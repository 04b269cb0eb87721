package roselle.cli.bench;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import roselle.bench.metric.Distribution;
import roselle.bench.stage.GeneratorCheck;
import roselle.cli.report.ExitCode;

/** {@code roselle bench check}: the load generator's own error on this machine. */
@Command(
        name = "check",
        description = "Measure the load generator itself: 1,000 requests/s, 2,000 streams, a stub with known delays.",
        mixinStandardHelpOptions = true)
final class BenchCheckCommand implements Callable<Integer> {
    private static final double MAX_LATENESS_MILLIS = 2;
    private static final double MAX_DEVIATION = 0.03;

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Override
    public Integer call() throws InterruptedException {
        Distribution wakeUps = GeneratorCheck.wakeUps();
        GeneratorCheck.Found found = GeneratorCheck.standard().run();
        PrintWriter out = specification.commandLine().getOut();
        out.printf(
                Locale.ROOT,
                "a sleeping thread wakes late by %.3f ms at p50, %.3f at p99: the machine's own error%n",
                wakeUps.p50(),
                wakeUps.p99());
        out.printf(
                Locale.ROOT,
                "requests left late by %.3f ms at p50, %.3f at p99, %.3f at most; %d failed; %d streams at a time%n",
                found.lateness().p50(),
                found.lateness().p99(),
                found.lateness().max(),
                found.failed(),
                found.streams());
        for (double quantile : new double[] {0.5, 0.9, 0.99}) {
            out.printf(
                    Locale.ROOT,
                    "p%.0f: first token %.2f ms where the script says %.2f, gaps %.2f where it says %.2f%n",
                    100 * quantile,
                    found.first().quantile(quantile),
                    found.scriptedFirst().quantile(quantile),
                    found.gaps().quantile(quantile),
                    found.scriptedGaps().quantile(quantile));
        }
        boolean isTrue = found.failed() == 0
                && found.lateness().p99() < MAX_LATENESS_MILLIS
                && found.deviation(0.99) < MAX_DEVIATION
                && found.deviation(0.5) < MAX_DEVIATION;
        out.println(
                isTrue
                        ? "figures of this machine can be trusted to 3 %"
                        : "this machine is too busy or too small for such a load: do not trust figures taken now");
        out.flush();
        return isTrue ? ExitCode.OK.status() : ExitCode.DIFFERENT.status();
    }
}
