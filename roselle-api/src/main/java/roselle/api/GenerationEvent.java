package roselle.api;

import java.util.List;

/**
 * What happens to a request, in order; the last one is a {@link Finished} or a {@link Failed}, exactly once.
 *
 * <p>The answer to a {@linkplain Prompt.Chat chat} is split: thoughts and calls of tools that the model marks as such are
 * events of their own, and no part of the answer's text. The answer to any other prompt is text alone.
 */
public sealed interface GenerationEvent {
    /**
     * The prompt's own tokens were scored; comes before any token, and only if asked for.
     *
     * @param ids the prompt
     * @param logprobs one list a token, the token itself first and then the likeliest; the first token's list is empty
     */
    record PromptScored(List<Integer> ids, List<List<TokenLogprob>> logprobs) implements GenerationEvent {}

    /**
     * Thoughts before an answer go on; comes before the {@link TokenGenerated}, or {@link ChoiceEnded}, that made it certain.
     *
     * @param text what follows in the thoughts, never empty
     */
    record Reasoning(int choice, String text) implements GenerationEvent {}

    /**
     * A tool's call has begun; comes with the first of its arguments, before the {@link TokenGenerated}, or
     * {@link ChoiceEnded}, that made it certain. Exactly one {@link ToolCall} follows, so who wants whole calls ignores this.
     *
     * @param index 0 for the choice's first call
     * @param id by which the tool's result refers to the call, as the model's format has it
     */
    record ToolCallStarted(int choice, int index, String id, String name) implements GenerationEvent {}

    /**
     * The arguments of the call that began last go on.
     *
     * @param arguments what follows in them, never empty
     */
    record ToolCallDelta(int choice, int index, String arguments) implements GenerationEvent {}

    /**
     * A tool is called; comes when the call is complete, before the {@link TokenGenerated}, or {@link ChoiceEnded}, that made
     * it so. What is marked as a call and is not written as one stays text, as do all calls where the prompt offers no tools.
     *
     * @param index 0 for the choice's first call
     * @param id by which the tool's result refers to the call, as the model's format has it
     * @param arguments what the model wrote, as JSON: an object as a rule, of which the end is missing where the answer's is
     */
    record ToolCall(int choice, int index, String id, String name, String arguments) implements GenerationEvent {}

    /**
     * One more token of a choice.
     *
     * @param choice 0 until the number of choices
     * @param id the token
     * @param text what is certain to follow in the answer; empty while a character, a possible stop string or a call is
     *     incomplete, and within thoughts
     * @param raw the same, of the answer as the model wrote it, not split; special tokens have no text
     * @param logprobs the token itself first and then the likeliest; empty unless asked for
     */
    record TokenGenerated(int choice, int id, String text, String raw, List<TokenLogprob> logprobs)
            implements GenerationEvent {}

    /**
     * A choice has come to its end.
     *
     * @param text what was held back until now
     * @param raw the same, of the answer as the model wrote it
     * @param match the stop string that ended it, else empty
     */
    record ChoiceEnded(int choice, FinishReason reason, String text, String raw, String match)
            implements GenerationEvent {}

    /** All choices have ended; {@code reasons} has one for each. */
    record Finished(List<FinishReason> reasons, Usage usage) implements GenerationEvent {
        public Finished {
            reasons = List.copyOf(reasons);
        }
    }

    /** The request could not be completed. */
    record Failed(FailureKind kind, String message) implements GenerationEvent {
        /** The same as an exception, for callers that want nothing but a whole answer. */
        public RuntimeException exception() {
            return switch (kind) {
                case INVALID_REQUEST -> new InvalidRequestException(message);
                case CAPACITY, DEADLINE -> new CapacityException(message);
                case INTERNAL -> new DeviceException(message);
            };
        }
    }
}
