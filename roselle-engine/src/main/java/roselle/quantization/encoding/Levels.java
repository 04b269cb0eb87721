package roselle.quantization.encoding;

/** The integers that codes stand for before a scale multiplies them, in ascending order. */
final class Levels {
    private final float[] values;
    private final boolean isLinear;
    private final float least;
    private final float greatest;
    private final byte[]
            codeOfHalf; // by how many halves a number is above the least; empty where codes follow each other

    private Levels(float[] values, boolean isLinear) {
        this.values = values;
        this.isLinear = isLinear;
        least = values[0];
        greatest = values[values.length - 1];
        codeOfHalf = new byte[isLinear ? 0 : (int) (2 * (greatest - least)) + 1];
        int code = 0;
        for (int half = 0; half < codeOfHalf.length; half++) {
            float number = least + half / 2f;
            while (code + 1 < values.length && number >= (values[code] + values[code + 1]) / 2) {
                code++;
            }
            codeOfHalf[half] = (byte) code;
        }
    }

    /** All integers from one to another. */
    static Levels range(int least, int greatest) {
        var values = new float[greatest - least + 1];
        for (int i = 0; i < values.length; i++) {
            values[i] = least + i;
        }
        return new Levels(values, true);
    }

    /** Some integers: what lies between two of them, and where the one ends, are halves. */
    static Levels of(float... ascending) {
        return new Levels(ascending, false);
    }

    /** The code of the nearest value. */
    int code(float number) {
        float above = number - least; // of a number that is none, the comparisons below are false
        if (isLinear) {
            return above > 0 ? Codes.nearest(Math.min(number, greatest)) - (int) least : 0;
        }
        return above > 0 ? codeOfHalf[(int) Math.min(2 * above, codeOfHalf.length - 1)] : 0;
    }

    /** The nearest value itself. */
    float nearest(float number) {
        if (isLinear) {
            float above = number < least ? least : number;
            float bounded = above > greatest ? greatest : above;
            return (bounded + Codes.ROUNDING) - Codes.ROUNDING;
        }
        return values[code(number)];
    }

    float value(int code) {
        return values[code];
    }

    /** The value of the greatest magnitude. */
    float far() {
        return Math.abs(least) >= Math.abs(greatest) ? least : greatest;
    }

    /** The mean distance of neighbours, as a part of {@link #far}. */
    float step() {
        return (greatest - least) / (values.length - 1) / Math.abs(far());
    }
}
