package roselle.jinja.text;

import java.math.BigDecimal;

/** A float as Python prints it: the fewest digits that read back as the same number. */
public final class FloatText {
    private FloatText() {}

    public static String of(double value) {
        if (Double.isNaN(value)) {
            return "nan";
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        if (value == 0) {
            return Math.copySign(1, value) < 0 ? "-0.0" : "0.0";
        }
        var digits = shortest(Math.abs(value));
        return (value < 0 ? "-" : "") + layout(digits.unscaledValue().toString(), digits.precision() - digits.scale());
    }

    /** The shortest decimal; Java's own may spend a second digit where one suffices. */
    private static BigDecimal shortest(double value) {
        var decimal = new BigDecimal(Double.toString(value)).stripTrailingZeros();
        if (decimal.precision() != 2) {
            return decimal;
        }
        var rounded = decimal.round(new java.math.MathContext(1, java.math.RoundingMode.HALF_EVEN));
        return rounded.doubleValue() == value ? rounded.stripTrailingZeros() : decimal;
    }

    /**
     * Digits with the decimal point in place, or with an exponent where Python writes one.
     *
     * @param point how many digits stand before the point
     */
    private static String layout(String digits, int point) {
        if (point > 16 || point < -3) {
            String fraction = digits.length() == 1 ? "" : "." + digits.substring(1);
            return digits.charAt(0) + fraction + exponent(point - 1);
        }
        if (point <= 0) {
            return "0." + "0".repeat(-point) + digits;
        }
        return digits.length() <= point
                ? digits + "0".repeat(point - digits.length()) + ".0"
                : digits.substring(0, point) + "." + digits.substring(point);
    }

    /** An exponent of at least two digits. */
    static String exponent(int exponent) {
        int size = Math.abs(exponent);
        return (exponent < 0 ? "e-" : "e+") + (size < 10 ? "0" : "") + size;
    }
}
