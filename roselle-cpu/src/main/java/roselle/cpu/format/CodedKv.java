package roselle.cpu.format;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static roselle.cpu.vector.Lanes.BYTES;
import static roselle.cpu.vector.Lanes.COUNT;
import static roselle.cpu.vector.Lanes.FLOATS;
import static roselle.cpu.vector.Lanes.INTS;
import static roselle.cpu.vector.Lanes.ORDER;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import roselle.backend.memory.KvType;
import roselle.cpu.vector.Lanes;

/** Keys and values as codes, each with a scale of its own; {@link KvType} says how they are made and read. */
final class CodedKv implements KvFormat {
    private static final E4m3Format E4M3 = new E4m3Format();
    private static final int LOW = 0xf;

    private final KvType type;

    CodedKv(KvType type) {
        this.type = type;
    }

    // ---- numbers to codes, one at a time ----

    @Override
    public void store(MemorySegment source, long from, int size, MemorySegment pages, long at, long scalesAt) {
        float least = Float.POSITIVE_INFINITY;
        float most = Float.NEGATIVE_INFINITY;
        for (int i = 0; i < size; i++) {
            float x = number(source, from + i);
            least = Math.min(least, x); // NaN stays
            most = Math.max(most, x);
        }
        float scale = scale(least, most);
        pages.set(JAVA_FLOAT_UNALIGNED, scalesAt, scale);
        boolean isZero = !(scale > 0);
        switch (type) {
            case INT4 -> {
                pages.set(JAVA_FLOAT_UNALIGNED, scalesAt + Float.BYTES, least);
                nibbles(source, from, size, isZero ? Float.POSITIVE_INFINITY : scale, least, pages, at);
            }
            case INT8, FP8 -> {
                float divisor = isZero ? Float.POSITIVE_INFINITY : scale;
                for (int i = 0; i < size; i++) {
                    float x = number(source, from + i) / divisor;
                    pages.set(JAVA_BYTE, at + i, type == KvType.FP8 ? e4m3(x) : wholeByte(x));
                }
            }
            case F32, F16, BF16 -> throw new IllegalStateException(type.label());
        }
    }

    private static float number(MemorySegment source, long index) {
        return source.get(JAVA_FLOAT, index * Float.BYTES);
    }

    private float scale(float least, float most) {
        float largest = Math.max(-least, most);
        float scale = switch (type) {
            case FP8 -> largest / KvType.MOST_FP8;
            case INT8 -> largest / KvType.MOST_INT8;
            case INT4 -> (most - least) / KvType.MOST_INT4;
            case F32, F16, BF16 -> throw new IllegalStateException(type.label());
        };
        return Float.isFinite(scale) ? scale : Float.NaN;
    }

    private static void nibbles(
            MemorySegment source, long from, int size, float divisor, float least, MemorySegment pages, long at) {
        int half = (size + 1) / 2;
        for (int i = 0; i < half; i++) {
            int low = nibble((number(source, from + i) - least) / divisor);
            int high = i + half < size ? nibble((number(source, from + half + i) - least) / divisor) : 0;
            pages.set(JAVA_BYTE, at + i, (byte) (high << 4 | low));
        }
    }

    private static int nibble(float x) {
        return Math.clamp((int) Math.rint(x), 0, KvType.MOST_INT4);
    }

    private static byte wholeByte(float x) {
        return (byte) Math.clamp((int) Math.rint(x), -KvType.MOST_INT8, KvType.MOST_INT8);
    }

    /** The code of the E4M3 nearest to a number, ties to even, the largest for all that is larger. */
    private static byte e4m3(float x) {
        int sign = Float.floatToRawIntBits(x) >>> 31 << 7;
        float size = Math.min(Math.abs(x), KvType.MOST_FP8);
        if (size < 0x1p-6f) {
            return (byte) (sign | (int) Math.rint(size * 0x1p9f));
        }
        int bits = Float.floatToRawIntBits(size);
        int rounded = (bits + 0x7ffff + ((bits >>> 20) & 1)) >>> 20;
        return (byte) (sign | (rounded - (120 << 3)));
    }

    // ---- codes to numbers, in vectors ----

    @Override
    public void load(
            MemorySegment pages,
            long at,
            long scalesAt,
            int size,
            int count,
            float[] target,
            int to,
            int stride,
            Unpacked scratch) {
        long bytes = type.codeBytes(size);
        for (int i = 0; i < count; i++) {
            long codes = at + i * bytes;
            long scales = scalesAt + (long) i * type.scaleBytes();
            float scale = pages.get(JAVA_FLOAT_UNALIGNED, scales);
            int place = to + i * stride;
            switch (type) {
                case FP8 -> {
                    E4M3.decode(pages, codes, size, target, place, COUNT, scratch);
                    multiply(target, place, size, scale);
                }
                case INT8 -> bytes(pages, codes, size, scale, target, place);
                case INT4 -> {
                    float least = pages.get(JAVA_FLOAT_UNALIGNED, scales + Float.BYTES);
                    nibbles(pages, codes, size, scale, least, target, place);
                }
                case F32, F16, BF16 -> throw new IllegalStateException(type.label());
            }
            for (int j = size; j < Math.min(stride, Lanes.padded(size)); j++) {
                target[place + j] = 0f;
            }
        }
    }

    private static void multiply(float[] target, int at, int size, float scale) {
        int i = 0;
        for (; i + COUNT <= size; i += COUNT) {
            FloatVector.fromArray(FLOATS, target, at + i).mul(scale).intoArray(target, at + i);
        }
        for (; i < size; i++) {
            target[at + i] *= scale;
        }
    }

    private static void bytes(MemorySegment pages, long at, int size, float scale, float[] target, int to) {
        int i = 0;
        for (; i + BYTES.length() <= size; i += COUNT) { // a vector of bytes may be longer than one of floats
            IntVector codes = (IntVector)
                    ByteVector.fromMemorySegment(BYTES, pages, at + i, ORDER).castShape(INTS, 0);
            floats(codes).mul(scale).intoArray(target, to + i);
        }
        for (; i < size; i++) {
            target[to + i] = pages.get(JAVA_BYTE, at + i) * scale;
        }
    }

    private static void nibbles(
            MemorySegment pages, long at, int size, float scale, float least, float[] target, int to) {
        int half = (size + 1) / 2;
        FloatVector added = FloatVector.broadcast(FLOATS, least);
        int i = 0;
        for (; i + BYTES.length() <= size / 2; i += COUNT) {
            IntVector codes = (IntVector)
                    ByteVector.fromMemorySegment(BYTES, pages, at + i, ORDER).castShape(INTS, 0);
            FloatVector low = floats(codes.and(LOW));
            FloatVector high = floats(codes.lanewise(VectorOperators.LSHR, 4).and(LOW));
            FloatVector factor = FloatVector.broadcast(FLOATS, scale);
            low.fma(factor, added).intoArray(target, to + i);
            high.fma(factor, added).intoArray(target, to + half + i);
        }
        for (; i < half; i++) {
            int codes = pages.get(JAVA_BYTE, at + i);
            target[to + i] = Math.fma(scale, codes & LOW, least);
            if (half + i < size) {
                target[to + half + i] = Math.fma(scale, (codes >>> 4) & LOW, least);
            }
        }
    }

    private static FloatVector floats(IntVector numbers) {
        return (FloatVector) numbers.convertShape(VectorOperators.I2F, FLOATS, 0);
    }
}
