package roselle.cli.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import roselle.api.InvalidRequestException;
import roselle.bench.backend.BackendProcess;
import roselle.bench.backend.Launch;
import roselle.bench.backend.Profile;
import roselle.bench.backend.Target;
import roselle.bench.report.BackendNote;
import roselle.bench.stage.DriverStage;
import roselle.bench.stage.OfflinePlan;
import roselle.cli.option.ModelNames;
import roselle.engine.EngineConfig;

/**
 * An engine that shall be measured.
 *
 * @param name in results
 * @param url where it runs already; empty to start it
 * @param servedModel what it calls the model
 */
record NamedBackend(
        String name,
        Profile profile,
        Optional<URI> url,
        String servedModel,
        Map<String, String> headers,
        Settings settings) {
    /**
     * How to start it.
     *
     * @param python for engines that are Python packages
     * @param gpus that it uses, for figures per GPU
     * @param further arguments
     * @param environment beside this process's own
     */
    record Settings(
            Optional<Path> model,
            String python,
            List<String> further,
            Map<String, String> environment,
            boolean hasPrefixCache,
            Duration timeout,
            int gpus) {
        /** Words that a text has between spaces. */
        static List<String> words(String text) {
            return text.isBlank() ? List.of() : List.of(text.strip().split("\\s+"));
        }
    }

    /** Roselle's library set up for the offline work. */
    EngineConfig engineConfig(OfflinePlan plan) {
        return EngineArguments.of(Path.of(modelFiles()), plan, settings.hasPrefixCache(), settings.further());
    }

    /** The same engine under another name and with other arguments. */
    NamedBackend with(String otherName, List<String> further) {
        var other = new Settings(
                settings.model(),
                settings.python(),
                further,
                settings.environment(),
                settings.hasPrefixCache(),
                settings.timeout(),
                settings.gpus());
        return new NamedBackend(otherName, profile, url, servedModel, headers, other);
    }

    /** Starts it, or finds it where it runs; its output goes into {@code folder}. */
    RunningBackend start(Path folder) throws InterruptedException {
        return start(folder, command -> command, Map.of());
    }

    /** The same with its command changed, and further variables in its environment. */
    RunningBackend start(Path folder, UnaryOperator<List<String>> change, Map<String, String> variables)
            throws InterruptedException {
        if (url.isPresent()) {
            return new RunningBackend(this, target(url.get(), Optional.empty()), List.of());
        }
        BackendFlags.demandStart(profile, url);
        int port = freePort();
        URI base = URI.create("http://127.0.0.1:" + port);
        List<String> command = change.apply(command(port, folder));
        Map<String, String> environment = environment(port);
        environment.putAll(variables);
        var launch = new Launch(
                command,
                environment,
                base.resolve(profile.healthPath()),
                settings.timeout(),
                folder.resolve(name + ".log"));
        return new RunningBackend(this, target(base, Optional.of(BackendProcess.start(launch))), command);
    }

    private Target target(URI base, Optional<BackendProcess> process) {
        var shape = settings.hasPrefixCache() ? profile.shape().withCache() : profile.shape();
        return new Target(name, base, servedModel, shape, headers, process);
    }

    private List<String> command(int port, Path folder) {
        var words = new ArrayList<String>();
        for (String word : profile.command()) {
            switch (word) {
                case "{roselle}" -> words.addAll(OwnCommand.words());
                case "{python}" -> words.add(settings.python());
                case "{model}" -> words.add(modelFiles());
                case "{name}" -> words.add(servedModel);
                case "{port}" -> words.add(Integer.toString(port));
                default -> words.add(filled(word, port, folder));
            }
        }
        if (!settings.hasPrefixCache()) {
            profile.withoutPrefixCache().forEach(word -> words.add(filled(word, port, folder)));
        }
        words.addAll(settings.further());
        return words;
    }

    /** A word with a placeholder within, such as {@code HOST:{port}}, or the name of a driver. */
    private String filled(String word, int port, Path folder) {
        if (word.startsWith("{driver:") && word.endsWith("}")) {
            String script = word.substring("{driver:".length(), word.length() - 1);
            return DriverStage.unpack(script, folder).toAbsolutePath().toString();
        }
        if (word.startsWith("{beside:") && word.endsWith("}")) {
            return beside(settings.python(), word.substring("{beside:".length(), word.length() - 1));
        }
        return word.replace("{port}", Integer.toString(port)).replace("{name}", servedModel);
    }

    /** A program that the installation of a Python package put beside that Python; else its name, for the path. */
    static String beside(String python, String program) {
        Path sibling = Path.of(python).resolveSibling(program);
        return python.indexOf('/') >= 0 && Files.isExecutable(sibling) ? sibling.toString() : program;
    }

    private Map<String, String> environment(int port) {
        var values = new HashMap<String, String>();
        settings.environment()
                .forEach((name, value) -> values.put(name, value.replace("{port}", Integer.toString(port))));
        return values;
    }

    /** Whether somebody asks for something, such as a format, among its arguments. */
    private boolean mentions(String part) {
        return Stream.concat(profile.command().stream(), settings.further().stream())
                .anyMatch(word -> word.contains(part));
    }

    /** The files of the model, for an engine that reads them itself. */
    String modelFiles() {
        Path model =
                settings.model().orElseThrow(() -> new InvalidRequestException("--model is needed to start " + name));
        String files = ModelNames.resolve(model).toString();
        if (profile.needsFolder() && files.endsWith(".gguf") && !mentions("gguf")) {
            throw new InvalidRequestException("the model is " + files + ", and " + profile.label()
                    + " reads no GGUF: name a folder of safetensors, for this engine alone as its model in a file of"
                    + " bench compare");
        }
        return files;
    }

    private static int freePort() {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** What results say of it when it did not start. */
    BackendNote failed(String reason) {
        return new BackendNote(
                name,
                profile.label(),
                url.map(URI::toString).orElse(""),
                servedModel,
                "unknown",
                List.of(),
                0,
                promptFormat(),
                settings.gpus(),
                profile.note(),
                Optional.of(reason));
    }

    String promptFormat() {
        return profile.shape().takesIds() ? "ids" : "text";
    }
}
