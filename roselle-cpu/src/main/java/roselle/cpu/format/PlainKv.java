package roselle.cpu.format;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static roselle.cpu.vector.Lanes.COUNT;

import java.lang.foreign.MemorySegment;
import roselle.tensor.DataType;

/** Keys and values as numbers of a floating-point type. */
final class PlainKv implements KvFormat {
    private final DataType type;
    private final WeightFormat numbers;

    PlainKv(DataType type) {
        this.type = type;
        numbers = Formats.of(type);
    }

    @Override
    public void store(MemorySegment source, long from, int size, MemorySegment pages, long at, long scalesAt) {
        if (type == DataType.F32) {
            MemorySegment.copy(source, from * Float.BYTES, pages, at, (long) size * Float.BYTES);
            return;
        }
        int bytes = type.blockBytes();
        for (int i = 0; i < size; i++) {
            ScalarFormats.store(type, pages, at + (long) i * bytes, source.get(JAVA_FLOAT, (from + i) * Float.BYTES));
        }
    }

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
        long bytes = (long) size * type.blockBytes();
        if (stride != size) {
            for (int i = 0; i < count; i++) {
                numbers.decode(pages, at + i * bytes, size, target, to + i * stride, COUNT, scratch);
            }
        } else if (type == DataType.F32) {
            MemorySegment.copy(pages, JAVA_FLOAT_UNALIGNED, at, target, to, count * size);
        } else {
            numbers.decode(pages, at, count * size, target, to, COUNT, scratch);
        }
    }
}
