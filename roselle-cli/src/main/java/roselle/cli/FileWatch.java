package roselle.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import roselle.api.InvalidRequestException;

/**
 * Notices that files were replaced while a server runs, as those who rotate certificates and keys do, and has them read again.
 *
 * <p>It looks at size, time and identity from time to time, through links, because files that a cluster mounts change by a link
 * that moves, which the system's notices miss. Files that are no good are told of once, and what was read before stays.
 */
final class FileWatch {
    static final Duration PERIOD = Duration.ofSeconds(5);

    private static final System.Logger LOG = System.getLogger(FileWatch.class.getName());

    private final List<Path> files;
    private final Runnable reread;
    private List<Optional<State>> seen;

    private record State(long size, long modifiedMillis, Object identity) {}

    FileWatch(List<Path> files, Runnable reread) {
        this.files = List.copyOf(files);
        this.reread = reread;
        seen = states();
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

    /** Has the files read again if they are not what they were. */
    void look() {
        List<Optional<State>> present = states();
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

    private List<Optional<State>> states() {
        return files.stream().map(FileWatch::state).toList();
    }

    private static Optional<State> state(Path file) {
        try {
            var attributes = Files.readAttributes(file, BasicFileAttributes.class);
            Object identity = attributes.fileKey();
            return Optional.of(new State(
                    attributes.size(), attributes.lastModifiedTime().toMillis(), identity == null ? file : identity));
        } catch (IOException _) {
            return Optional.empty(); // between two states
        }
    }
}
