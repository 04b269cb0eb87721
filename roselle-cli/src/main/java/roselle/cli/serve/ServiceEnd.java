package roselle.cli.serve;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import roselle.cli.report.ExitCode;

/** The end of a service: at a signal, when what is being answered has had its time, at a second signal, or of itself. */
final class ServiceEnd {
    /** What has failed says so for a while, to who asks why, before it ends. */
    private static final Duration LAST_PROBES = Duration.ofSeconds(10);

    private final CountDownLatch told = new CountDownLatch(1);
    private final Thread hook;

    private ServiceEnd(EndSignals signals, Runnable closing) {
        hook = Thread.ofPlatform().name("roselle-drain").unstarted(() -> {
            signals.begin();
            closing.run();
            told.countDown();
            Runtime.getRuntime().halt(ExitCode.OK.status()); // a signal's own status would say that it was killed
        });
    }

    /** Has the JVM run {@code closing} at a signal and end; {@code reread} reads files again, where they have changed. */
    static ServiceEnd atSignals(Runnable closing, Runnable reread) {
        var signals = new EndSignals();
        var end = new ServiceEnd(signals, closing);
        Runtime.getRuntime().addShutdownHook(end.hook);
        signals.listen(reread);
        return end;
    }

    /**
     * Waits for the end, and tells why it came where nobody asked for it.
     *
     * @param complaint what is wrong, with an engine or a listener, which never is sound again; empty for nothing
     */
    ExitCode await(Supplier<String> complaint, PrintWriter err) {
        if (isTold(complaint)) {
            return ExitCode.OK;
        }
        err.println("roselle: " + complaint.get());
        err.flush();
        return ExitCode.INTERNAL;
    }

    private boolean isTold(Supplier<String> complaint) {
        try {
            while (complaint.get().isEmpty()) {
                if (told.await(1, TimeUnit.SECONDS)) {
                    return true;
                }
            }
            if (told.await(LAST_PROBES.toMillis(), TimeUnit.MILLISECONDS)) {
                return true;
            }
            Runtime.getRuntime().removeShutdownHook(hook);
            return false;
        } catch (InterruptedException _) {
            Runtime.getRuntime().removeShutdownHook(hook);
            Thread.currentThread().interrupt();
            return true;
        } catch (IllegalStateException _) {
            return true; // the JVM ends already
        }
    }
}
