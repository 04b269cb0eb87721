package roselle.cpu.machine.panel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.GuardedMemory;
import roselle.cpu.machine.InstructionSet;
import roselle.cpu.machine.Processor;
import roselle.cpu.machine.Processor.Feature;
import roselle.tensor.DataType;

/** What machine code makes of a checkpoint's rows is, byte for byte, what Java makes of them, between guard pages. */
class PanelLoaderTest {
    private static final int SPARE = 64;

    @ParameterizedTest
    @CsvSource({
        "Q8_0, F32, 32",
        "Q8_0, F32, 64",
        "Q8_0, F32, 352",
        "BF16, F32, 33",
        "BF16, F32, 160",
        "BF16, BF16, 96",
        "F16, F32, 1",
        "F16, F32, 100",
        "F16, BF16, 31",
        "F16, BF16, 96",
        "F32, F32, 31",
        "F32, F32, 64",
        "F32, BF16, 33",
        "F32, SPLIT, 33",
        "F32, SPLIT, 160",
        "Q4_0, F32, 32",
        "Q4_0, F32, 64",
        "Q4_0, F32, 352",
        "IQ4_NL, F32, 160",
        "Q4_1, F32, 32",
        "Q4_1, F32, 352",
        "Q5_0, F32, 32",
        "Q5_0, F32, 352",
        "Q5_1, F32, 32",
        "Q5_1, F32, 352",
        "Q4_K, F32, 256",
        "Q4_K, F32, 1280",
        "Q6_K, F32, 256",
        "Q6_K, F32, 512",
        "Q6_K, F32, 1280"
    })
    void packsLikeItsTwin(DataType type, Compute compute, int columns) {
        var features = Processor.probe().features();
        assumeTrue(features.contains(compute == Compute.F32 ? Feature.AVX2 : Feature.BF16));
        if (compute == Compute.F32) {
            packsLikeItsTwin(type, compute, columns, InstructionSet.AVX2);
        }
        if (features.contains(Feature.AVX512)) {
            packsLikeItsTwin(type, compute, columns, InstructionSet.AVX512);
        }
    }

    private static void packsLikeItsTwin(DataType type, Compute compute, int columns, InstructionSet set) {
        Panel panel = Panel.of(type, compute).orElseThrow();
        long rowBytes = type.rowBytes(columns);
        long panelBytes = panel.bytes(columns);
        var guarded = new ArrayList<GuardedMemory>();
        try (var arena = Arena.ofConfined();
                var targets = new GuardedMemory(panelBytes);
                var kernels = TileKernels.open(compute, set).orElseThrow();
                var loader = new PanelLoader(
                        kernels, panel, type, columns, (owner, bytes, alignment) -> between(guarded, bytes))) {
            MemorySegment source = arena.allocate(rowBytes * Panel.OUTPUTS);
            byte[] bytes = new byte[(int) source.byteSize()];
            new Random(columns).nextBytes(bytes);
            MemorySegment.copy(bytes, 0, source, JAVA_BYTE, 0, bytes.length);
            var packer = new PanelPacker(panel, type, columns);
            for (int rows : List.of(Panel.OUTPUTS, 5, 1)) {
                MemorySegment want = arena.allocate(panelBytes, 64);
                packer.pack(source, 0, rows, want, 0);
                for (MemorySegment got : List.of(targets.upToTheEnd(panelBytes), targets.fromTheStart(panelBytes))) {
                    got.fill((byte) 0);
                    loader.pack(source, 0, rows, got, 0);
                    assertThat(got.mismatch(want))
                            .as("%s rows by %s", rows, set)
                            .isEqualTo(-1);
                }
            }
        } finally {
            guarded.forEach(GuardedMemory::close);
        }
    }

    /** Memory up to a guard, that a loader takes for its rows; it may not read beyond. */
    private static MemorySegment between(List<GuardedMemory> guarded, long bytes) {
        var memory = new GuardedMemory(Math.max(SPARE, bytes));
        guarded.add(memory);
        return memory.upToTheEnd(bytes);
    }
}
