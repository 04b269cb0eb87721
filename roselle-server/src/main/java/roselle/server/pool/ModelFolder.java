package roselle.server.pool;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import roselle.server.config.ModelRepository;

/** Which models a folder has, and what their files are like at this moment. */
final class ModelFolder {
    /** A part of a GGUF file. */
    private static final Pattern PART =
            Pattern.compile("(?<stem>.*)(?<ending>-\\d{5}-of-\\d{5}\\.gguf)", Pattern.CASE_INSENSITIVE);

    private static final String GGUF = ".gguf";

    private ModelFolder() {}

    /**
     * What one sees of a model's files without reading them.
     *
     * @param identity tells a file that is written to from one that another has taken the place of
     * @param state sizes and times
     */
    record Print(String identity, String state) {}

    /** The models of a folder as they are now; a model whose files vanish meanwhile is none. */
    static Map<Path, Print> prints(Path folder) {
        var prints = new TreeMap<Path, Print>();
        for (Path model : ModelRepository.models(folder)) {
            try {
                prints.put(model, print(model));
            } catch (IOException | UncheckedIOException gone) {
                prints.remove(model);
            }
        }
        return prints;
    }

    /** What a model's files are like now. */
    static Print print(Path model) throws IOException {
        var identity = new StringBuilder();
        var state = new StringBuilder();
        for (Path file : files(model)) {
            var attributes = Files.readAttributes(file, BasicFileAttributes.class);
            identity.append(attributes.fileKey()).append(' ');
            state.append(file.getFileName())
                    .append(' ')
                    .append(attributes.size())
                    .append(' ')
                    .append(attributes.lastModifiedTime().toInstant())
                    .append('\n');
        }
        return new Print(identity.toString(), state.toString());
    }

    /** The same; null where they are not there. */
    static @Nullable Print printIfThere(Path model) {
        try {
            return print(model);
        } catch (IOException | UncheckedIOException gone) {
            return null;
        }
    }

    private static List<Path> files(Path model) throws IOException {
        if (Files.isDirectory(model)) {
            try (Stream<Path> files = Files.list(model)) {
                return files.filter(Files::isRegularFile).sorted().toList();
            }
        }
        var part = PART.matcher(model.getFileName().toString());
        if (!part.matches()) {
            return List.of(model);
        }
        var parts = new ArrayList<Path>();
        try (Stream<Path> files = Files.list(model.toAbsolutePath().getParent())) {
            files.filter(file -> isPartOf(part.group("stem"), file)).sorted().forEach(parts::add);
        }
        return parts;
    }

    /**
     * Links a model into a folder: its file, or all parts of it, or its folder as a whole. An older link goes.
     *
     * @return the path that is the model there
     * @throws java.nio.file.FileAlreadyExistsException if the folder has such a file that is no link
     */
    static Path link(Path model, Path folder, String stem) throws IOException {
        if (Files.isDirectory(model)) {
            return linked(model, folder.resolve(stem));
        }
        Path target = folder.resolve(stem + GGUF);
        for (Path file : files(model)) {
            var part = PART.matcher(file.getFileName().toString());
            String ending = part.matches() ? part.group("ending") : GGUF;
            Path link = linked(file, folder.resolve(stem + ending));
            target = file.equals(model) || file.equals(model.toAbsolutePath()) ? link : target;
        }
        return target;
    }

    private static Path linked(Path there, Path here) throws IOException {
        if (Files.isSymbolicLink(here)) {
            Files.delete(here);
        }
        return Files.createSymbolicLink(here, there.toAbsolutePath());
    }

    /** Removes a model's file, or all parts of it, or the link that is its folder. */
    static void remove(Path model) throws IOException {
        if ((Files.isSymbolicLink(model) && Files.isDirectory(model)) || !Files.exists(model)) {
            Files.deleteIfExists(model);
            return;
        }
        for (Path file : files(model)) {
            Files.deleteIfExists(file);
        }
    }

    private static boolean isPartOf(String stem, Path file) {
        var part = PART.matcher(file.getFileName().toString());
        return part.matches() && part.group("stem").equals(stem);
    }
}
