package roselle.tensor;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** What each code of a few bits stands for, before a scale multiplies it. */
public final class CodeValues {
    private final float[] values; // by code

    private CodeValues(float[] values) {
        this.values = values;
    }

    /** What the codes from 0 on stand for, where a file says it. */
    public static CodeValues of(float... values) {
        return new CodeValues(values.clone());
    }

    /** Codes of so many bits that are numbers from 0 on. */
    static CodeValues unsigned(int bits) {
        return less(bits, 0);
    }

    /** Codes of so many bits, each of which is {@code bias} more than its number. */
    static CodeValues less(int bits, int bias) {
        var values = new float[1 << bits];
        for (int code = 0; code < values.length; code++) {
            values[code] = code - bias;
        }
        return new CodeValues(values);
    }

    /** Codes in two's complement. */
    static CodeValues signed(int bits) {
        var values = new float[1 << bits];
        for (int code = 0; code < values.length; code++) {
            values[code] = code << -bits >> -bits;
        }
        return new CodeValues(values);
    }

    /** Codes that are places in a table. */
    static CodeValues table(int... table) {
        var values = new float[table.length];
        for (int code = 0; code < values.length; code++) {
            values[code] = table[code];
        }
        return new CodeValues(values);
    }

    /** Codes of a plain type, of eight bits. */
    static CodeValues plain(Dequantizer plain) {
        var values = new float[1 << Byte.SIZE];
        var codes = new byte[values.length];
        for (int code = 0; code < values.length; code++) {
            codes[code] = (byte) code;
        }
        plain.dequantize(MemorySegment.ofArray(codes), 0, values, 0, values.length);
        return new CodeValues(values);
    }

    /** Codes that there are: two to the power of their bits. */
    public int count() {
        return values.length;
    }

    /** The number of a code. */
    public float of(int code) {
        return values[code];
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CodeValues that && Arrays.equals(values, that.values);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(values);
    }

    /** Whether neighbouring codes are one apart from each other, from the lowest code on. */
    public boolean areLinear() {
        for (int code = 1; code < values.length; code++) {
            if (values[code] - values[code - 1] != 1) {
                return false;
            }
        }
        return true;
    }

    /** Whether codes are in two's complement, of as many bits as they have. */
    public boolean areSigned() {
        return Arrays.equals(values, signed(Integer.numberOfTrailingZeros(values.length)).values);
    }

    /** Whether all are integers that a byte holds what each is more than the first. */
    public boolean areBytes() {
        for (float value : values) {
            float more = value - values[0];
            if (more != Math.rint(more)
                    || more < 0
                    || more > 0xFF
                    || value != Math.rint(value)
                    || Math.abs(value) > 0xFF) {
                return false;
            }
        }
        return true;
    }

    /** Whether each code is its number. */
    public boolean arePlain() {
        return values[0] == 0 && areLinear();
    }
}
