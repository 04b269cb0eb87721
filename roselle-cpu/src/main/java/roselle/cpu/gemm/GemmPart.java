package roselle.cpu.gemm;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.vector.Lanes;

/** What a thread owns of products: its buffers, and the way from sums to the output. */
public final class GemmPart implements VectorGemm.Sink {
    private static final float[] FORBIDDEN = new float[1024];

    static {
        Arrays.fill(FORBIDDEN, Float.NEGATIVE_INFINITY);
    }

    final VectorGemm product = new VectorGemm();
    final MachineGemm machine;
    private final float[] numbers = new float[MachineGemm.MAX_OUTPUTS + Lanes.COUNT];
    private final float[] before = new float[Math.max(VectorGemm.CHUNK, MachineGemm.MAX_OUTPUTS)];
    private final GemmCall call;
    private int firstRow;
    private int weightRow;

    public GemmPart(MachineGemm machine, GemmCall call) {
        this.machine = machine;
        this.call = call;
    }

    /** Has outputs stored from this row of the call on, and from the column on to which this row of the weight belongs. */
    void place(int row, int rowOfWeight) {
        firstRow = row;
        weightRow = rowOfWeight;
    }

    @Override
    public void store(int row, int fromWeightRow, int count, float[] sums, int at) {
        Rows to = call.output();
        Epilogue epilogue = call.epilogue();
        long bytes = at(to, row, fromWeightRow);
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

    /** Stores −∞ in the row that was placed, for outputs {@code first} until {@code end}. */
    void forbid(int first, int end) {
        Rows to = call.output();
        MemorySegment target = CpuBuffer.of(to);
        for (int output = first; output < end; output += FORBIDDEN.length) {
            int count = Math.min(FORBIDDEN.length, end - output);
            MemorySegment.copy(FORBIDDEN, 0, target, JAVA_FLOAT, at(to, 0, output), count);
        }
    }

    private long at(Rows to, int row, int fromWeightRow) {
        return (CpuBuffer.row(to, call.outputRow(firstRow + row)) + fromWeightRow - weightRow) * Float.BYTES;
    }

    @Override
    public void store(int row, int fromWeightRow, int count, MemorySegment sums, long at) {
        Rows to = call.output();
        Epilogue epilogue = call.epilogue();
        if (!epilogue.isSumAlone()) {
            long target = CpuBuffer.of(to).address() + at(to, row, fromWeightRow);
            if (!machine.ends(epilogue, sums.address() + at, fromWeightRow, target, count)) {
                MemorySegment.copy(sums, JAVA_FLOAT, at, numbers, 0, count);
                store(row, fromWeightRow, count, numbers, 0);
            }
        } else if (epilogue.accumulates()) {
            long target = at(to, row, fromWeightRow);
            if (!machine.adds(sums.address() + at, CpuBuffer.of(to).address() + target, count)) {
                add(sums, at, CpuBuffer.of(to), target, count);
            }
        } else {
            long bytes = (long) count * Float.BYTES;
            MemorySegment.copy(sums, at, CpuBuffer.of(to), at(to, row, fromWeightRow), bytes);
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
