package roselle.backend.memory;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import roselle.tensor.DataType;

/**
 * How a cache stores keys and values: as numbers of a type, or as codes of 8 or 4 bits.
 *
 * <p>Codes are made of each key and each value of a head by itself when it is appended, so that they depend on nothing else. In
 * float32, where each operation rounds to nearest with ties to even, a key or value {@code x} becomes
 *
 * <ul>
 *   <li>{@link #FP8}: {@code scale = max|x| / 448} and the E4M3 nearest to {@code x / scale}, 448 at most;
 *   <li>{@link #INT8}: {@code scale = max|x| / 127} and the whole number nearest to {@code x / scale}, from -127 to 127;
 *   <li>{@link #INT4}: {@code scale = (max x - min x) / 15} and the whole number nearest to {@code (x - min x) / scale}, from 0 to
 *       15, in the low half of byte {@code i} for {@code i} before the middle (that of a byte more, where the size is odd), else
 *       in the high half of the byte as far behind it.
 * </ul>
 *
 * <p>It is read as {@code scale * code}, that of INT4 as {@code fma(scale, code, min x)}. Where the scale is 0, so is the
 * value of each code; where {@code x} has a number that is not finite, or the scale is none, the scale is NaN, and with it all that is read.
 */
public enum KvType {
    F32(32, 0),
    F16(16, 0),
    BF16(16, 0),
    FP8(8, 1),
    INT8(8, 1),
    INT4(4, 2);

    /** The largest code of E4M3. */
    public static final float MOST_FP8 = 448f;

    /** The largest code of {@link #INT8}. */
    public static final int MOST_INT8 = 127;

    /** The largest code of {@link #INT4}. */
    public static final int MOST_INT4 = 15;

    /** Those without codes. */
    public static final List<KvType> PLAIN = List.of(F32, F16, BF16);

    private final int bits;
    private final int scales;

    KvType(int bits, int scales) {
        this.bits = bits;
        this.scales = scales;
    }

    /** Keys and values as numbers of a type. */
    public static KvType of(DataType type) {
        return switch (type) {
            case F32 -> F32;
            case F16 -> F16;
            case BF16 -> BF16;
            default -> throw new IllegalArgumentException("no keys and values are stored as " + type.label());
        };
    }

    /** What flags and plans call it: {@code fp8}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Labels as a sentence lists them: {@code f32, f16 or bf16}. */
    public static String labels(List<KvType> types) {
        String labels = types.stream().map(KvType::label).collect(Collectors.joining(", "));
        int last = labels.lastIndexOf(", ");
        return last < 0 ? labels : labels.substring(0, last) + " or " + labels.substring(last + 2);
    }

    /** All of them. */
    public static List<KvType> all() {
        return Arrays.asList(values());
    }

    /** Whether it has codes. */
    public boolean isCoded() {
        return scales > 0;
    }

    /** The type of its numbers, which have no codes. */
    public DataType plain() {
        return switch (this) {
            case F32 -> DataType.F32;
            case F16 -> DataType.F16;
            case BF16 -> DataType.BF16;
            case FP8, INT8, INT4 -> throw new IllegalStateException(label() + " has codes");
        };
    }

    /** Bytes of the numbers or codes of one key or value of a head. */
    public long codeBytes(int size) {
        return Math.ceilDiv((long) size * bits, Byte.SIZE);
    }

    /** Bytes of what codes of one key or value are multiplied by, and behind it what is added to them: float32. */
    public int scaleBytes() {
        return scales * Float.BYTES;
    }

    /** Bytes of one key or value of a head; none where it has no numbers. */
    public long rowBytes(int size) {
        return size == 0 ? 0 : codeBytes(size) + scaleBytes();
    }
}
