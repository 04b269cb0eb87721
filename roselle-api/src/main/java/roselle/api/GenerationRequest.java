package roselle.api;

/**
 * What to generate, how to draw it, when to stop, what to report, what the answer must look like, and which adapter writes it.
 *
 * @param adapter the name of an adapter that the engine has loaded; empty for the model alone
 */
public record GenerationRequest(
        Prompt prompt,
        SamplingParameters sampling,
        StopConditions stop,
        OutputOptions output,
        SchedulingOptions scheduling,
        ResponseFormat format,
        String adapter) {
    /** A request to the model alone. */
    public GenerationRequest(
            Prompt prompt,
            SamplingParameters sampling,
            StopConditions stop,
            OutputOptions output,
            SchedulingOptions scheduling,
            ResponseFormat format) {
        this(prompt, sampling, stop, output, scheduling, format, "");
    }

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
        return new GenerationRequest(prompt, sampling, stop, output, other, format, adapter);
    }

    /** The same with another end. */
    public GenerationRequest with(StopConditions other) {
        return new GenerationRequest(prompt, sampling, other, output, scheduling, format, adapter);
    }

    /** The same with another prompt. */
    public GenerationRequest with(Prompt other) {
        return new GenerationRequest(other, sampling, stop, output, scheduling, format, adapter);
    }

    /** The same with an answer of another form. */
    public GenerationRequest with(ResponseFormat other) {
        return new GenerationRequest(prompt, sampling, stop, output, scheduling, other, adapter);
    }

    /** The same written by an adapter, or by the model alone where the name is empty. */
    public GenerationRequest withAdapter(String name) {
        return new GenerationRequest(prompt, sampling, stop, output, scheduling, format, name);
    }

    /** A builder with every default in place; it needs a prompt. */
    public static GenerationRequestBuilder builder() {
        return new GenerationRequestBuilder();
    }
}
