package roselle.cpu.format;

import java.lang.foreign.MemorySegment;
import roselle.backend.memory.KvType;

/**
 * How the keys or values of a head become bytes of a page, and float32 again. What codes are multiplied by lies apart from them.
 * Positions in pages are in bytes.
 */
public interface KvFormat {
    static KvFormat of(KvType type) {
        return type.isCoded() ? new CodedKv(type) : new PlainKv(type.plain());
    }

    /** Stores a key or value of {@code size} floats, which begin at float {@code from} of the source. */
    void store(MemorySegment source, long from, int size, MemorySegment pages, long at, long scalesAt);

    /**
     * Reads {@code count} keys or values that follow each other, {@code stride} floats from one to the next. A stride that is not
     * their size has room for whole vectors, the last of which is padded with zeros.
     */
    void load(
            MemorySegment pages,
            long at,
            long scalesAt,
            int size,
            int count,
            float[] target,
            int to,
            int stride,
            Unpacked scratch);
}
