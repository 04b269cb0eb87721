package roselle.cpu.twin;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import roselle.backend.memory.KvType;
import roselle.cpu.format.ScalarFormats;
import roselle.cpu.memory.CpuKvCache;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/** Keys and values read number by number. */
final class ScalarKv {
    private final CpuKvCache cache;
    private final int group;
    private final int layer;

    ScalarKv(CpuKvCache cache, int group, int layer) {
        this.cache = cache;
        this.group = group;
        this.layer = layer;
    }

    float[] key(int page, int head, int token, int size) {
        return numbers(
                cache.keyAt(group, layer, page, head, token),
                cache.keyScalesAt(group, layer, page, head, token),
                cache.groups().get(group).keySize(),
                size);
    }

    float[] value(int page, int head, int token, int size) {
        int valueSize = cache.groups().get(group).valueSize();
        return numbers(
                cache.valueAt(group, layer, page, head, token),
                cache.valueScalesAt(group, layer, page, head, token),
                valueSize == 0 ? cache.groups().get(group).keySize() : valueSize,
                size);
    }

    private float[] numbers(long at, long scalesAt, int stored, int size) {
        var numbers = new float[size];
        for (int i = 0; i < size; i++) {
            numbers[i] = number(at, scalesAt, stored, i);
        }
        return numbers;
    }

    private float number(long at, long scalesAt, int size, int i) {
        MemorySegment pages = cache.segment(group);
        KvType type = cache.stored(group);
        return switch (type) {
            case F32, F16, BF16 ->
                ScalarFormats.load(
                        type.plain(), pages, at + (long) i * type.plain().blockBytes());
            case FP8 -> pages.get(JAVA_FLOAT_UNALIGNED, scalesAt) * e4m3(pages, at + i);
            case INT8 -> pages.get(JAVA_FLOAT_UNALIGNED, scalesAt) * pages.get(JAVA_BYTE, at + i);
            case INT4 -> {
                int half = (size + 1) / 2;
                int codes = Byte.toUnsignedInt(pages.get(JAVA_BYTE, at + i % half));
                float least = pages.get(JAVA_FLOAT_UNALIGNED, scalesAt + Float.BYTES);
                yield Math.fma(pages.get(JAVA_FLOAT_UNALIGNED, scalesAt), i < half ? codes % 16 : codes / 16, least);
            }
        };
    }

    private static float e4m3(MemorySegment pages, long at) {
        var number = new float[1];
        Dequantizer.of(DataType.F8_E4M3).dequantize(pages, at, number, 0, 1);
        return number[0];
    }
}
