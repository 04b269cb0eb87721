package roselle.tensor;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * Small numbers of a block: where the bits of their codes lie, and what codes stand for.
 *
 * @param planes whose bits together are the codes
 */
public record PackedNumbers(List<BitPlane> planes, CodeValues values) {
    public PackedNumbers {
        planes = List.copyOf(planes);
    }

    /** How many there are. */
    public int count() {
        int count = 0;
        for (BitPlane plane : planes) {
            count = Math.max(count, plane.end());
        }
        return count;
    }

    /** The code of a number. */
    public int code(MemorySegment source, long block, int number) {
        int code = 0;
        for (BitPlane plane : planes) {
            code |= plane.get(source, block, number);
        }
        return code;
    }

    float value(MemorySegment source, long block, int number) {
        return values.of(code(source, block, number));
    }

    /** All codes, eight to a word, the first one lowest; words beyond them become zero. */
    public void unpack(MemorySegment source, long block, long[] eights) {
        Arrays.fill(eights, 0);
        for (BitPlane plane : planes) {
            plane.unpack(source, block, eights);
        }
    }
}
