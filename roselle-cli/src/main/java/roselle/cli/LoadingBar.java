package roselle.cli;

import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Shows that a model is being loaded once that has taken a second, as from a cold disk, and leaves nothing behind. */
final class LoadingBar implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final long INTERVAL_MILLIS = 150;
    private static final int TRACK = 20;

    private final String model;
    private final PrintStream report;
    private final Duration patience;
    private final CountDownLatch loaded = new CountDownLatch(1);
    private final Thread thread;

    private LoadingBar(String model, PrintStream report, Duration patience) {
        this.model = model;
        this.report = report;
        this.patience = patience;
        thread = Thread.ofPlatform().name("roselle-loading").daemon(true).unstarted(this::show);
    }

    /** Begins to wait; {@link #close} says that the model is loaded. */
    static LoadingBar begin(String model, PrintStream report, Duration patience) {
        var bar = new LoadingBar(model, report, patience);
        bar.thread.start();
        return bar;
    }

    private void show() {
        try {
            long wait = patience.toMillis();
            for (int turn = 0; !loaded.await(wait, TimeUnit.MILLISECONDS); turn++) {
                wait = INTERVAL_MILLIS;
                draw(turn);
            }
            if (wait == INTERVAL_MILLIS) {
                report.print("\r" + " ".repeat(width()) + "\r");
                report.flush();
            }
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
        }
    }

    /** A mark that runs to and fro, because nobody knows how much is still to be read. */
    private void draw(int turn) {
        int place = turn % (2 * TRACK);
        int at = place < TRACK ? place : 2 * TRACK - 1 - place;
        report.print("\rloading " + model + " [" + " ".repeat(at) + "=" + " ".repeat(TRACK - 1 - at) + "]");
        report.flush();
    }

    private int width() {
        return "loading ".length() + model.length() + " [".length() + TRACK + "]".length();
    }

    @Override
    public void close() {
        loaded.countDown();
        try {
            thread.join();
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
        }
    }
}
