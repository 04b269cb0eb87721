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
import roselle.cli.report.ByteSize;
import roselle.cli.report.Heading;
import roselle.cli.report.NearNames;
import roselle.engine.EngineConfig;
import roselle.server.config.ModelRepository;
import roselle.server.config.ModelRepository.Control;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;

/** The options that say which models are loaded when they are asked for, and how long they stay. */
@Heading("Many models")
final class PoolFlags {
    private static final System.Logger LOG = System.getLogger(PoolFlags.class.getName());
    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h|)");

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

    /** All models; {@code configuring} makes an engine's configuration of a path. */
    PoolOptions options(List<Path> arguments, Function<Path, EngineConfig> configuring) {
        var written = new ArrayList<>(arguments.stream().map(WrittenModel::of).toList());
        Optional<Path> repository = repository();
        if (models != null && repository.isEmpty()) {
            Path existing = NearNames.existing(models);
            written.addAll(Files.isDirectory(existing) ? folder(existing) : ModelsFile.read(existing));
        }
        List<String> pins = AccessFlags.parts(pinned);
        List<String> pairs = AccessFlags.parts(aliases);
        List<String> targets = pairs.stream().map(PoolFlags::target).toList();
        if (repository.isPresent()) { // where a model may come later
            var known = new ArrayList<>(written);
            ModelRepository.models(repository.get()).stream()
                    .map(WrittenModel::of)
                    .forEach(known::add);
            unknown("pin", pins, known).ifPresent(PoolFlags::warn);
            unknown("alias", targets, known).ifPresent(PoolFlags::warn);
        } else {
            unknown("pin", pins, written).ifPresent(PoolFlags::refuse);
            unknown("alias", targets, written).ifPresent(PoolFlags::refuse);
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
                        path -> pooled(WrittenModel.of(path), pins, pairs, configuring),
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
            WrittenModel model, List<String> pins, List<String> pairs, Function<Path, EngineConfig> configuring) {
        var others = new ArrayList<>(model.aliases());
        pairs.stream()
                .filter(pair -> target(pair).equals(model.name()))
                .map(pair -> pair.substring(0, pair.indexOf('=')))
                .forEach(others::add);
        String usual = keepAlive == null ? "-1" : keepAlive;
        return new PooledModel(
                model.name(),
                others,
                model.adjustment().apply(configuring.apply(model.path())),
                model.isPinned() || pins.contains(model.name()),
                time(model.keepAlive().isEmpty() ? usual : model.keepAlive()),
                model.memory());
    }

    /** What is said of the first of some names that no model has. */
    private static Optional<String> unknown(String option, List<String> names, List<WrittenModel> models) {
        var unknown = new TreeSet<>(names);
        models.forEach(model -> unknown.remove(model.name()));
        return unknown.stream()
                .findFirst()
                .map(name -> option + " names " + name + ", which is no model: there are "
                        + String.join(
                                ", ", models.stream().map(WrittenModel::name).toList()));
    }

    private static void refuse(String sentence) {
        throw new InvalidRequestException(sentence);
    }

    private static void warn(String sentence) {
        LOG.log(System.Logger.Level.WARNING, sentence + "; the folder may get it later");
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
    private static List<WrittenModel> folder(Path folder) {
        List<WrittenModel> found =
                ModelRepository.models(folder).stream().map(WrittenModel::of).toList();
        if (found.isEmpty()) {
            throw new InvalidRequestException(
                    "models is " + folder + ", which has no .gguf and no folder with a config.json");
        }
        return found;
    }
}
