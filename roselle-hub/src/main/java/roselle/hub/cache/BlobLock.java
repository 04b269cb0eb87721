package roselle.hub.cache;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import roselle.hub.request.HubException;

/**
 * One process's right to make a blob.
 *
 * <p>Python's library locks the same files, but with {@code flock}, which on local disks does not see the record locks that
 * Java makes. So this keeps two processes of Roselle from fetching the same bytes; towards Python, that blobs are made whole
 * under names of their own is what keeps both right.
 */
public final class BlobLock implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(200);

    private final FileChannel channel;

    private BlobLock(FileChannel channel) {
        this.channel = channel;
    }

    /** Waits as long as the other's part grows, and {@code patience} longer; {@code onWait} is told of it once. */
    public static BlobLock acquire(Path lock, Path part, Duration patience, Runnable onWait) throws IOException {
        Optional<BlobLock> held = tryAcquire(lock);
        if (held.isEmpty()) {
            onWait.run();
        }
        long since = System.nanoTime();
        long modified = modified(part);
        while (held.isEmpty()) {
            if (modified(part) != modified) {
                modified = modified(part);
                since = System.nanoTime();
            } else if (System.nanoTime() - since > patience.toNanos()) {
                throw new HubException(
                        HubException.Kind.TRY_AGAIN,
                        "another process holds " + lock + " and does not get on: end it, and run the same again");
            }
            pause();
            held = tryAcquire(lock);
        }
        return held.get();
    }

    /** The lock if nobody has it. */
    public static Optional<BlobLock> tryAcquire(Path lock) throws IOException {
        FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            FileLock held = channel.tryLock();
            if (held != null) {
                HubCache.shareLock(lock);
                return Optional.of(new BlobLock(channel));
            }
        } catch (OverlappingFileLockException heldByThisProcess) {
            channel.close();
            return Optional.empty();
        } catch (IOException unsupported) {
            channel.close();
            throw unsupported;
        }
        channel.close();
        return Optional.empty();
    }

    private static long modified(Path part) {
        try {
            return Files.getLastModifiedTime(part).toMillis();
        } catch (IOException absent) {
            return 0;
        }
    }

    private static void pause() {
        try {
            Thread.sleep(POLL);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new HubException(
                    HubException.Kind.TRY_AGAIN, "interrupted while another process fetches", interrupted);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
