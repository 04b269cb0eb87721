package roselle.gates;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The lines of {@link ApiSignatures} that the last release had, and what has become of them. */
final class ApiBaseline {
    /** What the release had; {@code tools/release/api.sh} writes it. */
    static final Path RELEASED = Path.of("docs/data/api/released.txt");

    /** Lines that are gone, or came to where others are broken, on purpose. */
    static final Path ACCEPTED = Path.of("docs/data/api/accepted.txt");

    /** Modules whose classes are nobody's to compile against. */
    private static final Set<String> PROGRAMS =
            Set.of("roselle-bench", "roselle-cli", "roselle-gates", "roselle-quarkus-deployment");

    private ApiBaseline() {}

    /** The lines of all modules that are built, or of none if one of them is not. */
    static Set<String> present(SourceTree project, Path buildFolder) {
        var lines = new TreeSet<String>();
        for (Path module : modules(project)) {
            lines.addAll(ApiSignatures.of(module.resolve(buildFolder).resolve("classes")));
        }
        return lines;
    }

    /** The folders of modules of the ordinary build whose classes applications use. */
    private static List<Path> modules(SourceTree project) {
        try (Stream<Path> folders = Files.list(project.root())) {
            return folders.filter(folder -> Files.isDirectory(folder.resolve("src/main/java/roselle")))
                    .filter(folder -> !PROGRAMS.contains(folder.getFileName().toString()))
                    .filter(folder -> !Files.isDirectory(folder.resolve("src/main/scala")))
                    .sorted()
                    .toList();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** A sentence for each line by which programs that were written for the release would no longer compile, link or run. */
    static List<String> breaks(Set<String> released, Set<String> present, Set<String> accepted) {
        var breaks = new ArrayList<String>();
        var gone = new TreeSet<>(released);
        gone.removeAll(present);
        gone.removeAll(accepted);
        gone.forEach(line -> breaks.add("released and gone or changed: " + line));
        Set<String> open = openInterfaces(released, present);
        var added = new TreeSet<>(present);
        added.removeAll(released);
        added.removeAll(accepted);
        added.stream()
                .filter(line -> line.endsWith(" abstract") && open.contains(owner(line)))
                .forEach(line -> breaks.add("new, and whoever implements the type does not have it: " + line));
        return breaks;
    }

    /** Interfaces and abstract classes of the release that anybody may implement. */
    private static Set<String> openInterfaces(Set<String> released, Set<String> present) {
        var open = new HashSet<String>();
        for (String line : released) {
            int kind = line.indexOf(" = ");
            if (kind > 0
                    && present.contains(line)
                    && !line.contains(" permits ")
                    && (line.startsWith("interface", kind + 3) || line.startsWith("abstract", kind + 3))) {
                open.add(line.substring(0, kind));
            }
        }
        return open;
    }

    private static String owner(String method) {
        String name = method.substring(0, method.indexOf('('));
        return name.substring(0, name.lastIndexOf('.'));
    }

    /** The lines of a file, without empty ones and those that begin with {@code #}. */
    static Set<String> read(SourceTree project, Path file) {
        var lines = new TreeSet<String>();
        for (String line : project.lines(file)) {
            if (!line.isBlank() && !line.startsWith("#")) {
                lines.add(line.strip());
            }
        }
        return lines;
    }
}
