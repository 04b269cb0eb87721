package roselle.cli;

import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** Shows that a model is being loaded once that has taken a second, as from a cold disk, and leaves an empty line behind. */
final class LoadingBar implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final int WIDTH = 80;
    private static final int UNKNOWN = -1;

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
            if (loaded.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
            try (ProgressBar bar = bar()) {
                loaded.await();
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
                .setUpdateIntervalMillis(200)
                .setConsumer(new ConsoleProgressBarConsumer(report, WIDTH))
                .clearDisplayOnFinish()
                .build();
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
