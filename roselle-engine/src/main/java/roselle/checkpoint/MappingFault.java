package roselle.checkpoint;

import org.jspecify.annotations.Nullable;
import roselle.api.CheckpointException;

/** What the JVM throws where a mapped file has become shorter, or its disk fails: an {@link InternalError}, maybe wrapped. */
public final class MappingFault {
    private MappingFault() {}

    /** Whether a failure comes from reading a mapped file. */
    public static boolean isCauseOf(Throwable failure) {
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof InternalError) {
                return true;
            }
        }
        return false;
    }

    /** The same failure as a sentence about the checkpoint. */
    public static CheckpointException explain(Checkpoint checkpoint, Throwable fault) {
        try {
            checkpoint.checkFiles();
        } catch (CheckpointException shrunken) {
            return shrunken;
        }
        return new CheckpointException(
                checkpoint.source() + " could not be read while it was in use: check its disk and open it again",
                fault);
    }
}
