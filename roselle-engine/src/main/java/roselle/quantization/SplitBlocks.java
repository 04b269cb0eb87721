package roselle.quantization;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import roselle.tensor.DataType;
import roselle.tensor.Shape;

/**
 * A matrix of MXFP4 whose codes and scales lie apart, as gpt-oss has them: neighbours share a byte. Products read the blocks of
 * GGUF instead, so its rows are written there: the scale, then number {@code j} beside number {@code j + 16}.
 *
 * @param shape {@code [rows, columns]}
 * @param codes {@code [rows, columns / 32, 16]}
 * @param scales {@code [rows, columns / 32]}
 */
public record SplitBlocks(String name, Shape shape, MemorySegment codes, MemorySegment scales) {
    private static final int HALF = DataType.MXFP4.blockElements() / 2;

    /** The type of the rows that are written. */
    public DataType type() {
        return DataType.MXFP4;
    }

    /** Writes a row as blocks, each with its scale. */
    public void writeRow(long row, MemorySegment target, long at) {
        long blocks = shape.columns() / type().blockElements();
        for (long block = 0; block < blocks; block++) {
            long from = row * blocks + block;
            long to = at + block * type().blockBytes();
            target.set(JAVA_BYTE, to, scales.get(JAVA_BYTE, from));
            for (int j = 0; j < HALF; j++) {
                int pair = number(from * HALF, j) | number(from * HALF, j + HALF) << 4;
                target.set(JAVA_BYTE, to + 1 + j, (byte) pair);
            }
        }
    }

    private int number(long from, int index) {
        int pair = codes.get(JAVA_BYTE, from + index / 2);
        return (pair >>> (index % 2 * 4)) & 0xf;
    }
}
