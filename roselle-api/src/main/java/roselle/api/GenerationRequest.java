package roselle.api;

/** What to generate, how to draw it, when to stop and what to report. */
public record GenerationRequest(
        Prompt prompt,
        SamplingParameters sampling,
        StopConditions stop,
        OutputOptions output,
        SchedulingOptions scheduling) {
    /** A builder with every default in place; it needs a prompt. */
    public static GenerationRequestBuilder builder() {
        return new GenerationRequestBuilder();
    }
}
