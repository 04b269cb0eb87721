package roselle.cpu.adapter;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import roselle.cpu.vector.Lanes;

/** The inner loops: dot products with rows that shrink, and sums over ranks of rows that expand. */
final class LowRankKernels {
    private LowRankKernels() {}

    /** Up to four dot products of a row, each in the order of {@link Lanes}, times both scales. */
    static void shrink(float[] x, Addition addition, int rank, float factor, float[] target, int at) {
        int count = Math.min(LowRankProducts.TOGETHER, addition.ranks - rank);
        dots(x, addition.shrink, addition.stride, rank, count, target, at);
        for (int i = 0; i < count; i++) {
            target[at + i] *= addition.scale[rank + i] * factor;
        }
    }

    /** Dot products with up to four rows of a matrix from one on, each in the order of {@link Lanes}. */
    static void dots(float[] x, MemorySegment matrix, int stride, int first, int count, float[] target, int at) {
        if (count == LowRankProducts.TOGETHER) {
            four(x, matrix, stride, first, target, at);
        } else {
            for (int i = 0; i < count; i++) {
                one(x, matrix, stride, first + i, target, at + i);
            }
        }
    }

    private static void four(float[] x, MemorySegment matrix, int stride, int first, float[] target, int at) {
        long bytes = (long) stride * Float.BYTES;
        long from = first * bytes;
        FloatVector sum0 = FloatVector.zero(Lanes.FLOATS);
        FloatVector sum1 = sum0;
        FloatVector sum2 = sum0;
        FloatVector sum3 = sum0;
        for (int k = 0; k < stride; k += Lanes.COUNT) {
            FloatVector input = FloatVector.fromArray(Lanes.FLOATS, x, k);
            long byteK = from + (long) k * Float.BYTES;
            sum0 = row(matrix, byteK).fma(input, sum0);
            sum1 = row(matrix, byteK + bytes).fma(input, sum1);
            sum2 = row(matrix, byteK + 2 * bytes).fma(input, sum2);
            sum3 = row(matrix, byteK + 3 * bytes).fma(input, sum3);
        }
        target[at] = Lanes.sum(sum0);
        target[at + 1] = Lanes.sum(sum1);
        target[at + 2] = Lanes.sum(sum2);
        target[at + 3] = Lanes.sum(sum3);
    }

    private static void one(float[] x, MemorySegment matrix, int stride, int row, float[] target, int at) {
        long from = (long) row * stride * Float.BYTES;
        FloatVector sum = FloatVector.zero(Lanes.FLOATS);
        for (int k = 0; k < stride; k += Lanes.COUNT) {
            FloatVector input = FloatVector.fromArray(Lanes.FLOATS, x, k);
            sum = row(matrix, from + (long) k * Float.BYTES).fma(input, sum);
        }
        target[at] = Lanes.sum(sum);
    }

    private static FloatVector row(MemorySegment segment, long at) {
        return FloatVector.fromMemorySegment(Lanes.FLOATS, segment, at, Lanes.ORDER);
    }

    /** Adds a tile to a row's outputs: for each output the ranks one after the other, fused, onto what it holds. */
    static void expand(float[] shrunk, int at, Addition addition, int tile, MemorySegment outputs, long output) {
        if (addition.tileOutputs[tile] == Addition.TILE) {
            whole(shrunk, at, addition, tile, outputs, output * Float.BYTES);
        } else {
            part(shrunk, at, addition, tile, outputs, output);
        }
    }

    private static void whole(
            float[] shrunk, int at, Addition addition, int tile, MemorySegment outputs, long outputByte) {
        MemorySegment expand = addition.expand;
        long from = addition.tileAt[tile] * Float.BYTES;
        long vector = (long) Lanes.COUNT * Float.BYTES;
        int rank = addition.tileRank[tile];
        FloatVector sum0 = row(outputs, outputByte);
        FloatVector sum1 = row(outputs, outputByte + vector);
        FloatVector sum2 = row(outputs, outputByte + 2 * vector);
        FloatVector sum3 = row(outputs, outputByte + 3 * vector);
        for (int j = 0; j < rank; j++) {
            FloatVector number = FloatVector.broadcast(Lanes.FLOATS, shrunk[at + j]);
            sum0 = row(expand, from).fma(number, sum0);
            sum1 = row(expand, from + vector).fma(number, sum1);
            sum2 = row(expand, from + 2 * vector).fma(number, sum2);
            sum3 = row(expand, from + 3 * vector).fma(number, sum3);
            from += 4 * vector;
        }
        sum0.intoMemorySegment(outputs, outputByte, Lanes.ORDER);
        sum1.intoMemorySegment(outputs, outputByte + vector, Lanes.ORDER);
        sum2.intoMemorySegment(outputs, outputByte + 2 * vector, Lanes.ORDER);
        sum3.intoMemorySegment(outputs, outputByte + 3 * vector, Lanes.ORDER);
    }

    private static void part(float[] shrunk, int at, Addition addition, int tile, MemorySegment outputs, long output) {
        for (int i = 0; i < addition.tileOutputs[tile]; i++) {
            float sum = outputs.getAtIndex(JAVA_FLOAT, output + i);
            for (int j = 0; j < addition.tileRank[tile]; j++) {
                float number =
                        addition.expand.getAtIndex(JAVA_FLOAT, addition.tileAt[tile] + (long) j * Addition.TILE + i);
                sum = Math.fma(number, shrunk[at + j], sum);
            }
            outputs.setAtIndex(JAVA_FLOAT, output + i, sum);
        }
    }
}
