package roselle.batch;

import roselle.api.FailureKind;

/** How a sequence ended. */
public sealed interface Outcome {
    /** It generated a stop token, its last one. */
    record Stopped(int tokenId) implements Outcome {}

    /** Its constraint lets nothing follow. */
    record Completed() implements Outcome {}

    /** It has as many tokens as it may have. */
    record LengthReached() implements Outcome {}

    /** Its caller no longer wants it, or has found a stop string in its text. */
    record Cancelled() implements Outcome {}

    /** It could not be completed. */
    record Failed(FailureKind kind, String message) implements Outcome {}
}
