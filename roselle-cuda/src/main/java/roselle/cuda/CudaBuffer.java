package roselle.cuda;

import roselle.backend.Buffer;
import roselle.backend.Rows;
import roselle.tensor.DataType;

/** Device memory as a {@link Buffer}. */
record CudaBuffer(DataType type, long elements, long address) implements Buffer {
    /** The address of a buffer that a {@link CudaDevice} allocated. */
    static long address(Buffer buffer) {
        return ((CudaBuffer) buffer).address;
    }

    /** The address of the first number of a view. */
    static long address(Rows rows) {
        return address(rows.buffer()) + rows.offset() * rows.buffer().type().blockBytes();
    }

    /** Whether rows of 16-bit numbers can be read 16 bytes at a time. */
    static boolean isAligned(Rows rows) {
        return rows.offset() % 8 == 0 && rows.stride() % 8 == 0;
    }

    /** The same, for all columns of them. */
    static boolean isWhole(Rows rows) {
        return isAligned(rows) && rows.columns() % 8 == 0;
    }
}
