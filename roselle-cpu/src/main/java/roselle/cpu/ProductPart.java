package roselle.cpu;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import org.jspecify.annotations.Nullable;
import roselle.backend.Epilogue;
import roselle.backend.Rows;

/** What a thread owns of products: its buffers, and the way from sums to the output. */
final class ProductPart implements Product.Sink {
    final Product product = new Product();
    final MachineProduct machine;
    private final float[] numbers = new float[MachineProduct.MOST_OUTPUTS + Lanes.COUNT];
    private final float[] before = new float[Math.max(Product.CHUNK, MachineProduct.MOST_OUTPUTS)];
    private @Nullable Rows output;
    private Epilogue epilogue = Epilogue.PLAIN;
    int firstRow;
    int weightRow;
    int @Nullable [] rowTable;

    ProductPart(MachineProduct machine) {
        this.machine = machine;
    }

    void prepare(Rows newOutput, Epilogue newEpilogue) {
        output = newOutput;
        epilogue = newEpilogue;
    }

    @Override
    public void store(int row, int fromWeightRow, int count, float[] sums, int at) {
        Rows to = output;
        if (to == null) {
            return;
        }
        long bytes = place(to, row, fromWeightRow);
        MemorySegment target = CpuBuffer.of(to);
        Epilogues.apply(epilogue, sums, at, count, fromWeightRow);
        if (epilogue.accumulates()) {
            MemorySegment.copy(target, JAVA_FLOAT, bytes, before, 0, count);
            for (int i = 0; i < count; i++) {
                sums[at + i] = before[i] + sums[at + i];
            }
        }
        MemorySegment.copy(sums, at, target, JAVA_FLOAT, bytes, count);
    }

    private long place(Rows to, int row, int fromWeightRow) {
        int[] table = rowTable;
        int outputRow = table == null ? firstRow + row : table[firstRow + row];
        return (CpuBuffer.row(to, outputRow) + fromWeightRow - weightRow) * Float.BYTES;
    }

    @Override
    public void store(int row, int fromWeightRow, int count, MemorySegment sums, long at) {
        Rows to = output;
        if (to == null) {
            return;
        }
        if (!epilogue.isSumAlone()) {
            MemorySegment.copy(sums, JAVA_FLOAT, at, numbers, 0, count);
            store(row, fromWeightRow, count, numbers, 0);
        } else if (epilogue.accumulates()) {
            add(sums, at, CpuBuffer.of(to), place(to, row, fromWeightRow), count);
        } else {
            long bytes = (long) count * Float.BYTES;
            MemorySegment.copy(sums, at, CpuBuffer.of(to), place(to, row, fromWeightRow), bytes);
        }
    }

    private static void add(MemorySegment sums, long at, MemorySegment target, long to, int count) {
        int i = 0;
        for (; i <= count - Lanes.COUNT; i += Lanes.COUNT) {
            long bytes = (long) i * Float.BYTES;
            FloatVector more = FloatVector.fromMemorySegment(Lanes.FLOATS, sums, at + bytes, Lanes.ORDER);
            FloatVector.fromMemorySegment(Lanes.FLOATS, target, to + bytes, Lanes.ORDER)
                    .add(more)
                    .intoMemorySegment(target, to + bytes, Lanes.ORDER);
        }
        for (; i < count; i++) {
            long bytes = (long) i * Float.BYTES;
            target.set(JAVA_FLOAT, to + bytes, target.get(JAVA_FLOAT, to + bytes) + sums.get(JAVA_FLOAT, at + bytes));
        }
    }
}
