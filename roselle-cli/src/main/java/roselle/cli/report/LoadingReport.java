package roselle.cli.report;

import java.io.Console;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import roselle.engine.StartObserver;

/**
 * Tells how the loading of a model gets on, once that has taken a while, as from a cold disk: in a terminal a bar, which
 * leaves an empty line behind, elsewhere a line now and then.
 */
public final class LoadingReport implements StartObserver, AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(1);

    /** From one line to the next. */
    static final Duration BETWEEN_LINES = Duration.ofSeconds(5);

    private static final int WIDTH = 80;
    private static final int UNKNOWN = -1;
    private static final long MEGABYTE = 1_000_000;
    private static final long REFRESH_MILLIS = 200;

    private final String model;
    private final PrintStream report;
    private final Duration patience;
    private final CountDownLatch end = new CountDownLatch(1);
    private final Thread thread;
    private volatile long done;
    private volatile long total = UNKNOWN;

    private LoadingReport(String model, PrintStream report, Duration patience, boolean isTerminal) {
        this.model = model;
        this.report = report;
        this.patience = patience;
        thread = Thread.ofPlatform()
                .name("roselle-loading")
                .daemon(true)
                .unstarted(isTerminal ? this::showBar : this::writeLines);
    }

    private LoadingReport started() {
        thread.start();
        return this;
    }

    /** Begins to wait, and shows a bar when its patience is over; {@link #close} says that the model is loaded. */
    static LoadingReport bar(String model, PrintStream report, Duration patience) {
        return new LoadingReport(model, report, patience, true).started();
    }

    /** The same with a line each time. */
    static LoadingReport lines(String model, PrintStream report, Duration between) {
        return new LoadingReport(model, report, between, false).started();
    }

    /** A bar if standard error is a terminal, else lines, both there. */
    public static LoadingReport onStandardError(String model) {
        return isTerminal() ? bar(model, System.err, PATIENCE) : lines(model, System.err, BETWEEN_LINES);
    }

    private static boolean isTerminal() {
        return Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
    }

    @Override
    public void loaded(long bytes, long totalBytes) {
        done = bytes;
        total = totalBytes;
    }

    private boolean isOverWithin(long millis) throws InterruptedException {
        return end.await(millis, TimeUnit.MILLISECONDS);
    }

    private void showBar() {
        try {
            if (isOverWithin(patience.toMillis())) {
                return;
            }
            try (ProgressBar bar = bar()) {
                do {
                    bar.maxHint(total);
                    bar.stepTo(done);
                } while (!isOverWithin(REFRESH_MILLIS));
                bar.refresh();
            }
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
        }
    }

    private ProgressBar bar() {
        return new ProgressBarBuilder()
                .setTaskName("loading " + model)
                .setInitialMax(UNKNOWN)
                .setStyle(ProgressBarStyle.ASCII)
                .setUnit(" MB", MEGABYTE)
                .setUpdateIntervalMillis((int) REFRESH_MILLIS)
                .setConsumer(new ConsoleProgressBarConsumer(report, WIDTH))
                .clearDisplayOnFinish()
                .build();
    }

    private void writeLines() {
        try {
            while (!isOverWithin(patience.toMillis())) {
                String progress = total == UNKNOWN ? "" : ": " + ByteCount.of(done) + " of " + ByteCount.of(total);
                report.println("loading " + model + progress);
            }
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        end.countDown();
        try {
            thread.join();
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
        }
    }
}
