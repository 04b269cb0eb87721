package roselle.cli.serve;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jline.utils.Signals;
import roselle.cli.report.ExitCode;

/**
 * The first SIGTERM or SIGINT ends the process in order, through its shutdown hooks; a later one ends it at once, whatever the
 * hooks still wait for.
 *
 * <p>SIGHUP tells a program in a terminal that the terminal has gone, so it ends the process likewise. To a service, which has
 * none, it says what it says to others: read the files again. A process that was started with SIGHUP ignored, as by {@code nohup},
 * never hears of it; the JVM sees to that.
 *
 * <p>Signals that follow within a moment count as one: programs that start others pass on what the terminal has sent to all.
 */
final class EndSignals {
    private static final long MOMENT_NANOS = Duration.ofMillis(250).toNanos();
    private static final long NOT_BEGUN = Long.MIN_VALUE;
    private static final Path TERMINAL = Path.of("/dev/tty");
    private static final int HUNG_UP = 129;
    private static final int INTERRUPTED = 130;
    private static final int TERMINATED = 143;

    private final AtomicLong begun = new AtomicLong(NOT_BEGUN);

    /** From now on; {@code reread} reads files again, where they have changed. */
    void listen(Runnable reread) {
        Signals.register("HUP", hasTerminal() ? () -> signalled(HUNG_UP) : reread);
        Signals.register("TERM", () -> signalled(TERMINATED));
        Signals.register("INT", () -> signalled(INTERRUPTED));
    }

    /** Whether there is one that could go: the system opens this name for those that belong to one, and for nobody else. */
    private static boolean hasTerminal() {
        try (var _ = Files.newByteChannel(TERMINAL)) {
            return true;
        } catch (IOException none) {
            return false;
        }
    }

    /** The end has begun, for whatever reason; returns whether it had not before. */
    boolean begin() {
        return begun.compareAndSet(NOT_BEGUN, System.nanoTime());
    }

    private void signalled(int status) {
        if (begin()) {
            System.exit(ExitCode.OK.status());
        } else if (System.nanoTime() - begun.get() > MOMENT_NANOS) {
            System.err.println("roselle: ended at once, because of a second signal");
            System.err.flush();
            Runtime.getRuntime().halt(status);
        }
    }
}
