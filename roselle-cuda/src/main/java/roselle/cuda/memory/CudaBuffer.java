package roselle.cuda.memory;

import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.cuda.CudaDevice;
import roselle.tensor.DataType;

/** Device memory as a {@link Buffer}. */
public record CudaBuffer(DataType type, long elements, long address) implements Buffer {
    /** The address of a buffer that a {@link CudaDevice} allocated. */
    public static long address(Buffer buffer) {
        return ((CudaBuffer) buffer).address;
    }

    /** The address of the first number of a view. */
    public static long address(Rows rows) {
        return address(rows.buffer()) + rows.offset() * rows.buffer().type().blockBytes();
    }

    /** Whether rows of 16-bit numbers can be read 16 bytes at a time. */
    public static boolean isAligned(Rows rows) {
        return rows.offset() % 8 == 0 && rows.stride() % 8 == 0;
    }

    /** The same, for all columns of them. */
    public static boolean isWhole(Rows rows) {
        return isAligned(rows) && rows.columns() % 8 == 0;
    }
}
