package roselle.cpu.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.backend.memory.SpareMemory;
import roselle.cpu.CpuDevice;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.panel.Panel;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.thread.WorkerPool;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Panels in memory that another model had are, byte by byte, those in new memory. */
class ReusedPanelsTest {
    private static final int ROWS = 2055; // the last panel is not full

    static Stream<DataType> types() {
        return Arrays.stream(DataType.values())
                .filter(type -> Stream.of(Compute.values())
                        .anyMatch(compute -> Panel.of(type, compute).isPresent()));
    }

    private static Stream<CpuPath> paths() {
        List<CpuPath> all = CpuDevice.paths(); // the slowest first: of two kinds of code
        return all.stream()
                .filter(path -> path == CpuPath.AVX2 || path == all.getLast())
                .filter(path -> path != CpuPath.VECTOR);
    }

    private static StoredMatrix matrix(Arena arena, DataType type, int columns) {
        long bytes = ROWS * type.rowBytes(columns);
        MemorySegment data = arena.allocate(bytes, 64);
        var random = new byte[Math.toIntExact(bytes)];
        new Random(7).nextBytes(random);
        MemorySegment.copy(MemorySegment.ofArray(random), 0, data, 0, bytes);
        return StoredMatrix.of(new Tensor("w", type, Shape.of(ROWS, columns), data));
    }

    private static MachineCode sharing(CpuPath path, SpareMemory spare) {
        MachineCode code = MachineCode.open(CpuOptions.of(2).with(path));
        code.memory().share(spare);
        return code;
    }

    private static PackedBlock packed(MachineCode code, WorkerPool pool, StoredMatrix matrix) {
        List<StoredMatrix> blocks = List.of(matrix);
        var weight = new CpuWeight("w", 1, blocks, code.compute(blocks));
        assertThat(weight.pack(pool, code)).isTrue();
        return weight.packed(0);
    }

    /** Whole panels, and where the type has any, such as have columns that nobody writes. */
    @ParameterizedTest
    @MethodSource("types")
    void areWhatTheyAreInNewMemory(DataType type) {
        int[] columns =
                type.blockElements() == 1 ? new int[] {2048, 2050} : new int[] {2048, 2048 + type.blockElements()};
        for (CpuPath path : paths().toList()) {
            for (int count : columns) {
                compare(path, type, count);
            }
        }
    }

    private static void compare(CpuPath path, DataType type, int columns) {
        var spare = new SpareMemory();
        try (Arena arena = Arena.ofShared();
                var pool = new WorkerPool(2);
                MachineCode fresh = sharing(path, new SpareMemory())) {
            StoredMatrix matrix = matrix(arena, type, columns);
            if (!fresh.takes(List.of(matrix))) {
                return;
            }
            MachineCode before = sharing(path, spare);
            PackedBlock first = packed(before, pool, matrix);
            first.memory().fill((byte) 0xFF);
            spare.keepFrom(before::close);
            long left = spare.bytes();
            assertThat(left).isPositive();
            try (MachineCode again = sharing(path, spare)) {
                PackedBlock reused = packed(again, pool, matrix);
                assertThat(spare.bytes()).as("left of what there was").isLessThan(left);
                long panels = (long) Panel.count(ROWS) * reused.panelBytes();
                MemorySegment expected = packed(fresh, pool, matrix).memory().asSlice(0, panels);
                assertThat(reused.memory().asSlice(0, panels).mismatch(expected))
                        .as("the first byte that differs, %s, %s columns, %s", type, columns, path)
                        .isEqualTo(-1);
            }
        } finally {
            spare.drop();
        }
    }

    @Test
    void aPanelWithColumnsOfNobodyIsNotWrittenWhole() {
        assumeTrue(paths().findAny().isPresent(), "no machine code here");
        assertThat(Panel.BFLOAT16.isWrittenWhole(64)).isTrue();
        assertThat(Panel.BFLOAT16.isWrittenWhole(66)).isFalse();
    }
}
