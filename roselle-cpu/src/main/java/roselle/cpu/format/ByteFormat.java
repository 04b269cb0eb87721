package roselle.cpu.format;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import roselle.cpu.vector.Lanes;
import roselle.tensor.CodeValues;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/** Numbers of one byte each, by a table. */
final class ByteFormat implements WeightFormat {
    private final float[] table = new float[256];

    ByteFormat(DataType type) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(table.length);
            for (int i = 0; i < table.length; i++) {
                bytes.set(JAVA_BYTE, i, (byte) i);
            }
            Dequantizer.of(type).dequantize(bytes, 0, table, 0, table.length);
        }
    }

    ByteFormat(CodeValues values) {
        for (int code = 0; code < values.count(); code++) {
            table[code] = values.of(code);
        }
    }

    @Override
    public void decode(
            MemorySegment weights, long offset, int count, float[] panel, int at, int step, Unpacked scratch) {
        float[] numbers = table;
        int to = at;
        for (int i = 0; i < count; i += Lanes.COUNT) {
            int end = Math.min(Lanes.COUNT, count - i);
            for (int j = 0; j < end; j++) {
                panel[to + j] = numbers[weights.get(JAVA_BYTE, offset + i + j) & 0xff];
            }
            for (int j = end; j < Lanes.COUNT; j++) {
                panel[to + j] = 0f;
            }
            to += step;
        }
    }
}
