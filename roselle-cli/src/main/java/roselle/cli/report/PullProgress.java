package roselle.cli.report;

import java.io.Console;
import java.io.PrintStream;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;
import roselle.hub.PullPlan;
import roselle.hub.request.HubName;
import roselle.hub.request.PullObserver;

/**
 * Tells on standard error how a download gets on: in a terminal a bar with rate and time left, elsewhere a line for each file.
 */
public final class PullProgress implements PullObserver, AutoCloseable {
    private static final int WIDTH = 100;
    private static final long KILOBYTE = 1000;
    private static final long MEGABYTE = 1_000_000;

    private final PrintStream report;
    private final HubName name;
    private final @Nullable ProgressBar bar;
    private final AtomicLong received = new AtomicLong();

    private PullProgress(PrintStream report, HubName name, @Nullable ProgressBar bar) {
        this.report = report;
        this.name = name;
        this.bar = bar;
    }

    /** Says what will be fetched; nothing where all is there. */
    public static PullProgress of(PullPlan plan, PrintStream report) {
        if (plan.missing().isEmpty()) {
            return new PullProgress(report, plan.name(), null);
        }
        report.println("pulling " + plan.name() + " at " + plan.commit().substring(0, 12) + ": "
                + plan.files().size() + " files, " + ByteCount.of(plan.bytes()) + ", of which "
                + ByteCount.of(plan.missingBytes()) + " are missing");
        return new PullProgress(report, plan.name(), isTerminal() ? bar(plan, report) : null);
    }

    /** Tells that the hub is asked, so that a hub that takes its time is not taken for a program that hangs. */
    public static PullObserver ofPlanning(HubName name, PrintStream report) {
        return new Planning(new PullProgress(report, name, null));
    }

    /** What is told before it is known what there is to fetch: not the index that is read for it. */
    private record Planning(PullProgress progress) implements PullObserver {
        @Override
        public void asking(String host, HubName model) {
            progress.say("asking " + host + " for " + model);
        }

        @Override
        public void pausing(String failure, Duration pause) {
            progress.pausing(failure, pause);
        }

        @Override
        public void waiting(String path) {
            progress.waiting(path);
        }
    }

    private static boolean isTerminal() {
        return Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
    }

    private static ProgressBar bar(PullPlan plan, PrintStream report) {
        return bar(plan.name().title(), plan.missingBytes(), report);
    }

    /** Counts in a unit of which there are enough that none is missed: the library cuts fractions of it off. */
    static ProgressBar bar(String task, long bytes, PrintStream report) {
        boolean isLarge = bytes >= 1000 * MEGABYTE;
        return new ProgressBarBuilder()
                .setTaskName(task)
                .setInitialMax(bytes)
                .setStyle(ProgressBarStyle.ASCII)
                .setUnit(isLarge ? " MB" : " kB", isLarge ? MEGABYTE : KILOBYTE)
                .setUpdateIntervalMillis(200)
                .setConsumer(new ConsoleProgressBarConsumer(report, WIDTH))
                .showSpeed(speed())
                .build();
    }

    /** With the digit before the point, which the library leaves out where it is 0. */
    static DecimalFormat speed() {
        return new DecimalFormat("0.0", DecimalFormatSymbols.getInstance(Locale.ROOT));
    }

    @Override
    public void received(long bytes) {
        long now = received.addAndGet(bytes);
        if (bar != null) {
            bar.stepTo(Math.max(0, now));
        }
    }

    @Override
    public void finished(String path, long size) {
        if (bar == null) {
            report.println("  " + path + " " + ByteCount.of(size));
        }
    }

    @Override
    public void pausing(String failure, Duration pause) {
        say(failure + "; trying again in " + Math.max(1, pause.toSeconds()) + " s");
    }

    @Override
    public void waiting(String path) {
        say("another process pulls " + path + " of " + name + ": waiting for it");
    }

    @Override
    public void restarting(String path) {
        say(path + " arrived damaged: fetching it once more");
    }

    private void say(String sentence) {
        report.println((bar == null ? "" : "\n") + sentence);
    }

    @Override
    public void close() {
        if (bar != null) {
            bar.close();
        }
    }
}
