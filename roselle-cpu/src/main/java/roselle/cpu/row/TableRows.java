package roselle.cpu.row;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.util.Objects.requireNonNull;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuWeight;

/** Rows of a table, chosen by token or by position, the threads' share of rows at a time; a scalar twin holds it to its bits. */
public final class TableRows implements RowOperation {
    private @Nullable CpuWeight table;
    private int[] index = new int[0];
    private float scale;
    private boolean accumulates;
    private @Nullable Rows output;

    /** {@code output[r] = scale * table[index[r]]}, or added to what is there. */
    public TableRows of(CpuWeight weight, int[] rowIndex, float factor, boolean adds, Rows to) {
        table = weight;
        index = rowIndex;
        scale = factor;
        accumulates = adds;
        output = to;
        return this;
    }

    @Override
    public void run(Scratch own, int first, int end) {
        CpuWeight from = requireNonNull(table, "table");
        Rows to = requireNonNull(output, "output");
        int columns = from.columns();
        MemorySegment target = CpuBuffer.of(to);
        for (int r = first; r < end; r++) {
            long at = CpuBuffer.row(to, r) * Float.BYTES;
            from.dequantizeRow(index[r] < from.rows() ? index[r] : 0, own.x());
            if (accumulates) {
                MemorySegment.copy(target, JAVA_FLOAT, at, own.y(), 0, columns);
                add(own.x(), scale, own.y(), columns);
            } else {
                multiply(own.x(), scale, columns);
            }
            MemorySegment.copy(own.x(), 0, target, JAVA_FLOAT, at, columns);
        }
    }

    private static void add(float[] numbers, float scale, float[] before, int count) {
        for (int i = 0; i < count; i++) {
            numbers[i] = before[i] + scale * numbers[i];
        }
    }

    private static void multiply(float[] numbers, float scale, int count) {
        for (int i = 0; i < count; i++) {
            numbers[i] = 0f + scale * numbers[i];
        }
    }
}
