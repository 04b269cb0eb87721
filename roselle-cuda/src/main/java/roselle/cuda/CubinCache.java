package roselle.cuda;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import roselle.api.DeviceException;
import roselle.cuda.nvrtc.Compiler;

/**
 * Machine code of kernels, compiled at most once for each source and architecture.
 *
 * <p>The compiler's version is no part of the name: what another version made of the same source is as right, and to ask for
 * the version would load the compiler at each start.
 *
 * <p>A file is written beside its place and moved there, so that processes that start together never read half of one.
 * Where the folder cannot be written, kernels are compiled at each start.
 */
final class CubinCache implements Cubins {
    private static final System.Logger LOG = System.getLogger(CubinCache.class.getName());

    private final Path folder;
    private final Supplier<Compiler> compiler;
    private final Set<Path> fresh = new HashSet<>(); // compiled by this process
    private int compiled;

    CubinCache(Path folder, Supplier<Compiler> compiler) {
        this.folder = folder;
        this.compiler = compiler;
    }

    /** The cache under the user's cache folder, {@code ROSELLE_CACHE} or {@code XDG_CACHE_HOME}. */
    static CubinCache ofUser(Supplier<Compiler> compiler) {
        String own = System.getenv("ROSELLE_CACHE");
        String shared = System.getenv("XDG_CACHE_HOME");
        Path root;
        if (own != null && !own.isBlank()) {
            root = Path.of(own);
        } else if (shared != null && !shared.isBlank()) {
            root = Path.of(shared, "roselle");
        } else {
            root = Path.of(System.getProperty("user.home"), ".cache", "roselle");
        }
        return new CubinCache(root.resolve("cubins"), compiler);
    }

    @Override
    public byte[] cubin(KernelSource source, String architecture) {
        Path file = file(source, architecture);
        if (Files.isRegularFile(file)) {
            try {
                return Files.readAllBytes(file);
            } catch (IOException unreadable) {
                LOG.log(System.Logger.Level.WARNING, "event=cubin-unreadable file=\"{0}\"", file);
            }
        }
        return compile(source, architecture, file);
    }

    private byte[] compile(KernelSource source, String architecture, Path file) {
        Compiler used = compiler.get();
        if (compiled++ == 0) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "kernels are compiled for " + architecture
                            + ", once on this machine: the first start takes about half a minute longer");
        }
        byte[] cubin = used.compile(source.file(), source.text(), KernelSource.headers(), architecture)
                .cubin();
        keep(file, cubin);
        fresh.add(file);
        return cubin;
    }

    @Override
    public Optional<byte[]> anew(KernelSource source, String architecture) {
        Path file = file(source, architecture);
        if (fresh.contains(file)) {
            return Optional.empty();
        }
        LOG.log(System.Logger.Level.WARNING, "event=cubin-not-loaded file=\"{0}\"", file);
        return Optional.of(compile(source, architecture, file));
    }

    /** Where the machine code of a source is kept. */
    Path file(KernelSource source, String architecture) {
        return folder.resolve(source.file() + "." + architecture + "." + hash(source.allText()) + ".cubin");
    }

    @Override
    public int compiled() {
        return compiled;
    }

    @Override
    public Optional<String> missing(String architecture) {
        for (KernelSource source : KernelSource.values()) {
            if (source.isForEveryModel()
                    && source.isFor(architecture)
                    && !Files.isRegularFile(file(source, architecture))) {
                return withoutCompiler();
            }
        }
        return Optional.empty();
    }

    private Optional<String> withoutCompiler() {
        try {
            Compiler _ = compiler.get();
            return Optional.empty();
        } catch (DeviceException failure) {
            return Optional.of(String.valueOf(failure.getMessage()));
        }
    }

    private void keep(Path file, byte[] cubin) {
        try {
            Files.createDirectories(folder);
            Path part = Files.createTempFile(folder, "part", ".cubin");
            try {
                Files.write(part, cubin);
                move(part, file);
            } finally {
                Files.deleteIfExists(part);
            }
        } catch (IOException unwritable) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "event=cubin-not-kept file=\"{0}\" reason=\"{1}\"",
                    file,
                    unwritable.getMessage());
        }
    }

    private static void move(Path part, Path file) throws IOException {
        try {
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (AtomicMoveNotSupportedException notHere) {
            Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, 12);
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError("every JDK has SHA-256", impossible);
        }
    }
}
