package roselle.cli.bench;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import roselle.bench.metric.Distribution;
import roselle.bench.report.CapacityResults;
import roselle.bench.report.Meta;
import roselle.bench.report.ResultFiles;
import roselle.bench.stage.CapacitySearch;
import roselle.bench.stage.CapacityStage;
import roselle.bench.stage.CapacityStage.ProbeSize;
import roselle.bench.stage.OnlinePlan;
import roselle.bench.stage.PromptSource;
import roselle.cli.report.ExitCode;
import roselle.cli.report.VersionCommand;
import tools.jackson.databind.JsonNode;

/** {@code roselle bench capacity}: the highest request rate at which an objective is kept. */
@Command(
        name = "capacity",
        description = "Find the highest request rate at which p99 TTFT, p99 between tokens and failures keep to an"
                + " objective (--slo-…).",
        sortOptions = false,
        mixinStandardHelpOptions = true)
final class BenchCapacityCommand implements Callable<Integer> {
    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Mixin
    private BackendFlags backends = new BackendFlags();

    @Mixin
    private WorkloadFlags workload = new WorkloadFlags();

    @Option(names = "--start-rate", paramLabel = "X", defaultValue = "1", description = "Tried first; default: 1.")
    private double start;

    @Option(
            names = "--tolerance",
            paramLabel = "SHARE",
            defaultValue = "0.05",
            description = "The search ends when its bounds are this near; default: ${DEFAULT-VALUE}.")
    private double tolerance;

    @Option(names = "--max-probes", paramLabel = "N", defaultValue = "24", description = "Of a search; default: 24.")
    private int mostProbes;

    @Option(
            names = "--searches",
            paramLabel = "N",
            defaultValue = "3",
            description = "With arrivals of their own, for the confidence interval; default: ${DEFAULT-VALUE}.")
    private int searches;

    @Option(names = "--probe-seconds", paramLabel = "S", defaultValue = "30", description = "Default: 30.")
    private double probeSeconds;

    @Option(names = "--probe-requests", paramLabel = "N", defaultValue = "100", description = "At least; default: 100.")
    private int probeRequests;

    @Option(
            names = "--output-dir",
            paramLabel = "DIR",
            defaultValue = "bench-results",
            description = "Where results are written; default: ${DEFAULT-VALUE}.")
    private Path output = Path.of("");

    @Override
    public Integer call() throws InterruptedException {
        CommandLine command = specification.commandLine();
        var meta = new Meta(VersionCommand.line(), BackendFlags.commandLine(specification));
        PromptSource prompts =
                ExitCode.checkingOptions(command, () -> workload.prompts(backends.model(), backends.vocabulary()));
        OnlinePlan plan = ExitCode.checkingOptions(command, () -> workload.plan(prompts));
        CapacityStage stage = ExitCode.checkingOptions(
                command,
                () -> new CapacityStage(
                        plan,
                        prompts,
                        new CapacitySearch(start, tolerance, mostProbes),
                        new ProbeSize(probeSeconds, probeRequests),
                        searches));
        List<NamedBackend> engines = ExitCode.checkingOptions(command, backends::named);
        var files = new ResultFiles(output);
        var results = new CapacityResults(meta, plan);
        var measurement = new Measurement(files.folder(), command.getOut());
        boolean isWhole = true;
        for (NamedBackend engine : engines) {
            isWhole &= measurement.attempt(
                    engine,
                    () -> measure(engine, stage, results, measurement),
                    reason -> results.add(engine.failed(reason)));
        }
        JsonNode document = files.write("capacity_results", results.document());
        measurement.say("\n" + files.tables("capacity_results"));
        BenchPlotCommand.draw(files, Map.of("capacity_results", document), specification);
        return isWhole ? ExitCode.OK.status() : ExitCode.UNAVAILABLE.status();
    }

    private static String p99(Distribution values) {
        return values.isEmpty()
                ? "of none"
                : String.format(Locale.ROOT, "%.1f ms over %d", values.p99(), values.count());
    }

    private void measure(NamedBackend engine, CapacityStage stage, CapacityResults results, Measurement measurement)
            throws InterruptedException {
        try (RunningBackend running = measurement.started(engine)) {
            List<CapacitySearch.Result> found = stage.run(running.target(), probe -> {
                results.add(engine.name(), probe);
                measurement.say(String.format(
                        Locale.ROOT,
                        "  %.3f requests/s: %s (p99 of TTFT %s, between tokens %s, %d failed)",
                        probe.rate(),
                        probe.isKept() ? "kept" : "not kept",
                        p99(probe.latencies().ttft()),
                        p99(probe.latencies().itl()),
                        probe.throughput().failed()));
            });
            results.add(engine.name(), engine.settings().gpus(), found);
            results.add(running.note(Optional.empty()));
        }
    }
}
