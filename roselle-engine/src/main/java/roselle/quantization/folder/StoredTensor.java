package roselle.quantization.folder;

import roselle.tensor.DataType;
import roselle.tensor.Shape;

/** A tensor of the new files. */
public record StoredTensor(String name, DataType type, Shape shape) {
    /** Bytes in the file. */
    public long bytes() {
        return Math.multiplyExact(shape.rows(), type.rowBytes(shape.columns()));
    }
}
