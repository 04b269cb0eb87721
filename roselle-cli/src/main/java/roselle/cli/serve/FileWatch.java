package roselle.cli.serve;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import roselle.api.InvalidRequestException;

/**
 * Notices that files were replaced while a server runs, as those who rotate certificates and keys do, and has them read again.
 *
 * <p>It looks at what is in them from time to time, through links, because files that a cluster mounts change by a link that
 * moves, which the system's notices miss, and because two changes may have one time and leave one size. Files that are no
 * good are told of once, and what was read before stays.
 */
final class FileWatch {
    static final Duration PERIOD = Duration.ofSeconds(5);

    private static final System.Logger LOG = System.getLogger(FileWatch.class.getName());

    private final List<Path> files;
    private final Runnable reread;
    private List<Optional<String>> seen;

    FileWatch(List<Path> files, Runnable reread) {
        this.files = List.copyOf(files);
        this.reread = reread;
        seen = digests();
    }

    /** Looks from now on, until the process ends. */
    void start() {
        Thread.ofVirtual().name("roselle-files").start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                try {
                    Thread.sleep(PERIOD);
                } catch (InterruptedException _) {
                    return;
                }
                look();
            }
        });
    }

    /** Has the files read again if they are not what they were; any thread. */
    synchronized void look() {
        List<Optional<String>> present = digests();
        if (present.equals(seen)) {
            return;
        }
        seen = present;
        try {
            reread.run();
            LOG.log(Level.INFO, "event=reread files={0}", files);
        } catch (InvalidRequestException | UncheckedIOException unusable) {
            LOG.log(Level.WARNING, "event=kept_what_was_read files=" + files + " reason=" + unusable.getMessage());
        }
    }

    private List<Optional<String>> digests() {
        return files.stream().map(FileWatch::digest).toList();
    }

    private static Optional<String> digest(Path file) {
        try {
            byte[] content = Files.readAllBytes(file);
            return Optional.of(HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(content)));
        } catch (IOException _) {
            return Optional.empty(); // between two states
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
