package roselle.cuda.kernel;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.zip.CRC32;
import roselle.api.DeviceException;
import roselle.backend.UserCache;
import roselle.cuda.nvrtc.Compiler;
import roselle.cuda.spi.ShippedCubins;

/**
 * Machine code of kernels, compiled at most once for each source and architecture, and not at all where it came with the program
 * ({@link ShippedCubins}).
 *
 * <p>A file ends with a sum of what precedes it, because the driver is given no length: it would read past the end of a file
 * that was cut off, and run one with a flipped bit.
 *
 * <p>The compiler's version is no part of the name: what another version made of the same source is as right, and to ask for
 * the version would load the compiler at each start.
 *
 * <p>A file is written beside its place and moved there, so that processes that start together never read half of one.
 * Where the folder cannot be written, kernels are compiled at each start.
 */
public final class CubinCache implements Cubins {
    private static final System.Logger LOG = System.getLogger(CubinCache.class.getName());

    private static final int SUM_BYTES = Long.BYTES;

    private final Path folder;
    private final List<ShippedCubins> shipped;
    private final Supplier<Compiling> compiler;
    private final Map<String, Path> files = new HashMap<>(); // by architecture and source
    private final Map<Path, Future<byte[]>> begun = new HashMap<>();
    private final Set<Path> fresh = new HashSet<>(); // compiled by this process
    private int compiled;
    private boolean saidCompiling;
    private final AtomicBoolean saidNotKept = new AtomicBoolean();

    /** Makes machine code of a source. */
    @FunctionalInterface
    public interface Compiling {
        byte[] compile(KernelSource source, String architecture);
    }

    /**
     * @param shipped what came with the program
     * @param compiler is looked for when it is needed first; compiles on several threads at once
     */
    public CubinCache(Path folder, List<ShippedCubins> shipped, Supplier<Compiling> compiler) {
        this.folder = folder;
        this.shipped = List.copyOf(shipped);
        this.compiler = compiler;
    }

    /** NVRTC. */
    static Compiling nvrtc() {
        var compiler = new Compiler();
        return (source, architecture) -> compiler.compile(
                        source.file(), source.text(), KernelSource.headers(), architecture)
                .cubin();
    }

    /** What came with the program, and a folder of the user's cache, filled by NVRTC. */
    public static CubinCache ofUser() {
        List<ShippedCubins> shipped =
                ServiceLoader.load(ShippedCubins.class, CubinCache.class.getClassLoader()).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList();
        return new CubinCache(UserCache.folder().resolve("cubins"), shipped, CubinCache::nvrtc);
    }

    /** What is kept goes before what was shipped: it is there where the driver refused that. */
    @Override
    public byte[] cubin(KernelSource source, String architecture) {
        Path file = file(source, architecture);
        if (begun.containsKey(file)) {
            return compile(source, architecture, file);
        }
        return kept(file).or(() -> shipped(file)).orElseGet(() -> compile(source, architecture, file));
    }

    private Optional<byte[]> shipped(Path file) {
        for (ShippedCubins each : shipped) {
            try {
                Optional<byte[]> cubin = each.read(file.getFileName().toString());
                if (cubin.isPresent()) {
                    return cubin;
                }
            } catch (IOException unreadable) {
                LOG.log(System.Logger.Level.WARNING, "event=cubin-unreadable file=\"" + file + "\"", unreadable);
            }
        }
        return Optional.empty();
    }

    private boolean isShipped(Path file) {
        return shipped.stream().anyMatch(each -> each.has(file.getFileName().toString()));
    }

    @Override
    public void begin(String architecture) {
        List<KernelSource> needed = KernelSource.all().stream()
                .filter(source -> source.isForEveryModel() && source.isFor(architecture))
                .filter(source -> !Files.exists(file(source, architecture)) && !isShipped(file(source, architecture)))
                .toList();
        if (needed.isEmpty()) {
            return;
        }
        Compiling used = compiler.get();
        int threads = Math.min(needed.size(), Runtime.getRuntime().availableProcessors());
        say(architecture);
        ExecutorService pool = Executors.newFixedThreadPool(
                threads,
                Thread.ofPlatform().daemon().name("kernel-compiler-", 0).factory());
        for (KernelSource source : needed) {
            Path file = file(source, architecture);
            begun.put(file, pool.submit(() -> compile(used, source, architecture, file)));
        }
        pool.shutdown(); // when it has done all
    }

