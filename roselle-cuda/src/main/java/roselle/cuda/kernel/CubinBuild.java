package roselle.cuda.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/** Makes the machine code of all kernels when the program is built: what the artifact of {@link roselle.cuda.spi.ShippedCubins} holds. */
public final class CubinBuild {
    /** Architectures that kernels are made for: Ampere, Ada, Hopper and Blackwell, in servers and in work stations. */
    public static final List<String> ARCHITECTURES = List.of("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120");

    private final Path folder;
    private final CubinCache.Compiling compiler;

    /** @param folder gets a file for each source and architecture */
    CubinBuild(Path folder, CubinCache.Compiling compiler) {
        this.folder = folder;
        this.compiler = compiler;
    }

    /**
     * Makes what is missing in a folder, and deletes what is no longer of any source.
     *
     * @param arguments the folder; the architectures, separated by commas, all where left out; sources likewise
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length == 0 || arguments.length > 3) {
            throw new IllegalArgumentException("asked for: FOLDER [ARCHITECTURE,… [SOURCE,…]]");
        }
        List<String> architectures = arguments.length > 1 ? List.of(arguments[1].split(",")) : ARCHITECTURES;
        List<String> named = arguments.length > 2
                ? List.of(arguments[2].toUpperCase(Locale.ROOT).split(","))
                : List.of();
        List<KernelSource> sources = KernelSource.all().stream()
                .filter(source -> named.isEmpty() || named.contains(source.name()))
                .toList();
        if (sources.size() < named.size() || !ARCHITECTURES.containsAll(architectures)) {
            throw new IllegalArgumentException(
                    "asked for sources among " + KernelSource.all() + ", for architectures among " + ARCHITECTURES);
        }
        var build = new CubinBuild(Path.of(arguments[0]), CubinCache.nvrtc());
        System.out.println(build.make(architectures, sources) + " files of machine code compiled");
    }

    /** Returns how many files it compiled. */
    int make(List<String> architectures, List<KernelSource> sources) throws IOException, InterruptedException {
        Files.createDirectories(folder);
        var wanted = new HashSet<String>();
        var jobs = new ArrayList<Callable<Path>>();
        for (KernelSource source : sources) {
            for (String architecture : architectures) {
                String name = CubinCache.name(source, architecture);
                if (source.isFor(architecture) && wanted.add(name) && !Files.exists(folder.resolve(name))) {
                    jobs.add(() -> make(source, architecture, folder.resolve(name)));
                }
            }
        }
        deleteOthers(wanted);
        try (var threads = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors())) {
            for (Future<Path> made : threads.invokeAll(jobs)) {
                made.get();
            }
        } catch (ExecutionException failure) {
            throw new IllegalStateException(failure.getCause());
        }
        return jobs.size();
    }

    private Path make(KernelSource source, String architecture, Path file) throws IOException {
        Path part = Files.createTempFile(folder, "part", null);
        try {
            Files.write(part, compiler.compile(source, architecture));
            return Files.move(part, file);
        } finally {
            Files.deleteIfExists(part);
        }
    }

    private void deleteOthers(Set<String> wanted) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                if (!wanted.contains(file.getFileName().toString())) {
                    Files.delete(file);
                }
            }
        }
    }
}
