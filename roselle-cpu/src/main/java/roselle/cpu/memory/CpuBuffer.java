package roselle.cpu.memory;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.cpu.CpuDevice;
import roselle.tensor.DataType;

/** Native memory, aligned to 64 bytes, as a {@link Buffer}. */
public record CpuBuffer(DataType type, long elements, MemorySegment segment) implements Buffer {
    /** The memory behind a buffer that a {@link CpuDevice} allocated. */
    public static MemorySegment of(Buffer buffer) {
        return ((CpuBuffer) buffer).segment;
    }

    public static MemorySegment of(Rows rows) {
        return of(rows.buffer());
    }

    /** The index of the first number of a row. */
    public static long row(Rows rows, int row) {
        return rows.offset() + (long) row * rows.stride();
    }

    public static float number(MemorySegment segment, long index) {
        return segment.getAtIndex(JAVA_FLOAT, index);
    }

    public static void number(MemorySegment segment, long index, float value) {
        segment.setAtIndex(JAVA_FLOAT, index, value);
    }

    public static int integer(MemorySegment segment, long index) {
        return segment.getAtIndex(JAVA_INT, index);
    }
}
