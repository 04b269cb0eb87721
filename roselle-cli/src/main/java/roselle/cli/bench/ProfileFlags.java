package roselle.cli.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
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
import roselle.cli.report.Heading;

/** The options that say which profiles are made, and the making: after the measured runs, by processes of their own. */
@Heading("Profiles")
final class ProfileFlags {
    private static final int REQUESTS = 50;
    private static final Duration LONGEST_WRITING = Duration.ofMinutes(15); // traces are large

    @Option(
            names = "--profile",
            paramLabel = "jfr|nsys|torch",
            description = "After the measured runs, start each engine once more and record it under profiles/.")
    private @Nullable String profile;

    /** What was asked for; asked before anything is measured, it complains in time. */
    Optional<ProfileKind> kind() {
        return Optional.ofNullable(profile).map(ProfileKind::of);
    }

    /** Makes what was asked for, if anything was. */
    void make(List<NamedBackend> engines, OnlineStage stage, ResultFiles files, Measurement measurement)
            throws InterruptedException {
        Optional<ProfileKind> asked = kind();
        if (asked.isPresent()) {
            make(asked.get(), engines, stage, files, measurement);
        }
    }

    private static void make(
            ProfileKind kind, List<NamedBackend> engines, OnlineStage stage, ResultFiles files, Measurement measurement)
            throws InterruptedException {
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
        String label = engine.profile().label();
        List<String> command;
        String note;
        try (RunningBackend running =
                engine.start(folder, words -> kind.around(label, words, file), kind.environment(file))) {
            command = running.command();
            ask(kind, running, "/start_profile");
            runToEnd(kind.begin(file), engine, folder);
            stage.sample(running.target(), REQUESTS);
            ask(kind, running, "/stop_profile");
            note = end(engine, kind, folder, running);
        }
        manifest.add(engine.name(), kind, command, files(kind, file), note);
    }

    /** Ends a recording; a complaint of its tool is a note where there is something all the same. */
    private static String end(NamedBackend engine, ProfileKind kind, Path folder, RunningBackend running)
            throws InterruptedException {
        Path file = kind.file(folder, engine.name());
        long process = running.process().map(BackendProcess::pid).orElse(0L);
        try {
            runToEnd(kind.end(process, file), engine, folder);
            return "";
        } catch (BackendException failure) {
            if (kind.written(file).isEmpty()) {
                throw failure;
            }
            return String.valueOf(failure.getMessage());
        }
    }

    private static void runToEnd(List<String> command, NamedBackend engine, Path folder) throws InterruptedException {
        if (!command.isEmpty()) {
            BackendProcess.runToEnd(command, Map.of(), LONGEST_WRITING, folder.resolve(engine.name() + "-profile.log"));
        }
    }

    private static List<Path> files(ProfileKind kind, Path file) {
        List<Path> written = kind.written(file);
        if (written.isEmpty()) {
            throw new BackendException("it recorded nothing: " + file + " is not there, or empty");
        }
        return kind == ProfileKind.JFR
                ? trace(file).map(trace -> List.of(file, trace)).orElse(written)
                : written;
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

    /** Engines with PyTorch's profiler record between two requests, of which the second waits for the file. */
    private static void ask(ProfileKind kind, RunningBackend running, String path) throws InterruptedException {
        if (!kind.isAskedOfTheEngine()) {
            return;
        }
        URI address = running.target().base().resolve(path);
        try (HttpClient client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(Duration.ofSeconds(10))
                .build()) {
            var request = HttpRequest.newBuilder(address)
                    .timeout(LONGEST_WRITING)
                    .POST(HttpRequest.BodyPublishers.noBody())
                    .build();
            HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
            if (answer.statusCode() != 200) {
                throw new BackendException(path + " answered with status " + answer.statusCode() + ": "
                        + answer.body().strip());
            }
        } catch (IOException failure) {
            throw new BackendException(address + " does not answer: " + failure.getMessage(), failure);
        }
    }
}
