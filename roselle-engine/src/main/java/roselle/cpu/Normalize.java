package roselle.cpu;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.Buffer;
import roselle.backend.Norm;
import roselle.backend.Rows;

/** RMS and layer normalisation of rows, and of the heads within a row. */
final class Normalize {
    private Normalize() {}

    /** {@code output[r] = norm(input[r])}; both may be the same. */
    static void scalar(Rows input, Norm norm, Rows output, int first, int end) {
        for (int r = first; r < end; r++) {
            long from = CpuBuffer.row(input, r);
            long to = CpuBuffer.row(output, r);
            part(CpuBuffer.of(input), from, norm, 0, CpuBuffer.of(output), to, input.columns());
        }
    }

    /** {@code output[r] += scale * norm(input[r])}. */
    static void scalarAdd(Rows input, Norm norm, float scale, Rows output, int first, int end) {
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
    static void part(
            MemorySegment source, long from, Norm norm, int weightFrom, MemorySegment target, long to, int count) {
        float mean = mean(source, from, norm, count);
        float factor = factor(source, from, norm, mean, count);
        for (int i = 0; i < count; i++) {
            float x = CpuBuffer.number(source, from + i);
            CpuBuffer.number(target, to + i, one(x, mean, factor, norm, weightFrom + i));
        }
    }

    /** Where head {@code head} finds its part of a norm's weight. */
    static int weightFrom(Norm norm, int head, int size) {
        return norm.weight().elements() == size ? 0 : head * size;
    }

    private static float mean(MemorySegment source, long from, Norm norm, int count) {
        if (norm.kind() == Norm.Kind.RMS) {
            return 0f;
        }
        float sum = 0;
        for (int i = 0; i < count; i++) {
            sum += CpuBuffer.number(source, from + i);
        }
        return sum / count;
    }

    private static float factor(MemorySegment source, long from, Norm norm, float mean, int count) {
        float squares = 0;
        for (int i = 0; i < count; i++) {
            float x = CpuBuffer.number(source, from + i) - mean;
            squares += x * x;
        }
        return (float) (1 / Math.sqrt(squares / count + norm.epsilon()));
    }

    private static float one(float x, float mean, float factor, Norm norm, int index) {
        float weight = CpuBuffer.number(CpuBuffer.of(norm.weight()), index) + norm.weightOffset();
        return (x - mean) * factor * weight + bias(norm.bias(), index);
    }

    private static float bias(@Nullable Buffer bias, int index) {
        return bias == null ? 0f : CpuBuffer.number(CpuBuffer.of(bias), index);
    }
}
