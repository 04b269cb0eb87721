package roselle.api;

/** Why an answer ended. */
public enum FinishReason {
    /** The model ended it, or a stop token or stop string did. */
    STOP,
    /** The asked number of tokens, or the context, is full. */
    LENGTH,
    /** The caller closed the generation. */
    CANCELLED
}
