package roselle.execution;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * MXFP4 as safetensors store it, in the blocks of GGUF: there neighbours share a byte, here number {@code j} and number
 * {@code j + 16}, behind their scale.
 */
final class MicroscaledRows {
    private static final int HALF = 16;

    private MicroscaledRows() {}

    /** Every {@code step}th row, from {@code first}, of blocks {@code [experts, rows, columns / 32, 16]}. */
    static Tensor of(String name, Tensor blocks, Tensor scales, int first, int step) {
        long[] extents = blocks.shape().toArray();
        int experts = (int) extents[0];
        int rows = (int) extents[1];
        int perRow = (int) extents[2];
        var bytes = ByteBuffer.allocate(experts * (rows / step) * perRow * (HALF + 1));
        for (int row = 0; row < experts * rows; row++) {
            for (int block = row * perRow; row % rows % step == first && block < (row + 1) * perRow; block++) {
                bytes.put(scales.data().get(JAVA_BYTE, block));
                for (int j = 0; j < HALF; j++) {
                    bytes.put((byte) (number(blocks, block, j) | number(blocks, block, j + HALF) << 4));
                }
            }
        }
        Shape shape = Shape.of(experts, rows / step, 2L * HALF * perRow);
        return new Tensor(name, DataType.MXFP4, shape, MemorySegment.ofArray(bytes.array()));
    }

    private static int number(Tensor blocks, int block, int index) {
        int pair = blocks.data().get(JAVA_BYTE, (long) block * HALF + index / 2);
        return index % 2 == 0 ? pair & 0xf : (pair >>> 4) & 0xf;
    }
}
