package roselle.cpu.twin;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Norm;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.vector.Lanes;

/** RMS and layer normalisation of rows, in scalars with the order of sums that vectors have. */
public final class ScalarNormalize {
    private ScalarNormalize() {}

    /** {@code output[r] = norm(input[r])}; both may be the same. */
    public static void scalar(Rows input, Norm norm, Rows output, int first, int end) {
        for (int r = first; r < end; r++) {
            long from = CpuBuffer.row(input, r);
            long to = CpuBuffer.row(output, r);
            part(CpuBuffer.of(input), from, norm, 0, CpuBuffer.of(output), to, input.columns());
        }
    }

    /** {@code output[r] += scale * norm(input[r])}. */
    public static void scalarAdd(Rows input, Norm norm, float scale, Rows output, int first, int end) {
        MemorySegment source = CpuBuffer.of(input);
        MemorySegment target = CpuBuffer.of(output);
        for (int r = first; r < end; r++) {
            long from = CpuBuffer.row(input, r);
            long to = CpuBuffer.row(output, r);
            float mean = mean(source, from, norm, input.columns());
            float factor = factor(source, from, norm, mean, input.columns());
            for (int i = 0; i < input.columns(); i++) {
                float y = one(CpuBuffer.number(source, from + i), mean, factor, norm, i);
                CpuBuffer.number(target, to + i, CpuBuffer.number(target, to + i) + scale * y);
            }
        }
    }

    /** Normalises {@code count} numbers with the part of the norm's weight that begins at {@code weightFrom}. */
    public static void part(
            MemorySegment source, long from, Norm norm, int weightFrom, MemorySegment target, long to, int count) {
        float mean = mean(source, from, norm, count);
        float factor = factor(source, from, norm, mean, count);
        for (int i = 0; i < count; i++) {
            float x = CpuBuffer.number(source, from + i);
            CpuBuffer.number(target, to + i, one(x, mean, factor, norm, weightFrom + i));
        }
    }

    private static float mean(MemorySegment source, long from, Norm norm, int count) {
        if (norm.kind() == Norm.Kind.RMS) {
            return 0f;
        }
        var lanes = new float[Lanes.COUNT];
        for (int i = 0; i < count; i++) {
            lanes[i % Lanes.COUNT] += CpuBuffer.number(source, from + i);
        }
        return ScalarLanes.sum(lanes) / count;
    }

    private static float factor(MemorySegment source, long from, Norm norm, float mean, int count) {
        var lanes = new float[Lanes.COUNT];
        for (int i = 0; i < count; i++) {
            float x = CpuBuffer.number(source, from + i) - mean;
            lanes[i % Lanes.COUNT] = Math.fma(x, x, lanes[i % Lanes.COUNT]);
        }
        return (float) (1 / Math.sqrt(ScalarLanes.sum(lanes) / count + norm.epsilon()));
    }

    private static float one(float x, float mean, float factor, Norm norm, int index) {
        float weight = CpuBuffer.number(CpuBuffer.of(norm.weight()), index) + norm.weightOffset();
        return (x - mean) * factor * weight + bias(norm.bias(), index);
    }

    private static float bias(@Nullable Buffer bias, int index) {
        return bias == null ? 0f : CpuBuffer.number(CpuBuffer.of(bias), index);
    }
}
