package roselle.cpu.vector;

import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/**
 * The width of vectors, the one that suits the processor; the virtual machine's flag {@code -XX:MaxVectorSize}, in bytes,
 * makes it smaller.
 *
 * <p>A sum of products is kept in as many partial sums as there are lanes, element {@code k} in lane {@code k mod COUNT},
 * each fused and in the order of k, and ends with {@link #sum}. That order depends on the width and on nothing else.
 */
public final class Lanes {
    public static final VectorSpecies<Float> FLOATS = species();
    public static final VectorSpecies<Integer> INTS = IntVector.SPECIES_128.withShape(FLOATS.vectorShape());
    public static final VectorSpecies<Short> SHORTS =
            ShortVector.SPECIES_64.withShape(VectorShape.forBitSize(FLOATS.vectorBitSize() / 2));
    /** As many bytes as there are lanes, but for 128-bit vectors, which four bytes would not fill half of. */
    public static final VectorSpecies<Byte> BYTES =
            ByteVector.SPECIES_64.withShape(VectorShape.forBitSize(Math.max(64, FLOATS.vectorBitSize() / 4)));

    public static final int COUNT = FLOATS.length();
    public static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    /** Each swaps the halves of ever smaller groups of lanes; those wider than a vector turn it by nothing. */
    private static final VectorShuffle<Float> BY_8 = rotation(8);

    private static final VectorShuffle<Float> BY_4 = rotation(4);
    private static final VectorShuffle<Float> BY_2 = rotation(2);
    private static final VectorShuffle<Float> BY_1 = rotation(1);

    private Lanes() {}

    private static VectorSpecies<Float> species() {
        return switch (FloatVector.SPECIES_PREFERRED.vectorBitSize()) {
            case 64, 128 -> FloatVector.SPECIES_128;
            case 256 -> FloatVector.SPECIES_256;
            default -> FloatVector.SPECIES_512;
        };
    }

    private static VectorShuffle<Float> rotation(int by) {
        return VectorShuffle.fromOp(FLOATS, lane -> (lane + by) % FLOATS.length());
    }

    /** Rounds up to whole vectors. */
    public static int padded(int count) {
        return (count + COUNT - 1) / COUNT * COUNT;
    }

    /** The sum of all lanes: halves onto halves until one is left. */
    public static float sum(FloatVector v) {
        if (COUNT == 16) {
            v = v.add(v.rearrange(BY_8));
        }
        if (COUNT >= 8) {
            v = v.add(v.rearrange(BY_4));
        }
        v = v.add(v.rearrange(BY_2));
        return v.add(v.rearrange(BY_1)).lane(0);
    }

    /** The sum of lanes that lie in an array: a vector that outlives a loop otherwise ends on the heap. */
    public static float sum(float[] lanes) {
        return sum(lanes, 0);
    }

    /** The same for lanes from a place on. */
    public static float sum(float[] lanes, int from) {
        return sum(FloatVector.fromArray(FLOATS, lanes, from));
    }

    /** The largest of all lanes, which lie from a place on; NaN where one is. */
    public static float highest(float[] lanes, int from) {
        FloatVector v = FloatVector.fromArray(FLOATS, lanes, from);
        if (COUNT == 16) {
            v = v.max(v.rearrange(BY_8));
        }
        if (COUNT >= 8) {
            v = v.max(v.rearrange(BY_4));
        }
        v = v.max(v.rearrange(BY_2));
        return v.max(v.rearrange(BY_1)).lane(0);
    }

    /** Ends {@code count} sums whose lanes lie one after the other. */
    public static void sums(float[] lanes, int from, int count, float[] target, int to) {
        for (int i = 0; i < count; i++) {
            target[to + i] = sum(FloatVector.fromArray(FLOATS, lanes, from + i * COUNT));
        }
    }
}
