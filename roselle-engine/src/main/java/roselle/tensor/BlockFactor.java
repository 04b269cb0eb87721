package roselle.tensor;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What scales or minima of a block's groups are made of: a floating-point number, and for each group a small one that it is
 * multiplied with.
 *
 * @param at byte of the block where the floating-point number lies
 * @param parts of the groups; null where the block is one group
 */
public record BlockFactor(
        Encoding encoding, int at, @Nullable PackedNumbers parts) {
    /** How the floating-point number is stored. */
    public enum Encoding {
        F16,
        F32,
        /** The exponent of a power of two (OCP Microscaling Formats 1.0), one too high: codes are doubled to be whole. */
        E8M0_HALVED;

        /** Bytes of a number. */
        int bytes() {
            return switch (this) {
                case F16 -> Short.BYTES;
                case F32 -> Float.BYTES;
                case E8M0_HALVED -> Byte.BYTES;
            };
        }
    }

    static BlockFactor of(Encoding encoding, int at) {
        return new BlockFactor(encoding, at, null);
    }

    static BlockFactor half(int at) {
        return of(Encoding.F16, at);
    }

    /** The same with a small factor for each group. */
    BlockFactor times(CodeValues values, BitPlane... planes) {
        return new BlockFactor(encoding, at, new PackedNumbers(List.of(planes), values));
    }

    float of(MemorySegment source, long block, int group) {
        float whole = switch (encoding) {
            case F16 -> StoredNumbers.float16(source, block + at);
            case F32 -> Float.intBitsToFloat(StoredNumbers.int32(source, block + at));
            case E8M0_HALVED -> halfPower(StoredNumbers.uint8(source, block + at));
        };
        PackedNumbers ofGroups = parts;
        return ofGroups == null ? whole : whole * ofGroups.value(source, block, group);
    }

    /** 2 to the power {@code exponent - 128}. */
    static float halfPower(int exponent) {
        return Float.intBitsToFloat(exponent < 2 ? 0x00200000 << exponent : (exponent - 1) << 23);
    }
}
