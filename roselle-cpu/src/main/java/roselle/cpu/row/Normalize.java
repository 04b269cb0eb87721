package roselle.cpu.row;

import static roselle.cpu.vector.Lanes.COUNT;
import static roselle.cpu.vector.Lanes.FLOATS;
import static roselle.cpu.vector.Lanes.ORDER;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;
import roselle.backend.operation.Norm;
import roselle.cpu.machine.row.RowKernels;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.vector.Lanes;

/** RMS and layer normalisation of rows, and of the heads within a row. */
final class Normalize {
    private Normalize() {}

    /** Where head {@code head} finds its part of a norm's weight. */
    static int weightFrom(Norm norm, int head, int size) {
        return norm.weight().elements() == size ? 0 : head * size;
    }

    /**
     * Normalises {@code count} numbers in place; what follows them up to a whole vector is lost. There is a vector's room in
     * {@code lanes}.
     */
    static void vector(float[] x, int count, Norm norm, int weightFrom, float[] lanes) {
        float mean = norm.kind() == Norm.Kind.RMS ? 0f : sum(x, count, lanes) / count;
        float factor = factor(squares(x, count, mean, lanes), count, norm);
        MemorySegment weight = CpuBuffer.of(norm.weight());
        Buffer bias = norm.bias();
        int whole = count - count % COUNT;
        if (bias == null) {
            scale(x, whole, mean, factor, weight, norm.weightOffset(), weightFrom);
        } else {
            scale(x, whole, mean, factor, weight, norm.weightOffset(), CpuBuffer.of(bias), weightFrom);
        }
        for (int i = whole; i < count; i++) {
            x[i] = one(x[i], mean, factor, norm, weightFrom + i);
        }
    }

    private static float factor(float squares, int count, Norm norm) {
        return (float) (1 / Math.sqrt(squares / count + norm.epsilon()));
    }

    /** Normalises {@code count} numbers of native memory by machine code that takes them; the norm's weight is as long. */
    static void code(RowKernels.Call code, long numbers, int count, Norm norm, long output) {
        float factor = factor(code.squares(numbers, count), count, norm);
        long weights = CpuBuffer.of(norm.weight()).address();
        code.scale(numbers, factor, weights, norm.weightOffset(), output, count);
    }

    private static void scale(
            float[] x, int count, float mean, float factor, MemorySegment weight, float offset, int from) {
        for (int i = 0; i < count; i += COUNT) {
            FloatVector w = FloatVector.fromMemorySegment(FLOATS, weight, (long) (from + i) * Float.BYTES, ORDER);
            FloatVector y = FloatVector.fromArray(FLOATS, x, i).sub(mean).mul(factor);
            y.mul(w.add(offset)).add(0f).intoArray(x, i);
        }
    }

    private static void scale(
            float[] x,
            int count,
            float mean,
            float factor,
            MemorySegment weight,
            float offset,
            MemorySegment bias,
            int from) {
        for (int i = 0; i < count; i += COUNT) {
            FloatVector w = FloatVector.fromMemorySegment(FLOATS, weight, (long) (from + i) * Float.BYTES, ORDER);
            FloatVector b = FloatVector.fromMemorySegment(FLOATS, bias, (long) (from + i) * Float.BYTES, ORDER);
            FloatVector y = FloatVector.fromArray(FLOATS, x, i).sub(mean).mul(factor);
            y.mul(w.add(offset)).add(b).intoArray(x, i);
        }
    }

    private static float sum(float[] x, int count, float[] lanes) {
        Arrays.fill(x, count, Lanes.padded(count), 0f);
        FloatVector sum = FloatVector.zero(FLOATS);
        for (int i = 0; i < count; i += COUNT) {
            sum = sum.add(FloatVector.fromArray(FLOATS, x, i));
        }
        sum.intoArray(lanes, 0);
        return Lanes.sum(lanes);
    }

    private static float squares(float[] x, int count, float mean, float[] lanes) {
        Arrays.fill(x, count, Lanes.padded(count), mean); // adds zero
        FloatVector sum = FloatVector.zero(FLOATS);
        for (int i = 0; i < count; i += COUNT) {
            FloatVector d = FloatVector.fromArray(FLOATS, x, i).sub(mean);
            sum = d.fma(d, sum);
        }
        sum.intoArray(lanes, 0);
        return Lanes.sum(lanes);
    }

    private static float one(float x, float mean, float factor, Norm norm, int index) {
        float weight = CpuBuffer.number(CpuBuffer.of(norm.weight()), index) + norm.weightOffset();
        return (x - mean) * factor * weight + bias(norm.bias(), index);
    }

    private static float bias(@Nullable Buffer bias, int index) {
        return bias == null ? 0f : CpuBuffer.number(CpuBuffer.of(bias), index);
    }
}
