package roselle.cpu.machine;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.cpu.machine.Processor.Feature;
import roselle.tensor.DataType;

/** What machine code makes of a checkpoint's rows is, byte for byte, what Java makes of them. */
class PanelLoaderTest {
    private static final int ROWS = 2 * Panel.OUTPUTS;

    @ParameterizedTest
    @CsvSource({
        "Q8_0, F32, 32",
        "Q8_0, F32, 352",
        "BF16, F32, 33",
        "BF16, F32, 160",
        "F16, F32, 1",
        "F16, F32, 100",
        "F32, F32, 31",
        "F32, F32, 64",
        "Q4_0, F32, 32",
        "Q4_0, F32, 64",
        "Q4_0, F32, 352",
        "IQ4_NL, F32, 160",
        "Q4_K, F32, 256",
        "Q4_K, F32, 1280",
        "Q6_K, F32, 512"
    })
    void packsLikeItsTwin(DataType type, Compute compute, int columns) {
        for (InstructionSet set : InstructionSet.values()) {
            assumeTrue(Processor.probe().features().contains(Feature.valueOf(set.name())));
            packsLikeItsTwin(type, compute, columns, set);
        }
    }

    private static void packsLikeItsTwin(DataType type, Compute compute, int columns, InstructionSet set) {
        Panel panel = Panel.of(type, compute).orElseThrow();
        long rowBytes = type.rowBytes(columns);
        int last = 5; // rows of the second panel
        try (var arena = Arena.ofConfined();
                var kernels = TileKernels.open(compute, set).orElseThrow();
                var loader = new PanelLoader(kernels, panel, type, columns)) {
            MemorySegment source = arena.allocate(rowBytes * ROWS);
            byte[] bytes = new byte[(int) source.byteSize()];
            new Random(columns).nextBytes(bytes);
            MemorySegment.copy(bytes, 0, source, JAVA_BYTE, 0, bytes.length);
            MemorySegment want = arena.allocate(2 * panel.bytes(columns), 64);
            MemorySegment got = arena.allocate(2 * panel.bytes(columns), 64);
            var packer = new PanelPacker(panel, type, columns);
            for (int p = 0; p < 2; p++) {
                int rows = p == 0 ? Panel.OUTPUTS : last;
                packer.pack(source, (long) p * Panel.OUTPUTS * rowBytes, rows, want, p * panel.bytes(columns));
                loader.pack(source, (long) p * Panel.OUTPUTS * rowBytes, rows, got, p * panel.bytes(columns));
            }
            assertThat(got.mismatch(want)).isEqualTo(-1);
        }
    }
}
