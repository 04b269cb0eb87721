package roselle.cpu.format;

import static roselle.cpu.vector.Lanes.COUNT;

import java.lang.foreign.MemorySegment;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/** Blocks of a type that few models have, by its scalar twin: right, and slow. */
final class ScalarBlocks implements WeightFormat {
    private final Dequantizer scalar;
    private final int blockNumbers;
    private final int blockBytes;

    ScalarBlocks(DataType type) {
        scalar = Dequantizer.of(type);
        blockNumbers = type.blockElements();
        blockBytes = type.blockBytes();
    }

    @Override
    public void decode(
            MemorySegment weights, long offset, int count, float[] panel, int at, int step, Unpacked scratch) {
        float[] block = scratch.block;
        int to = at;
        for (int i = 0; i < count; i += blockNumbers) {
            scalar.dequantize(weights, offset + (long) i / blockNumbers * blockBytes, block, 0, blockNumbers);
            for (int j = 0; j < blockNumbers; j += COUNT) {
                System.arraycopy(block, j, panel, to, COUNT);
                to += step;
            }
        }
    }
}
