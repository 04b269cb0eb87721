package roselle.cpu.adapter;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import roselle.backend.memory.OwnMatrix;
import roselle.cpu.vector.Lanes;
import roselle.tensor.Dequantizer;

/** A matrix that an adapter has in the place of a weight's, as float32 rows that are filled up with zeros, and its biases. */
final class OwnRows {
    final int rows;
    final int columns;
    final int stride;
    final MemorySegment matrix; // [rows, stride]
    final float[] bias; // [rows], or none

    OwnRows(OwnMatrix own, Arena arena) {
        rows = Math.toIntExact(own.matrix().shape().rows());
        columns = Math.toIntExact(own.matrix().shape().columns());
        stride = Lanes.padded(columns);
        matrix = arena.allocate((long) rows * stride * Float.BYTES, 64);
        bias = own.bias() == null ? new float[0] : Dequantizer.all(own.bias());
        var row = new float[columns];
        for (int r = 0; r < rows; r++) {
            Dequantizer.row(own.matrix(), r, row, 0);
            MemorySegment.copy(row, 0, matrix, JAVA_FLOAT, at(r), columns);
        }
    }

    /** The byte at which a row begins. */
    long at(int row) {
        return (long) row * stride * Float.BYTES;
    }

    long bytes() {
        return matrix.byteSize() + (long) bias.length * Float.BYTES;
    }
}
