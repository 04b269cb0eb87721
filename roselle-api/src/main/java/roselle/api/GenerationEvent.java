package roselle.api;

import java.util.List;

/** What happens to a request, in order; the last one is a {@link Finished} or a {@link Failed}, exactly once. */
public sealed interface GenerationEvent {
    /**
     * The prompt's own tokens were scored; comes before any token, and only if asked for.
     *
     * @param ids the prompt
     * @param logprobs one list a token, the token itself first and then the likeliest; the first token's list is empty
     */
    record PromptScored(List<Integer> ids, List<List<TokenLogprob>> logprobs) implements GenerationEvent {}

    /**
     * One more token of a choice.
     *
     * @param choice 0 until the number of choices
     * @param id the token
     * @param text what is certain to follow in the answer; empty while a character or a possible stop string is incomplete
     * @param logprobs the token itself first and then the likeliest; empty unless asked for
     */
    record TokenGenerated(int choice, int id, String text, List<TokenLogprob> logprobs) implements GenerationEvent {}

    /**
     * A choice has come to its end.
     *
     * @param text what was held back until now
     * @param match the stop string that ended it, else empty
     */
    record ChoiceEnded(int choice, FinishReason reason, String text, String match) implements GenerationEvent {}

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
