package roselle.cli.bench;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import roselle.bench.report.Meta;
import roselle.bench.report.OnlineResults;
import roselle.bench.report.ResultFiles;
import roselle.bench.stage.OnlinePlan;
import roselle.bench.stage.OnlineStage;
import roselle.bench.stage.PromptSource;
import roselle.cli.report.ExitCode;
import roselle.cli.report.VersionCommand;
import tools.jackson.databind.JsonNode;

/** {@code roselle bench online}: a trace replayed against one or several engines. */
@Command(
        name = "online",
        description = "Replay a trace against engines and tell TTFT, TPOT, ITL and E2E.",
        sortOptions = false,
        mixinStandardHelpOptions = true)
final class BenchOnlineCommand implements Callable<Integer> {
    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Mixin
    private BackendFlags backends = new BackendFlags();

    @Mixin
    private WorkloadFlags workload = new WorkloadFlags();

    @Mixin
    private VariantFlags variants = new VariantFlags();

    @Mixin
    private ProfileFlags profile = new ProfileFlags();

    @Option(
            names = "--output-dir",
            paramLabel = "DIR",
            defaultValue = "bench-results",
            description = "Where results are written; default: ${DEFAULT-VALUE}.")
    private Path output = Path.of("");

    @Override
    public Integer call() throws InterruptedException {
        var meta = new Meta(VersionCommand.line(), BackendFlags.commandLine(specification));
        PromptSource prompts = ExitCode.checkingOptions(
                specification.commandLine(), () -> workload.prompts(backends.model(), backends.vocabulary()));
        OnlinePlan plan = ExitCode.checkingOptions(specification.commandLine(), () -> workload.plan(prompts));
        List<NamedBackend> engines = ExitCode.checkingOptions(specification.commandLine(), this::engines);
        ExitCode.checkingOptions(specification.commandLine(), profile::kind);
        var files = new ResultFiles(output);
        var results = new OnlineResults(meta, plan);
        var measurement = new Measurement(files.folder(), out());
        var stage = new OnlineStage(plan, prompts);
        boolean isWhole = true;
        if (variants.isUsed()) {
            isWhole = variants.measure(engines, plan, stage, results, measurement);
        } else {
            for (NamedBackend engine : engines) {
                isWhole &= measurement.online(engine, stage, results);
            }
        }
        JsonNode document = files.write("online_results", results.document());
        out().println();
        out().print(files.tables("online_results"));
        out().flush();
        profile.make(engines, stage, files, measurement);
        BenchPlotCommand.draw(files, Map.of("online_results", document), specification);
        return isWhole ? ExitCode.OK.status() : ExitCode.UNAVAILABLE.status();
    }

    private List<NamedBackend> engines() {
        List<NamedBackend> named = backends.named();
        return variants.isUsed() ? variants.named(named.getFirst()) : named;
    }

    private PrintWriter out() {
        return specification.commandLine().getOut();
    }
}
