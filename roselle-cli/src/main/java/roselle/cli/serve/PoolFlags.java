package roselle.cli.serve;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import roselle.api.InvalidRequestException;
import roselle.cli.option.HubSettings;
import roselle.cli.option.ModelNames;
import roselle.cli.option.TextInput;
import roselle.cli.report.ByteSize;
import roselle.cli.report.Heading;
import roselle.cli.report.NearNames;
import roselle.engine.EngineConfig;
import roselle.server.config.ModelRepository;
import roselle.server.config.ModelRepository.Control;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.PooledModel.Memory;

/** The options that say which models are loaded when they are asked for, and how long they stay. */
@Heading("Many models")
final class PoolFlags {
    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h|)");
    private static final Pattern SETTING = Pattern.compile("pin|(keep-alive|alias|guarantee|share)=.+");
    private static final int MOST_BYTES = 1 << 20;

    /** A hundred years: what is longer is as long, and can be counted in nanoseconds. */
    private static final long MOST_HOURS = 876_000;

    @Option(
            names = "--models",
            paramLabel = "FOLDER|FILE",
            description =
                    "Serve the models of a folder, or of a file with lines of NAME = MODEL, each loaded when it is asked for.")
    private @Nullable Path models;

    @Option(
            names = "--model-memory",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            description =
                    "Memory that all loaded models may take together, weights and caches; default: what the machine, or the GPU, has.")
    private @Nullable Long memory;

    @Option(
            names = "--host-memory",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            description =
                    "Memory of the machine for the weights of models that leave a GPU for others, to come back within fractions of a second; default: none.")
    private long hostMemory;

    @Option(
            names = "--keep-alive",
            paramLabel = "TIME",
            description =
                    "Unload a model so long after its last request, as in 90s or 5m; -1 keeps it until its memory is needed; default: -1.")
    private @Nullable String keepAlive;

    @Option(
            names = "--pin",
            paramLabel = "NAMES",
            description = "Models, separated by commas, that are loaded at the start and stay.")
    private String pinned = "";

    @Option(names = "--alias", paramLabel = "ALIAS=NAME", description = "Other names of models, separated by commas.")
    private String aliases = "";

    @Option(
            names = "--load-timeout",
            paramLabel = "SECONDS",
            description = "How long a request waits for its model to be loaded; default: 300.")
    private @Nullable Long loadSeconds;

    @Option(
            names = "--model-control",
            paramLabel = "none|poll|explicit",
            description =
                    "Whether the folder of --models is read once, again and again, or when an operator loads a model of it, which nothing else then does; default: none.")
    private Control control = Control.NONE;

    @Option(
            names = "--poll-seconds",
            paramLabel = "SECONDS",
            description = "Time between two looks at the folder with --model-control poll; default: 15.")
    private long pollSeconds = ModelRepository.INTERVAL.toSeconds();

    /** Whether models are loaded when they are asked for: there are several, or an option speaks of that. */
    boolean isPool(int arguments) {
        return arguments != 1
                || models != null
                || memory != null
                || keepAlive != null
                || loadSeconds != null
                || hostMemory != 0
                || !pinned.isEmpty()
                || !aliases.isEmpty();
    }

    boolean hasModels() {
        return models != null;
    }

    /** A model by its name, as somebody wrote it down. */
    private record Written(
            String name, Path path, boolean isPinned, String keepAlive, List<String> aliases, Memory memory) {
        static Written of(Path path) {
            return new Written(ModelNames.title(path), path, false, "", List.of(), Memory.USUAL);
        }
    }

    /** All models; {@code configuring} makes an engine's configuration of a path. */
    PoolOptions options(List<Path> arguments, Function<Path, EngineConfig> configuring) {
        var written = new ArrayList<>(arguments.stream().map(Written::of).toList());
        Optional<Path> repository = repository();
        if (models != null && repository.isEmpty()) {
            Path existing = NearNames.existing(models);
            written.addAll(Files.isDirectory(existing) ? folder(existing) : file(existing));
        }
        List<String> pins = AccessFlags.parts(pinned);
        List<String> pairs = AccessFlags.parts(aliases);
        List<String> targets = pairs.stream().map(PoolFlags::target).toList();
        if (repository.isEmpty()) { // else a model may come later
            requireKnown("pin", pins, written);
            requireKnown("alias", targets, written);
        }
        var pooled = written.stream()
                .map(model -> pooled(model, pins, pairs, configuring))
                .toList();
        var options = new PoolOptions(
                pooled,
                memory == null ? 0 : memory,
                loadSeconds == null ? PoolOptions.PATIENCE : Duration.ofSeconds(loadSeconds),
                repository.map(folder -> new ModelRepository(
                        folder,
                        control,
                        Duration.ofSeconds(pollSeconds),
                        path -> pooled(Written.of(path), pins, pairs, configuring),
                        Optional.of(new HubSupply(new HubSettings(System.getenv()).config(false))))));
        return options.withHostMemory(hostMemory);
    }

    /** The folder of models that is read again, if one is. */
    private Optional<Path> repository() {
        if (control == Control.NONE) {
            return Optional.empty();
        }
        if (models == null || !Files.isDirectory(NearNames.existing(models))) {
            throw new InvalidRequestException(
                    "model control is " + control.name().toLowerCase(Locale.ROOT) + ": it goes with --models FOLDER");
        }
        return Optional.of(NearNames.existing(models));
    }

    private PooledModel pooled(
            Written model, List<String> pins, List<String> pairs, Function<Path, EngineConfig> configuring) {
        var others = new ArrayList<>(model.aliases());
        pairs.stream()
                .filter(pair -> target(pair).equals(model.name()))
                .map(pair -> pair.substring(0, pair.indexOf('=')))
                .forEach(others::add);
        String usual = keepAlive == null ? "-1" : keepAlive;
        return new PooledModel(
                model.name(),
                others,
                configuring.apply(model.path()),
                model.isPinned() || pins.contains(model.name()),
                time(model.keepAlive().isEmpty() ? usual : model.keepAlive()),
                model.memory());
    }

    private static void requireKnown(String option, List<String> names, List<Written> models) {
        var unknown = new TreeSet<>(names);
        models.forEach(model -> unknown.remove(model.name()));
        if (!unknown.isEmpty()) {
            throw new InvalidRequestException(option + " names " + unknown.first() + ", which is no model: there are "
                    + String.join(", ", models.stream().map(Written::name).toList()));
        }
    }

    private static String target(String pair) {
        int equals = pair.indexOf('=');
        if (equals < 1 || equals == pair.length() - 1) {
            throw new InvalidRequestException("alias is " + pair + ": it must be ALIAS=NAME");
        }
        return pair.substring(equals + 1);
    }

    static Duration time(String text) {
        if (text.equals("-1")) {
            return PooledModel.WHILE_THERE_IS_ROOM;
        }
        Matcher parts = DURATION.matcher(text);
        if (!parts.matches()) {
            throw new InvalidRequestException(
                    "keep alive is " + text + ": it must be -1, or a time such as 90s, 5m or 2h");
        }
        long count = Long.parseLong(parts.group(1));
        return switch (parts.group(2)) {
            case "ms" -> Duration.ofMillis(count);
            case "m" -> Duration.ofMinutes(Math.min(count, MOST_HOURS * 60));
            case "h" -> Duration.ofHours(Math.min(count, MOST_HOURS));
            default -> Duration.ofSeconds(count);
        };
    }

    /** Files of GGUF, and folders with a configuration. */
    private static List<Written> folder(Path folder) {
        List<Written> found =
                ModelRepository.models(folder).stream().map(Written::of).toList();
        if (found.isEmpty()) {
            throw new InvalidRequestException(
                    "models is " + folder + ", which has no .gguf and no folder with a config.json");
        }
        return found;
    }

    /** Lines of {@code NAME = MODEL}, behind it perhaps {@code pin}, {@code keep-alive=TIME}, {@code alias=NAME} and more. */
    private static List<Written> file(Path file) {
        List<String> lines = TextInput.ofFile(file, MOST_BYTES, ": it is no list of models")
                .lines()
                .toList();
        var found = new ArrayList<Written>();
        for (int line = 0; line < lines.size(); line++) {
            String text = lines.get(line).strip();
            if (!text.isEmpty() && !text.startsWith("#")) {
                found.add(written(text, file, line + 1));
            }
        }
        return found;
    }

    private static Written written(String line, Path file, int number) {
        int equals = line.indexOf('=');
        String name = equals < 0 ? "" : line.substring(0, equals).strip();
        var words = new ArrayList<>(List.of(line.substring(equals + 1).strip().split("\\s+")));
        boolean pins = false;
        String time = "";
        Memory memory = Memory.USUAL;
        var others = new ArrayList<String>();
        while (words.size() > 1 && isSetting(words.getLast())) {
            String word = words.removeLast();
            String value = word.substring(word.indexOf('=') + 1);
            switch (word.substring(0, word.length() - value.length())) {
                case "keep-alive=" -> time = value;
                case "alias=" -> others.addFirst(value);
                case "guarantee=" -> memory = new Memory(new ByteSize().convert(value), memory.share());
                case "share=" -> memory = new Memory(memory.guarantee(), share(value));
                default -> pins = true;
            }
        }
        String model = String.join(" ", words);
        if (name.isEmpty() || model.isEmpty()) {
            throw new InvalidRequestException(file + ", line " + number + " is not NAME = MODEL");
        }
        Path path = file.toAbsolutePath().resolveSibling(model);
        return new Written(name, Files.exists(path) ? path : Path.of(model), pins, time, others, memory);
    }

    private static double share(String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException wrong) {
            throw new InvalidRequestException("share is " + text + ": it must be a number such as 0.5 or 3", wrong);
        }
    }

    private static boolean isSetting(String word) {
        return SETTING.matcher(word).matches();
    }
}
