package roselle.cpu.format;

import java.lang.foreign.MemorySegment;
import roselle.tensor.DataType;

/** How a quantized format packs its numbers, each of which is {@code quant * scale} or {@code quant * scale + minimum}. */
interface BlockLayout {
    DataType type();

    /** Whether there are minimums. Then {@code quant * scale} is exact, so that it may be fused with the sum. */
    boolean hasMinimums();

    /**
     * Unpacks {@code count} numbers, whole blocks.
     *
     * @param quants where in the target the first quant goes
     * @param group where the first scale and minimum go
     */
    void unpack(MemorySegment weights, long offset, int count, Unpacked target, int quants, int group);
}
