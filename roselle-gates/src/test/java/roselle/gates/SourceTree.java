package roselle.gates;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/** The files that make up the project, without what builds and editors leave behind. */
record SourceTree(Path root) {
    private static final Set<String> NOT_OURS =
            Set.of(".git", "target", ".idea", ".vscode", ".venv", "__pycache__", "node_modules", "shared");

    /** The checkout that this test runs in. */
    static SourceTree ofThisProject() {
        Path module = Path.of("").toAbsolutePath();
        return Stream.iterate(module, Objects::nonNull, Path::getParent)
                .filter(folder -> Files.exists(folder.resolve("roselle-engine")))
                .findFirst()
                .map(SourceTree::new)
                .orElseThrow(() -> new IllegalStateException(module + " is not inside a checkout"));
    }

    /** All files, by their path from the root. */
    List<Path> files() {
        var files = new ArrayList<Path>();
        try {
            Files.walkFileTree(root, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                    return NOT_OURS.contains(folder.getFileName().toString()) && !folder.equals(root)
                            ? FileVisitResult.SKIP_SUBTREE
                            : FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    if (attributes.isRegularFile()
                            && !NOT_OURS.contains(file.getFileName().toString())) {
                        files.add(root.relativize(file));
                    }
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        files.sort(null);
        return files;
    }

    /** Files whose name ends in one of {@code endings}. */
    List<Path> files(Set<String> endings) {
        return files().stream()
                .filter(file -> endings.stream().anyMatch(file.toString()::endsWith))
                .toList();
    }

    /** The lines of one file, byte for byte: no encoding can fail, and ASCII reads as itself. */
    List<String> lines(Path file) {
        return text(file).lines().toList();
    }

    String text(Path file) {
        try {
            return new String(Files.readAllBytes(root.resolve(file)), ISO_8859_1);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
