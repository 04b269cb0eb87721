package roselle.api;

/** What to generate, how to draw it, when to stop, what to report, and what the answer must look like. */
public record GenerationRequest(
        Prompt prompt,
        SamplingParameters sampling,
        StopConditions stop,
        OutputOptions output,
        SchedulingOptions scheduling,
        ResponseFormat format) {
    /** The same with an answer that may be any text. */
    public GenerationRequest(
            Prompt prompt,
            SamplingParameters sampling,
            StopConditions stop,
            OutputOptions output,
            SchedulingOptions scheduling) {
        this(prompt, sampling, stop, output, scheduling, ResponseFormat.TEXT);
    }

    /** The same with another turn among others. */
    public GenerationRequest with(SchedulingOptions other) {
        return new GenerationRequest(prompt, sampling, stop, output, other, format);
    }

    /** A builder with every default in place; it needs a prompt. */
    public static GenerationRequestBuilder builder() {
        return new GenerationRequestBuilder();
    }
}
