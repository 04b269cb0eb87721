package roselle.server.config;

import java.nio.file.Path;
import java.util.Optional;
import roselle.api.InvalidRequestException;

/**
 * Where files and batches are kept, and what they may take.
 *
 * @param path empty where there are no batches
 * @param space bytes of all files together
 * @param requests of batches that are answered at a time
 */
public record BatchFolder(Optional<Path> path, long space, int requests) {
    public static final long DEFAULT_SPACE = 16L << 30;
    public static final int DEFAULT_REQUESTS = 64;

    /** There are no batches. */
    public static final BatchFolder NONE = new BatchFolder(Optional.empty(), DEFAULT_SPACE, DEFAULT_REQUESTS);

    public BatchFolder {
        requireBetween("batch space", space, 1 << 20, 1L << 50);
        requireBetween("batch requests", requests, 1, 100_000);
    }

    /** Files in this folder. */
    public static BatchFolder in(Path folder) {
        return new BatchFolder(Optional.of(folder), DEFAULT_SPACE, DEFAULT_REQUESTS);
    }

    private static void requireBetween(String field, long value, long least, long most) {
        if (value < least || value > most) {
            throw new InvalidRequestException(
                    field + " is " + value + ": it must be between " + least + " and " + most);
        }
    }
}
