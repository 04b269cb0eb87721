package roselle.cli.bench;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import roselle.bench.report.Meta;
import roselle.bench.report.OfflineResults;
import roselle.bench.report.ResultFiles;
import roselle.bench.stage.OfflinePlan;
import roselle.bench.stage.OfflineStage;
import roselle.bench.stage.PromptSource;
import roselle.cli.report.ExitCode;
import roselle.cli.report.VersionCommand;
import tools.jackson.databind.JsonNode;

/** {@code roselle bench offline}: all prompts at once, by engines' libraries and over HTTP. */
@Command(
        name = "offline",
        description = "Measure requests and tokens per second of all prompts at once, without a tokenizer.",
        sortOptions = false,
        mixinStandardHelpOptions = true)
final class BenchOfflineCommand implements Callable<Integer> {
    /** Engines whose library has a driver. */
    static final Set<String> WITH_DRIVER = Set.of("vllm", "sglang", "trtllm", "hf");

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Mixin
    private BackendFlags backends = new BackendFlags();

    @Mixin
    private OfflineFlags offline = new OfflineFlags();

    @Option(
            names = "--output-dir",
            paramLabel = "DIR",
            defaultValue = "bench-results",
            description = "Where results are written; default: ${DEFAULT-VALUE}.")
    private Path output = Path.of("");

    @Override
    public Integer call() throws InterruptedException {
        var meta = new Meta(VersionCommand.line(), BackendFlags.commandLine(specification));
        var command = specification.commandLine();
        OfflinePlan plan = ExitCode.checkingOptions(command, offline::plan);
        PromptSource prompts = ExitCode.checkingOptions(
                command, () -> offline.drawn(WorkloadFlags.source(backends.model(), backends.vocabulary())));
        List<NamedBackend> engines = ExitCode.checkingOptions(command, () -> {
            plan.demandFits(prompts.context());
            return backends.named();
        });
        var files = new ResultFiles(output);
        var measurement = new Measurement(files.folder(), command.getOut());
        var results = new OfflineResults(meta, plan);
        boolean isWhole = true;
        for (NamedBackend engine : engines) {
            if (hasLibrary(engine)) {
                isWhole &= measurement.offlineByLibrary(engine, plan, prompts, results);
            }
            if (!hasDriver(engine)) {
                isWhole &= measurement.offlineOverHttp(engine, new OfflineStage(plan, prompts), results);
            }
        }
        JsonNode document = files.write("offline_results", results.document());
        measurement.say("");
        measurement.say(files.tables("offline_results"));
        BenchPlotCommand.draw(files, Map.of("offline_results", document), specification);
        return isWhole ? ExitCode.OK.status() : ExitCode.UNAVAILABLE.status();
    }

    /** Whether an engine's library can be run without its server: Roselle's, or one with a driver that is not started. */
    static boolean hasLibrary(NamedBackend engine) {
        return engine.url().isEmpty() && (engine.profile().label().equals("roselle") || hasDriver(engine));
    }

    private static boolean hasDriver(NamedBackend engine) {
        return engine.url().isEmpty() && WITH_DRIVER.contains(engine.profile().label());
    }
}
