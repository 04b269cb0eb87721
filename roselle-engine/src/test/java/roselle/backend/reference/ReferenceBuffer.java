package roselle.backend.reference;

import java.util.Arrays;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.tensor.DataType;

/** Numbers of any type as float32; whole ones are exact up to 2^24. */
final class ReferenceBuffer implements Buffer {
    private final DataType type;
    private final float[] numbers;

    ReferenceBuffer(DataType type, float[] numbers) {
        this.type = type;
        this.numbers = numbers;
    }

    @Override
    public DataType type() {
        return type;
    }

    @Override
    public long elements() {
        return numbers.length;
    }

    static float[] of(Buffer buffer) {
        return ((ReferenceBuffer) buffer).numbers;
    }

    /** A copy of a row. */
    static float[] row(Rows rows, int row) {
        int from = at(rows, row);
        return Arrays.copyOfRange(of(rows.buffer()), from, from + rows.columns());
    }

    /** Where a row begins. */
    static int at(Rows rows, int row) {
        return Math.toIntExact(rows.offset() + (long) row * rows.stride());
    }
}
