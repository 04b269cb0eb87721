package roselle.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.DeviceException;
import roselle.cuda.FakeKernels;
import roselle.cuda.spi.ShippedCubins;

/** Machine code is compiled once, and what is kept of it is used only as it was written. */
class CubinCacheTest {
    private static final KernelSource SOURCE = KernelSource.SAMPLE;
    private static final String ARCHITECTURE = "sm_80";

    private final AtomicInteger compilations = new AtomicInteger();

    private CubinCache cache(Path folder) {
        return new CubinCache(folder, List.of(), () -> (source, architecture) -> {
            compilations.incrementAndGet();
            return FakeKernels.cubin(source, architecture);
        });
    }

    private static byte[] cubin(CubinCache cache) {
        return cache.cubin(SOURCE, ARCHITECTURE);
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    @Test
    void aSourceIsCompiledOnceForEachArchitecture(@TempDir Path folder) throws IOException {
        byte[] code = cubin(cache(folder));
        assertThat(code).isEqualTo(FakeKernels.cubin(SOURCE, ARCHITECTURE));
        CubinCache later = cache(folder);
        assertThat(cubin(later)).isEqualTo(code);
        assertThat(later.compiled()).isZero();
        assertThat(later.cubin(SOURCE, "sm_90a")).isEqualTo(FakeKernels.cubin(SOURCE, "sm_90a"));
        assertThat(compilations).hasValue(2);
        assertThat(files(folder)).hasSize(2);
    }

    @Test
    void aFileThatWasCutOffAtAnyByteOrHasAFlippedBitIsCompiledAnew(@TempDir Path folder) throws IOException {
        Path file = cache(folder).file(SOURCE, ARCHITECTURE);
        byte[] code = cubin(cache(folder));
        byte[] whole = Files.readAllBytes(file);
        int expected = 1;
        for (int length = 0; length < whole.length; length++) {
            Files.write(file, Arrays.copyOf(whole, length));
            assertThat(cubin(cache(folder))).as("%d bytes kept", length).isEqualTo(code);
            assertThat(compilations).as("%d bytes kept", length).hasValue(++expected);
        }
        for (int bit = 0; bit < 8 * whole.length; bit++) {
            byte[] flipped = whole.clone();
            flipped[bit / 8] ^= (byte) (1 << bit % 8);
            Files.write(file, flipped);
            assertThat(cubin(cache(folder))).as("bit %d flipped", bit).isEqualTo(code);
            assertThat(compilations).as("bit %d flipped", bit).hasValue(++expected);
        }
        assertThat(Files.readAllBytes(file)).isEqualTo(whole);
        assertThat(files(folder)).containsExactly(file);
    }

    @Test
    void whatTheDriverRefusesIsCompiledAnewOnce(@TempDir Path folder) {
        byte[] code = cubin(cache(folder));
        CubinCache later = cache(folder);
        cubin(later);
        assertThat(later.anew(SOURCE, ARCHITECTURE)).hasValue(code);
        assertThat(later.anew(SOURCE, ARCHITECTURE))
                .as("what this process compiled is no better when compiled again")
                .isEmpty();
        assertThat(compilations).hasValue(2);
    }

    @Test
    void kernelsAreCompiledWhereNothingCanBeKept(@TempDir Path folder) throws IOException {
        Path occupied = Files.writeString(folder.resolve("cubins"), "a file in the folder's place");
        assertThat(cubin(cache(occupied))).isEqualTo(FakeKernels.cubin(SOURCE, ARCHITECTURE));
        assertThat(cubin(cache(occupied))).isEqualTo(FakeKernels.cubin(SOURCE, ARCHITECTURE));
        assertThat(compilations).hasValue(2);
        assertThat(occupied).hasContent("a file in the folder's place");
    }

    @Test
    void processesThatStartTogetherAllGetWholeMachineCode(@TempDir Path folder) throws Exception {
        var starts = new ArrayList<Callable<byte[]>>();
        for (int i = 0; i < 64; i++) {
            CubinCache cache = cache(folder);
            starts.add(() -> cubin(cache));
        }
        try (var threads = Executors.newFixedThreadPool(8)) {
            for (Future<byte[]> code : threads.invokeAll(starts)) {
                assertThat(code.get()).isEqualTo(FakeKernels.cubin(SOURCE, ARCHITECTURE));
            }
        }
        assertThat(files(folder)).containsExactly(cache(folder).file(SOURCE, ARCHITECTURE));
    }

    private static CubinCache withoutCompiler(Path folder, ShippedCubins shipped) {
        return new CubinCache(folder, List.of(shipped), () -> {
            throw new DeviceException("libnvrtc.so.13 was not found");
        });
    }

    @Test
    void whatCameWithTheProgramNeedsNoCompiler(@TempDir Path folder) throws IOException, InterruptedException {
        var build = new CubinBuild(folder.resolve("built"), FakeKernels::cubin);
        int files = build.make(CubinBuild.ARCHITECTURES, KernelSource.all());
        assertThat(build.make(CubinBuild.ARCHITECTURES, KernelSource.all()))
                .as("compiled again")
                .isZero();
        assertThat(files(folder.resolve("built"))).hasSize(files);
        for (String architecture : CubinBuild.ARCHITECTURES) {
            CubinCache cache = withoutCompiler(folder.resolve("cubins"), new Built(folder.resolve("built")));
            assertThat(cache.missing(architecture)).isEmpty();
            cache.begin(architecture);
            for (KernelSource source : KernelSource.all()) {
                if (source.isFor(architecture)) {
                    assertThat(cache.cubin(source, architecture)).isEqualTo(FakeKernels.cubin(source, architecture));
                }
            }
            assertThat(cache.compiled()).isZero();
        }
        assertThat(folder.resolve("cubins")).doesNotExist();
    }

    @Test
    void theBuildOfMachineCodeDeletesThatOfNoSource(@TempDir Path folder) throws IOException, InterruptedException {
        Files.writeString(folder.resolve("sample.cu.sm_80.0123.cubin"), "of a source that has changed");
        assertThat(new CubinBuild(folder, FakeKernels::cubin).make(List.of(ARCHITECTURE), List.of(SOURCE)))
                .isEqualTo(1);
        assertThat(files(folder)).containsExactly(folder.resolve(CubinCache.name(SOURCE, ARCHITECTURE)));
    }

    @Test
    void shippedMachineCodeThatTheDriverRefusesIsCompiledOnceForAllStarts(@TempDir Path folder)
            throws IOException, InterruptedException {
        new CubinBuild(folder.resolve("built"), (_, _) -> new byte[] {1}).make(List.of(ARCHITECTURE), List.of(SOURCE));
        var shipped = new Built(folder.resolve("built"));
        var cache = new CubinCache(folder.resolve("cubins"), List.of(shipped), () -> FakeKernels::cubin);
        assertThat(cubin(cache)).containsExactly(1);
        assertThat(cache.anew(SOURCE, ARCHITECTURE)).hasValue(FakeKernels.cubin(SOURCE, ARCHITECTURE));
        assertThat(cubin(withoutCompiler(folder.resolve("cubins"), shipped)))
                .isEqualTo(FakeKernels.cubin(SOURCE, ARCHITECTURE));
    }

    @Test
    @Timeout(60)
    void whatEveryModelNeedsIsCompiledOnAllProcessorsAtOnce(@TempDir Path folder) {
        int processors = Runtime.getRuntime().availableProcessors();
        var atOnce = new CountDownLatch(Math.min(processors, 2)); // which a thread alone would wait for in vain
        var cache = new CubinCache(folder, List.of(), () -> (source, architecture) -> {
            join(atOnce);
            compilations.incrementAndGet();
            return FakeKernels.cubin(source, architecture);
        });
        List<KernelSource> needed = ofEveryModel();
        cache.begin(ARCHITECTURE);
        for (KernelSource source : needed) {
            assertThat(cache.cubin(source, ARCHITECTURE)).isEqualTo(FakeKernels.cubin(source, ARCHITECTURE));
        }
        assertThat(compilations).hasValue(needed.size());
        assertThat(cache.compiled()).isEqualTo(needed.size());
        cache.begin(ARCHITECTURE);
        assertThat(compilations).as("begun again").hasValue(needed.size());
    }

    private static List<KernelSource> ofEveryModel() {
        return KernelSource.all().stream()
                .filter(source -> source.isForEveryModel() && source.isFor(ARCHITECTURE))
                .toList();
    }

    private static void join(CountDownLatch all) {
        all.countDown();
        try {
            all.await();
        } catch (InterruptedException failure) {
            throw new AssertionError(failure);
        }
    }

    @Test
    void aSourceThatDoesNotCompileFailsWhoAsksForIt(@TempDir Path folder) {
        var cache = new CubinCache(folder, List.of(), () -> (source, architecture) -> {
            if (source.equals(SOURCE)) {
                throw new DeviceException("sample.cu does not compile");
            }
            return FakeKernels.cubin(source, architecture);
        });
        cache.begin(ARCHITECTURE);
        for (KernelSource source : ofEveryModel()) { // all, so that none is still compiled when the folder is deleted
            if (!source.equals(SOURCE)) {
                assertThat(cache.cubin(source, ARCHITECTURE)).isEqualTo(FakeKernels.cubin(source, ARCHITECTURE));
            }
        }
        assertThatThrownBy(() -> cubin(cache))
                .isInstanceOf(DeviceException.class)
                .hasMessage("sample.cu does not compile");
    }

    /** A folder of files in the place of the artifact's resources. */
    private record Built(Path folder) implements ShippedCubins {
        @Override
        public boolean has(String name) {
            return Files.exists(folder.resolve(name));
        }

        @Override
        public Optional<byte[]> read(String name) throws IOException {
            return has(name) ? Optional.of(Files.readAllBytes(folder.resolve(name))) : Optional.empty();
        }
    }
}
