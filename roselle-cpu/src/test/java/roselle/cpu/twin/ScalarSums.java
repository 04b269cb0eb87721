package roselle.cpu.twin;

import java.lang.foreign.MemorySegment;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Routing;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.row.LogitScaling;
import roselle.cpu.row.RowSums;
import roselle.cpu.vector.VectorFunctions;

/** Sums of rows into other rows, and what happens to logits: the scalar twin of {@link RowSums} and {@link LogitScaling}. */
public final class ScalarSums {
    private ScalarSums() {}

    /** {@code output[r] += scale * sum of weight * input}, over a row's experts in the order of choice. */
    public static void scalarExperts(Rows input, Routing routing, float scale, Rows output, int first, int end) {
        MemorySegment source = CpuBuffer.of(input);
        MemorySegment weights = CpuBuffer.of(routing.weights());
        int chosen = routing.chosen();
        for (int r = first; r < end; r++) {
            for (int i = 0; i < output.columns(); i++) {
                float sum = 0;
                for (int j = r * chosen; j < (r + 1) * chosen; j++) {
                    sum += CpuBuffer.number(weights, j) * CpuBuffer.number(source, CpuBuffer.row(input, j) + i);
                }
                add(output, r, i, scale * sum);
            }
        }
    }

    /** {@code output[r] += sigmoid(gate[r][0]) * scale * input[r]}. */
    public static void scalarGated(Rows input, Rows gate, float scale, Rows output, int first, int end) {
        for (int r = first; r < end; r++) {
            float factor =
                    VectorFunctions.sigmoid(CpuBuffer.number(CpuBuffer.of(gate), CpuBuffer.row(gate, r))) * scale;
            long from = CpuBuffer.row(input, r);
            for (int i = 0; i < output.columns(); i++) {
                add(output, r, i, factor * CpuBuffer.number(CpuBuffer.of(input), from + i));
            }
        }
    }

    /** {@code x = cap(scale * x)} in place. */
    public static void scalarLogits(Rows logits, float scale, float softCap, int first, int end) {
        MemorySegment segment = CpuBuffer.of(logits);
        for (int r = first; r < end; r++) {
            long at = CpuBuffer.row(logits, r);
            for (int i = 0; i < logits.columns(); i++) {
                float x = CpuBuffer.number(segment, at + i);
                CpuBuffer.number(segment, at + i, VectorFunctions.capped(x, scale, softCap));
            }
        }
    }

    private static void add(Rows output, int row, int column, float value) {
        long at = CpuBuffer.row(output, row) + column;
        MemorySegment segment = CpuBuffer.of(output);
        CpuBuffer.number(segment, at, CpuBuffer.number(segment, at) + value);
    }
}
