package roselle.server.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import roselle.api.InvalidRequestException;

/**
 * A folder of models that may change while they are served, as Triton Inference Server has it.
 *
 * @param folder whose GGUF files, and folders with a configuration, are models
 * @param control who says when the folder is read again, and what is loaded
 * @param interval between two looks at the folder
 * @param reading makes a model of a path in it
 * @param supply where models come from that it does not have, if any may
 */
public record ModelRepository(
        Path folder,
        Control control,
        Duration interval,
        Function<Path, PooledModel> reading,
        Optional<ModelSupply> supply) {
    /** Who says when a folder is read again. */
    public enum Control {
        /** Nobody: what there is at the start stays. */
        NONE,
        /** Time: what is new, changed or gone is found within two intervals. */
        POLL,
        /** Operators: a model is loaded when they say so, and by no request; the folder is then read. */
        EXPLICIT
    }

    private static final String GGUF = ".gguf";

    /** Parts of a GGUF file behind its first. */
    private static final Pattern LATER_PART = Pattern.compile(".*-(?!00001)\\d{5}-of-\\d{5}\\.gguf");

    /** Between two looks unless it is said. */
    public static final Duration INTERVAL = Duration.ofSeconds(15);

    public ModelRepository {
        if (interval.toMillis() < 100 || interval.toSeconds() > 86_400) {
            throw new InvalidRequestException("the models' folder is read every " + interval.toMillis()
                    + " milliseconds: it must be every 100 to 86400000");
        }
    }

    /**
     * The models of a folder: files of GGUF, of those in parts the first, and folders with a configuration.
     *
     * @throws UncheckedIOException if it cannot be read
     */
    public static List<Path> models(Path folder) {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(ModelRepository::isModel).sorted().toList();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static boolean isModel(Path path) {
        String name = path.getFileName().toString().toLowerCase(Locale.ROOT);
        return Files.isDirectory(path)
                ? Files.exists(path.resolve("config.json"))
                : name.endsWith(GGUF) && !LATER_PART.matcher(name).matches();
    }
}
