package roselle.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.cuda.FakeKernels;

/** Machine code is compiled once, and what is kept of it is used only as it was written. */
class CubinCacheTest {
    private static final KernelSource SOURCE = KernelSource.SAMPLE;
    private static final String ARCHITECTURE = "sm_80";

    private final AtomicInteger compilations = new AtomicInteger();

    private CubinCache cache(Path folder) {
        return new CubinCache(folder, () -> (source, architecture) -> {
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
}
