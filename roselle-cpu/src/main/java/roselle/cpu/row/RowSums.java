package roselle.cpu.row;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.util.Objects.requireNonNull;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Routing;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.vector.VectorFunctions;

/** Sums of rows into other rows, the threads' share of rows at a time; a scalar twin holds it to its bits. */
public final class RowSums implements RowOperation {
    private @Nullable Rows input;
    private @Nullable Rows output;
    private @Nullable Rows gate;
    private @Nullable Routing routing;
    private float scale;
    private boolean adds;

    /** {@code output[r] += sigmoid(gate[r][0]) * scale * input[r]}. */
    public RowSums gated(Rows from, Rows gates, float factor, Rows to) {
        adds = true;
        return prepare(from, factor, to, gates, null);
    }

    /** {@code output[r] += scale * sum of weight * input}, over a row's experts in the order of choice, or that sum alone. */
    public RowSums experts(Rows from, Routing chosen, float factor, boolean keeps, Rows to) {
        adds = keeps;
        return prepare(from, factor, to, null, chosen);
    }

    private RowSums prepare(Rows from, float factor, Rows to, @Nullable Rows gates, @Nullable Routing chosen) {
        input = from;
        scale = factor;
        output = to;
        gate = gates;
        routing = chosen;
        return this;
    }

    @Override
    public void run(Scratch own, int first, int end) {
        Rows from = requireNonNull(input, "input");
        Rows to = requireNonNull(output, "output");
        Rows gates = gate;
        Routing chosen = routing;
        int columns = to.columns();
        for (int r = first; r < end; r++) {
            float factor = scale;
            if (chosen == null) {
                copy(from, r, own.y(), columns);
            } else {
                weigh(from, chosen, r, own, columns);
            }
            if (gates != null) {
                factor *= VectorFunctions.sigmoid(CpuBuffer.number(CpuBuffer.of(gates), CpuBuffer.row(gates, r)));
            }
            if (adds) {
                copy(to, r, own.x(), columns);
            } else {
                java.util.Arrays.fill(own.x(), 0, columns, 0f);
            }
            add(own.x(), factor, own.y(), columns);
            long at = CpuBuffer.row(to, r) * Float.BYTES;
            MemorySegment.copy(own.x(), 0, CpuBuffer.of(to), JAVA_FLOAT, at, columns);
        }
    }

    /** Leaves the weighted sum of a row's experts in {@code y}. */
    private static void weigh(Rows from, Routing routing, int row, Scratch own, int columns) {
        MemorySegment weights = CpuBuffer.of(routing.weights());
        float[] sum = own.y();
        java.util.Arrays.fill(sum, 0, columns, 0f);
        for (int choice = row * routing.chosen(); choice < (row + 1) * routing.chosen(); choice++) {
            copy(from, choice, own.x(), columns);
            add(sum, CpuBuffer.number(weights, choice), own.x(), columns);
        }
    }

    /** A product and a sum for each number, never fused; the compiler makes vectors of it. */
    private static void add(float[] sum, float factor, float[] numbers, int count) {
        for (int i = 0; i < count; i++) {
            sum[i] += factor * numbers[i];
        }
    }

    private static void copy(Rows rows, int row, float[] target, int columns) {
        MemorySegment.copy(CpuBuffer.of(rows), JAVA_FLOAT, CpuBuffer.row(rows, row) * Float.BYTES, target, 0, columns);
    }
}
