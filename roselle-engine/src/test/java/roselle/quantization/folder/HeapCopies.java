package roselle.quantization.folder;

import java.lang.foreign.MemorySegment;
import roselle.quantization.Copies;
import roselle.quantization.SplitBlocks;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Copies of bytes in arrays, and no others. */
final class HeapCopies implements Copies {
    @Override
    public Tensor bytes(String name, Shape shape, Integers numbers) {
        int columns = Math.toIntExact(shape.columns());
        var bytes = new byte[Math.toIntExact(shape.elements())];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) numbers.at(i / columns, i % columns);
        }
        return new Tensor(name, DataType.I8, shape, MemorySegment.ofArray(bytes));
    }

    @Override
    public Tensor bfloats(String name, Shape shape, Integers numbers) {
        throw new UnsupportedOperationException(name);
    }

    @Override
    public Tensor floats(String name, Shape shape, Floats numbers) {
        throw new UnsupportedOperationException(name);
    }

    @Override
    public StoredMatrix joined(SplitBlocks matrix) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Tensor turned(Tensor floats) {
        throw new UnsupportedOperationException(floats.name());
    }
}
