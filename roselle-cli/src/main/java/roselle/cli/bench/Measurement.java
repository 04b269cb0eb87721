package roselle.cli.bench;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import roselle.api.CapacityException;
import roselle.api.CheckpointException;
import roselle.api.DeviceException;
import roselle.api.InvalidRequestException;
import roselle.bench.backend.BackendException;
import roselle.bench.backend.EngineVersion;
import roselle.bench.metric.RequestSample;
import roselle.bench.report.OfflineResults;
import roselle.bench.report.OnlineResults;
import roselle.bench.stage.DriverStage;
import roselle.bench.stage.OfflinePlan;
import roselle.bench.stage.OfflineRun;
import roselle.bench.stage.OfflineStage;
import roselle.bench.stage.OnlineStage;
import roselle.bench.stage.PromptSource;
import roselle.cli.report.ExitCode;
import roselle.cli.report.VersionCommand;

/** Measures one engine after the other; one that fails is told of, and the next one has its turn. */
final class Measurement {
    private static final Duration LONGEST_DRIVER = Duration.ofHours(2);

    private final Path folder;
    private final PrintWriter out;

    /** Logs of engines go into {@code folder}. */
    Measurement(Path folder, PrintWriter out) {
        this.folder = folder;
        this.out = out;
    }

    Path folder() {
        return folder;
    }

    /** Work on one engine that may fail. */
    interface Work {
        void run() throws InterruptedException, ExecutionException;
    }

    /** The load that is put on an engine while it answers. */
    interface Load {
        void on(RunningBackend running) throws InterruptedException;
    }

    /** Starts an engine, puts the load on it, and stops it; false after a failure, which is told and noted. */
    boolean measure(NamedBackend engine, OnlineResults results, Load load, Complaint also) throws InterruptedException {
        return attempt(engine, () -> run(engine, results, load), reason -> {
            results.add(engine.failed(reason));
            also.about(reason);
        });
    }

    private void run(NamedBackend engine, OnlineResults results, Load load) throws InterruptedException {
        try (RunningBackend running = started(engine)) {
            load.on(running);
            results.add(running.note(Optional.empty()));
        }
    }

    /** Starts an engine and tells of it, so that nobody wonders at the wait. */
    RunningBackend started(NamedBackend engine) throws InterruptedException {
        if (engine.url().isEmpty()) {
            say(engine.name() + " starts; its output is in " + folder.resolve(engine.name() + ".log"));
        }
        RunningBackend running = engine.start(folder);
        say(engine.name() + " answers at " + running.target().base()
                + running.process()
                        .map(process -> String.format(Locale.ROOT, ", ready after %.1f s", process.readySeconds()))
                        .orElse(""));
        return running;
    }

    /** Replays the trace against an engine. */
    boolean online(NamedBackend engine, OnlineStage stage, OnlineResults results) throws InterruptedException {
        return measure(engine, results, running -> online(running, stage, results), _ -> {});
    }

    /** The same against one that answers already. */
    void online(RunningBackend running, OnlineStage stage, OnlineResults results) throws InterruptedException {
        var all = new ArrayList<RequestSample>();
        stage.run(running.target(), run -> {
            results.add(run);
            all.addAll(run.samples());
            say(String.format(
                    Locale.ROOT,
                    "  scale %s: %d requests in %.1f s, %d failed, %.0f output tokens/s, TTFT p50 %.1f ms, TPOT p50 %.2f ms",
                    run.scale(),
                    run.throughput().requests(),
                    run.throughput().seconds(),
                    run.throughput().failed(),
                    run.throughput().outputTokensPerSecond(),
                    run.latencies().ttft().p50(),
                    run.latencies().tpot().p50()));
        });
        OnlineStage.demandAnswers(all, "of all runs");
    }

    /** The offline work by an engine's own library, where there is a way to it: Roselle's here, others through a driver. */
    boolean offlineByLibrary(NamedBackend engine, OfflinePlan plan, PromptSource prompts, OfflineResults results)
            throws InterruptedException {
        say(engine.name() + " works offline by its library");
        Work work = engine.profile().label().equals("roselle")
                ? () -> tell(
                        new OfflineStage(plan, prompts)
                                .inProcess(engine.name(), VersionCommand.line(), engine.engineConfig(plan)),
                        engine.settings().further(),
                        results)
                : () -> tell(
                        driver(engine, plan, prompts), List.of(engine.settings().python()), results);
        return attempt(engine, work, reason -> results.addFailure(engine.name(), reason));
    }

    private OfflineRun driver(NamedBackend engine, OfflinePlan plan, PromptSource prompts) throws InterruptedException {
        NamedBackend.Settings settings = engine.settings();
        var library = new DriverStage.Library(
                engine.name(),
                engine.profile().label(),
                settings.python(),
                engine.modelFiles(),
                settings.further(),
                settings.environment(),
                settings.hasPrefixCache());
        return new DriverStage(plan, prompts, folder).run(library, LONGEST_DRIVER);
    }

    /** The offline work over HTTP. */
    boolean offlineOverHttp(NamedBackend engine, OfflineStage stage, OfflineResults results)
            throws InterruptedException {
        Work work = () -> {
            try (RunningBackend running = started(engine)) {
                offline(running, stage, results);
            }
        };
        return attempt(engine, work, reason -> results.addFailure(engine.name(), reason));
    }

    /** The same with an engine that answers already. */
    void offline(RunningBackend running, OfflineStage stage, OfflineResults results) throws InterruptedException {
        tell(
                stage.overHttp(running.target(), EngineVersion.of(running.target()), running.readySeconds()),
                running.command(),
                results);
    }

    private void tell(OfflineRun run, List<String> command, OfflineResults results) {
        double best =
                run.seconds().stream().mapToDouble(Double::doubleValue).min().orElse(Double.NaN);
        results.add(run, command);
        say(run.backend() + ", " + run.path() + ": " + Math.round(run.outputTokens() / best) + " output tokens/s");
    }

    /** What is done with the reason of a failure. */
    interface Complaint {
        void about(String reason);
    }

    boolean attempt(NamedBackend engine, Work work, Complaint complaint) throws InterruptedException {
        try {
            work.run();
            return true;
        } catch (BackendException
                | InvalidRequestException
                | CapacityException
                | CheckpointException
                | DeviceException
                | ExecutionException failure) {
            String reason = ExitCode.sentence(failure);
            say(engine.name() + " failed: " + reason);
            complaint.about(reason);
            return false;
        }
    }

    void say(String line) {
        out.println(line);
        out.flush();
    }
}
