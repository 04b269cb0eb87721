package roselle.cli.bench;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.bench.report.Meta;
import roselle.bench.report.OfflineResults;
import roselle.bench.report.OnlineResults;
import roselle.bench.report.ResultFiles;
import roselle.bench.stage.OfflinePlan;
import roselle.bench.stage.OfflineStage;
import roselle.bench.stage.OnlinePlan;
import roselle.bench.stage.OnlineStage;
import roselle.bench.stage.PromptSource;
import roselle.cli.report.ExitCode;
import roselle.cli.report.NearNames;
import roselle.cli.report.VersionCommand;
import tools.jackson.databind.JsonNode;

/** {@code roselle bench compare}: engines from a file, each started, measured and stopped in turn. */
@Command(
        name = "compare",
        description = "Start each engine of a file in turn, measure it online and offline, stop it, and report.",
        mixinStandardHelpOptions = true)
final class BenchCompareCommand implements Callable<Integer> {
    /** The options of a section of the file. */
    @Command
    private static final class Online {
        @Mixin
        private WorkloadFlags workload = new WorkloadFlags();
    }

    /** The options of the other. */
    @Command
    private static final class Offline {
        @Mixin
        private OfflineFlags work = new OfflineFlags();
    }

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "FILE", description = "The engines and the work, as YAML.")
    private Path file = Path.of("");

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
        ExitCode.checkingOptions(specification.commandLine(), profile::kind);
        CompareFile compare = CompareFile.read(NearNames.existing(file));
        var online = new Online();
        var offline = new Offline();
        boolean isOnline = compare.fill("online", online);
        boolean isOffline = compare.fill("offline", offline);
        List<CompareFile.Entry> engines = compare.backends();
        PromptSource prompts = online.workload.prompts(compare.model().orElse(null), 0);
        var work = new Work(
                online.workload.plan(prompts),
                offline.work.plan(),
                prompts,
                offline.work.drawn(WorkloadFlags.source(compare.model().orElse(null), 0)),
                isOnline || !isOffline,
                isOffline || !isOnline);
        if (work.isOffline()) {
            work.offline().demandFits(prompts.context());
        }
        var files = new ResultFiles(output);
        boolean isWhole = measure(engines, work, meta, files);
        return isWhole ? ExitCode.OK.status() : ExitCode.UNAVAILABLE.status();
    }

    /** What each engine is asked to do. */
    private record Work(
            OnlinePlan online,
            OfflinePlan offline,
            PromptSource prompts,
            PromptSource offlinePrompts,
            boolean isOnline,
            boolean isOffline) {}

    private boolean measure(List<CompareFile.Entry> engines, Work work, Meta meta, ResultFiles files)
            throws InterruptedException {
        var measurement =
                new Measurement(files.folder(), specification.commandLine().getOut());
        var online = new OnlineResults(meta, work.online());
        var offline = new OfflineResults(meta, work.offline());
        boolean isWhole = true;
        for (CompareFile.Entry entry : engines) {
            NamedBackend engine = entry.backend();
            boolean isOnline = work.isOnline() && !entry.skipped().contains("online");
            boolean isOffline = work.isOffline() && !entry.skipped().contains("offline");
            if (isOffline && BenchOfflineCommand.hasLibrary(engine)) {
                isWhole &= measurement.offlineByLibrary(engine, work.offline(), work.offlinePrompts(), offline);
            }
            Measurement.Load load = running -> {
                if (isOnline) {
                    measurement.online(running, new OnlineStage(work.online(), work.prompts()), online);
                }
                if (isOffline) {
                    measurement.offline(running, new OfflineStage(work.offline(), work.offlinePrompts()), offline);
                }
            };
            isWhole &= measurement.measure(engine, online, load, reason -> {
                if (isOffline) {
                    offline.addFailure(engine.name(), reason);
                }
            });
            write(work, files, online, offline);
        }
        profile.make(
                engines.stream().map(CompareFile.Entry::backend).toList(),
                new OnlineStage(work.online(), work.prompts()),
                files,
                measurement);
        BenchPlotCommand.draw(files, write(work, files, online, offline), specification);
        if (work.isOnline()) {
            measurement.say("\n" + files.tables("online_results"));
        }
        if (work.isOffline()) {
            measurement.say("\n" + files.tables("offline_results"));
        }
        return isWhole;
    }

    /** After each engine, so that an interruption loses one engine only. */
    private static Map<String, JsonNode> write(
            Work work, ResultFiles files, OnlineResults online, OfflineResults offline) {
        Map<String, JsonNode> documents = new LinkedHashMap<>();
        if (work.isOnline()) {
            documents.put("online_results", files.write("online_results", online.document()));
        }
        if (work.isOffline()) {
            documents.put("offline_results", files.write("offline_results", offline.document()));
        }
        return documents;
    }
}
