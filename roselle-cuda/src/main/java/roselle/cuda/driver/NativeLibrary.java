package roselle.cuda.driver;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import roselle.api.DeviceException;

/** A shared library of NVIDIA's, found where drivers, toolkits and Python environments put it. */
@SuppressWarnings("restricted")
public final class NativeLibrary {
    /** A system property that names a folder to look into first. */
    static final String FOLDER = "roselle.cuda.libraries";

    private final String name;
    private final SymbolLookup symbols;

    private NativeLibrary(String name, SymbolLookup symbols) {
        this.name = name;
        this.symbols = symbols;
    }

    /**
     * Loads a library: from the loader's path, the folder that the system property {@code roselle.cuda.libraries} names,
     * {@code CUDA_HOME}, {@code /usr/local/cuda*}, or the {@code nvidia} folders of a
     * Python environment: an active one, the user's own packages, the machine's.
     *
     * @param advice what to install where it is missing
     * @throws DeviceException that says where it was looked for, and the advice; caused by a {@code NoSuchFileException}
     */
    public static NativeLibrary open(String name, String advice) {
        return find(name).orElseThrow(() -> {
            List<Path> folders = folders();
            return new DeviceException(
                    name + " was not found on the loader's path nor in "
                            + (folders.isEmpty() ? "any CUDA folder, for there is none" : folders) + ": " + advice,
                    new NoSuchFileException(name));
        });
    }

    /** Loads the library of a file. */
    public static NativeLibrary of(Path file) {
        return new NativeLibrary(String.valueOf(file.getFileName()), SymbolLookup.libraryLookup(file, Arena.global()));
    }

    /** Loads a library if it is there. */
    public static Optional<NativeLibrary> find(String name) {
        try {
            return Optional.of(new NativeLibrary(name, SymbolLookup.libraryLookup(name, Arena.global())));
        } catch (IllegalArgumentException notOnTheLoadersPath) {
            for (Path folder : folders()) {
                Path file = folder.resolve(name);
                if (Files.isRegularFile(file)) {
                    return Optional.of(new NativeLibrary(name, SymbolLookup.libraryLookup(file, Arena.global())));
                }
            }
            return Optional.empty();
        }
    }

    /** Folders where NVIDIA's libraries may lie beside the loader's path. */
    static List<Path> folders() {
        return folders(System::getenv, Path.of(System.getProperty("user.home")), Path.of("/"));
    }

    /** The same for other environment variables, another home, and another root of the file system. */
    static List<Path> folders(Function<String, @Nullable String> environment, Path userHome, Path root) {
        var folders = new ArrayList<Path>();
        named(System.getProperty(FOLDER)).ifPresent(folder -> add(folders, folder));
        named(environment.apply("CUDA_HOME")).ifPresent(home -> {
            add(folders, home.resolve("lib64"));
            add(folders, home.resolve("lib"));
            add(folders, home);
        });
        named(environment.apply("VIRTUAL_ENV")).ifPresent(python -> addPython(folders, python.resolve("lib")));
        named(environment.apply("CONDA_PREFIX")).ifPresent(conda -> {
            add(folders, conda.resolve("lib"));
            addPython(folders, conda.resolve("lib"));
        });
        addMatching(folders, root.resolve("usr/local"), "cuda*", "lib64");
        addPython(folders, userHome.resolve(".local/lib"));
        addPython(folders, root.resolve("usr/local/lib"));
        addPython(folders, root.resolve("usr/lib"));
        return folders;
    }

    private static Optional<Path> named(@Nullable String folder) {
        return folder == null || folder.isBlank() ? Optional.empty() : Optional.of(Path.of(folder));
    }

    private static void addPython(List<Path> folders, Path lib) {
        for (Path python : matching(lib, "python3*")) {
            for (String packages : List.of("site-packages", "dist-packages")) {
                addMatching(folders, python.resolve(packages).resolve("nvidia"), "*", "lib");
            }
        }
    }

    private static void addMatching(List<Path> folders, Path parent, String pattern, String child) {
        for (Path match : matching(parent, pattern)) {
            add(folders, match.resolve(child));
        }
    }

    private static List<Path> matching(Path parent, String pattern) {
        var matches = new ArrayList<Path>();
        if (Files.isDirectory(parent)) {
            try (DirectoryStream<Path> children = Files.newDirectoryStream(parent, pattern)) {
                children.forEach(matches::add);
            } catch (IOException unreadable) {
                return List.of();
            }
        }
        matches.sort(null);
        return matches;
    }

    private static void add(List<Path> folders, Path folder) {
        if (Files.isDirectory(folder)) {
            folders.add(folder);
        }
    }

    /**
     * Binds a function.
     *
     * @throws DeviceException if the library is too old to have it
     */
    public MethodHandle function(String function, FunctionDescriptor type) {
        return symbols.find(function)
                .map(address -> Linker.nativeLinker().downcallHandle(address, type))
                .orElseThrow(() -> new DeviceException(
                        name + " has no function " + function + ": it is too old, CUDA 12 or newer is needed"));
    }
}
