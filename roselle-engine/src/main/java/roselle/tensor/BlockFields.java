package roselle.tensor;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where codes, scales and minima of a quantized type lie in a block: what a device has to know to bring them into an order of
 * its own, whatever the type. A number is {@code scale * value(code)}, less or plus the minimum of its group.
 *
 * @param minimum null where there is none
 * @param isAdded whether the minimum is added
 */
public record BlockFields(
        PackedNumbers codes, BlockFactor scale, @Nullable BlockFactor minimum, boolean isAdded) {
    /** Numbers of some values, whose bits lie in planes, with a scale. */
    static BlockFields of(CodeValues values, BlockFactor scale, BitPlane... planes) {
        return new BlockFields(new PackedNumbers(List.of(planes), values), scale, null, false);
    }

    BlockFields less(BlockFactor minima) {
        return new BlockFields(codes, scale, minima, false);
    }

    BlockFields plus(BlockFactor minima) {
        return new BlockFields(codes, scale, minima, true);
    }

    /** Whether the bits of all fields lie where those of another type's do, whatever the codes of its numbers stand for. */
    public boolean lieAs(BlockFields other) {
        return codes.planes().equals(other.codes.planes())
                && scale.equals(other.scale)
                && Objects.equals(minimum, other.minimum)
                && isAdded == other.isAdded;
    }

    /** The way from a block to floats, whose groups have so many numbers. */
    Dequantizer.OneBlock dequantizer(int group) {
        int count = codes.count();
        return (source, offset, target, start) -> {
            for (int first = 0; first < count; first += group) {
                float groupScale = scale.of(source, offset, first / group);
                BlockFactor minima = minimum;
                float groupMinimum = minima == null ? 0 : minima.of(source, offset, first / group);
                for (int i = first; i < first + group; i++) {
                    float number = groupScale * codes.value(source, offset, i);
                    target[start + i] =
                            minima == null ? number : isAdded ? number + groupMinimum : number - groupMinimum;
                }
            }
        };
    }
}