    /** What all sources may include, read once. */
    private static final class Headers {
        private static final String HASH = hash(new TreeMap<>(KernelSource.headers()).toString());
    }

    /** What is kept in a file; empty where there is none, or it is broken. */
    private static Optional<byte[]> kept(Path file) {
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        try {
            byte[] content = Files.readAllBytes(file);
            int length = content.length - SUM_BYTES;
            if (length > 0 && ByteBuffer.wrap(content).getLong(length) == sum(content, length)) {
                return Optional.of(Arrays.copyOf(content, length));
            }
            LOG.log(System.Logger.Level.WARNING, "event=cubin-broken file=\"{0}\"", file);
        } catch (IOException unreadable) {
            LOG.log(System.Logger.Level.WARNING, "event=cubin-unreadable file=\"{0}\"", file);
        }
        return Optional.empty();
    }

    private static long sum(byte[] content, int length) {
        var sum = new CRC32();
        sum.update(content, 0, length);
        return sum.getValue();
    }

    private byte[] compile(KernelSource source, String architecture, Path file) {
        Future<byte[]> before = begun.remove(file);
        byte[] cubin;
        if (before == null) {
            Compiling used = compiler.get();
            say(architecture);
            cubin = compile(used, source, architecture, file);
        } else {
            cubin = result(before);
        }
        compiled++;
        fresh.add(file);
        return cubin;
    }

    private byte[] compile(Compiling used, KernelSource source, String architecture, Path file) {
        long start = System.nanoTime();
        byte[] cubin = used.compile(source, architecture);
        keep(file, cubin);
        LOG.log(
                System.Logger.Level.INFO,
                "event=kernels-compiled file={0} seconds={1}",
                source.file(),
                (System.nanoTime() - start) / 1_000_000_000);
        return cubin;
    }

    private static byte[] result(Future<byte[]> begun) {
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return begun.get();
                } catch (InterruptedException later) {
                    isInterrupted = true;
                }
            }
        } catch (ExecutionException failure) {
            throw failure.getCause() instanceof DeviceException known
                    ? known
                    : new DeviceException("the compiler of kernels failed: " + failure.getCause(), failure);
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void say(String architecture) {
        if (!saidCompiling) {
            saidCompiling = true;
            LOG.log(
                    System.Logger.Level.WARNING,
                    "kernels are compiled for " + architecture + ", once on this machine: this start takes longer,"
                            + " by about a minute of one processor's time, shared by all of them");
        }
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
    public Path file(KernelSource source, String architecture) {
        return files.computeIfAbsent(
                architecture + " " + source.name(), _ -> folder.resolve(name(source, architecture)));
    }

    /** The name of the file that has the machine code of a source, which tells all that this depends on. */
    static String name(KernelSource source, String architecture) {
        return source.file() + "." + architecture + "." + hash(Headers.HASH + source.text()) + ".cubin";
    }

    @Override
    public int compiled() {
        return compiled;
    }

    @Override
    public Optional<String> missing(String architecture) {
        for (KernelSource source : KernelSource.all()) {
            if (source.isForEveryModel()
                    && source.isFor(architecture)
                    && kept(file(source, architecture)).isEmpty()
                    && !isShipped(file(source, architecture))) {
                return withoutCompiler();
            }
        }
        return Optional.empty();
    }

    private Optional<String> withoutCompiler() {
        try {
            Compiling _ = compiler.get();
            return Optional.empty();
        } catch (DeviceException failure) {
            return Optional.of(String.valueOf(failure.getMessage()));
        }
    }

    /** Keeps machine code with its sum. */
    public void keep(Path file, byte[] cubin) {
        byte[] content = ByteBuffer.allocate(cubin.length + SUM_BYTES)
                .put(cubin)
                .putLong(sum(cubin, cubin.length))
                .array();
        try {
            Files.createDirectories(folder);
            Path part = Files.createTempFile(folder, "part", ".cubin");
            try {
                Files.write(part, content);
                move(part, file);
            } finally {
                Files.deleteIfExists(part);
            }
        } catch (IOException unwritable) {
            sayNotKept(unwritable);
        }
    }

    /** Once: what keeps one file from being written keeps the others from it, too. */
    private void sayNotKept(IOException reason) {
        if (!saidNotKept.getAndSet(true)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "machine code of kernels cannot be kept in " + folder + " (" + reason
                            + "): each start compiles it; set ROSELLE_CACHE to a folder that can be written");
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
