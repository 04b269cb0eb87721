package roselle.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import roselle.bench.backend.BackendException;
import roselle.bench.backend.BackendProcess;
import roselle.bench.profile.ChromeTrace;
import roselle.bench.profile.Manifest;
import roselle.bench.profile.ProfileKind;
import roselle.bench.report.ResultFiles;
import roselle.bench.stage.OnlineStage;

/** The options that say which profiles are made, and the making: after the measured runs, by processes of their own. */
final class ProfileFlags {
    private static final int REQUESTS = 50;

    @Option(
            names = "--profile",
            paramLabel = "jfr|nsys|torch",
            description = "After the measured runs, start each engine once more and record it under profiles/.")
    private @Nullable String profile;

    /** Makes what was asked for, if anything was. */
    void make(List<NamedBackend> engines, OnlineStage stage, ResultFiles files, Measurement measurement)
            throws InterruptedException {
        if (profile == null) {
            return;
        }
        ProfileKind kind = ProfileKind.of(profile);
        Path folder = files.folder().resolve("profiles").toAbsolutePath();
        try {
            Files.createDirectories(folder);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        var manifest = new Manifest(folder);
        for (NamedBackend engine : engines) {
            if (!kind.suits(engine.profile().label()) || engine.url().isPresent()) {
                manifest.addFailure(
                        engine.name(), kind, "this kind of profile needs an engine of another kind, started here");
                continue;
            }
            measurement.attempt(
                    engine,
                    () -> record(engine, kind, folder, stage, manifest),
                    reason -> manifest.addFailure(engine.name(), kind, reason));
        }
        manifest.write();
        measurement.say("profiles: " + folder.resolve("profile_manifest.json"));
    }

    private static void record(NamedBackend engine, ProfileKind kind, Path folder, OnlineStage stage, Manifest manifest)
            throws InterruptedException {
        Path file = kind.file(folder, engine.name());
        List<String> command;
        try (RunningBackend running = engine.start(folder, words -> kind.around(words, file), kind.environment(file))) {
            command = running.command();
            ask(kind, running.target().base().resolve("/start_profile"));
            stage.sample(running.target(), REQUESTS);
            ask(kind, running.target().base().resolve("/stop_profile"));
            writeOut(engine, kind, file, running);
        }
        manifest.add(engine.name(), kind, command, files(kind, file), "");
    }

    private static void writeOut(NamedBackend engine, ProfileKind kind, Path file, RunningBackend running)
            throws InterruptedException {
        List<String> command = running.process()
                .map(process -> kind.writeOut(process.pid(), file))
                .orElse(List.of());
        if (!command.isEmpty()) {
            BackendProcess.runToEnd(
                    command, Duration.ofMinutes(1), file.resolveSibling(engine.name() + "-profile.log"));
        }
    }

    private static List<Path> files(ProfileKind kind, Path file) {
        return kind == ProfileKind.JFR && Files.exists(file)
                ? trace(file).map(trace -> List.of(file, trace)).orElse(List.of(file))
                : List.of(file);
    }

    private static Optional<Path> trace(Path recording) {
        Path trace = recording.resolveSibling(recording.getFileName() + ".trace.json");
        try {
            ChromeTrace.write(recording, trace);
            return Optional.of(trace);
        } catch (IOException failure) {
            throw new BackendException(
                    recording + " could not be turned into a trace: " + failure.getMessage(), failure);
        }
    }

    /** Engines with PyTorch's profiler record between two requests. */
    private static void ask(ProfileKind kind, URI address) throws InterruptedException {
        if (kind != ProfileKind.TORCH) {
            return;
        }
        try (HttpClient client = HttpClient.newHttpClient()) {
            client.send(
                    HttpRequest.newBuilder(address)
                            .POST(HttpRequest.BodyPublishers.noBody())
                            .build(),
                    BodyHandlers.discarding());
        } catch (IOException failure) {
            throw new BackendException(address + " does not answer: " + failure.getMessage(), failure);
        }
    }
}
