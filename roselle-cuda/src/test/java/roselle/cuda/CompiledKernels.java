package roselle.cuda;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import roselle.cuda.kernel.KernelSource;

/**
 * Which sources became machine code, for which architecture, without a warning and without a spill: a line for each, with the sum of
 * all that the result depends on, so that a source, a header, an option or a compiler that changed is compiled again.
 */
final class CompiledKernels {
    /** Writes what was compiled where it is true: {@code -Droselle.writeCompiledKernels=true}. */
    private static final String WRITE = "roselle.writeCompiledKernels";

    private static final Path FILE = Path.of("src/test/resources/roselle/cuda/compiled-kernels.txt");

    /** Has the options of the compiler, and its version. */
    private static final Set<Path> CONDITIONS =
            Set.of(Path.of("src/main/java/roselle/cuda/nvrtc/Compiler.java"), Path.of("../tools/nvrtc.sh"));

    private final Set<String> lines;

    private CompiledKernels(Set<String> lines) {
        this.lines = lines;
    }

    static CompiledKernels read() throws IOException {
        return new CompiledKernels(new TreeSet<>(Files.exists(FILE) ? Files.readAllLines(FILE) : Set.of()));
    }

    synchronized boolean has(KernelSource source, String architecture) {
        return lines.contains(line(source, architecture));
    }

    synchronized void add(KernelSource source, String architecture) {
        String prefix = place(source, architecture);
        lines.removeIf(line -> line.startsWith(prefix));
        lines.add(line(source, architecture));
    }

    synchronized Set<String> lines() {
        return Set.copyOf(lines);
    }

    synchronized void writeIfAsked() throws IOException {
        if (Boolean.getBoolean(WRITE)) {
            Files.write(FILE, lines);
        }
    }

    static String line(KernelSource source, String architecture) {
        return place(source, architecture) + sum(source);
    }

    private static String place(KernelSource source, String architecture) {
        return source.file() + " " + architecture + " ";
    }

    private static String sum(KernelSource source) {
        try {
            MessageDigest sum = MessageDigest.getInstance("SHA-256");
            for (Path condition : new TreeSet<>(CONDITIONS)) {
                sum.update(Files.readAllBytes(condition));
            }
            sum.update(source.text().getBytes(StandardCharsets.UTF_8));
            Map<String, String> headers = KernelSource.headers();
            for (String header : includedBy(source)) {
                sum.update(headers.getOrDefault(header, "").getBytes(StandardCharsets.UTF_8));
            }
            return HexFormat.of().formatHex(sum.digest(), 0, 12);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The headers that a source includes, and those that they include, in the order of their names. */
    static Set<String> includedBy(KernelSource source) {
        return included(source.text(), KernelSource.headers(), new TreeSet<>());
    }

    private static Set<String> included(String text, Map<String, String> headers, Set<String> found) {
        headers.forEach((name, header) -> {
            if (text.contains("#include \"" + name + "\"") && found.add(name)) {
                included(header, headers, found);
            }
        });
        return found;
    }
}
