package roselle.jinja.text;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** Floats with a given number of digits, rounded from their exact value; never negative. */
public final class NumberText {
    private NumberText() {}

    /** As C's {@code %f}. */
    public static String fixed(double value, int places, boolean keepPoint) {
        if (!Double.isFinite(value)) {
            return FloatText.of(value);
        }
        String text =
                new BigDecimal(value).setScale(places, RoundingMode.HALF_EVEN).toPlainString();
        return keepPoint && places == 0 ? text + "." : text;
    }

    /** As C's {@code %e}. */
    public static String scientific(double value, int places, boolean keepPoint) {
        if (!Double.isFinite(value)) {
            return FloatText.of(value);
        }
        var rounded = new BigDecimal(value).round(new MathContext(places + 1, RoundingMode.HALF_EVEN));
        int exponent = value == 0 ? 0 : rounded.precision() - rounded.scale() - 1;
        String digits = padded(rounded, places + 1);
        String fraction = places == 0 ? (keepPoint ? "." : "") : "." + digits.substring(1);
        return digits.charAt(0) + fraction + FloatText.exponent(exponent);
    }

    /**
     * As C's {@code %g}.
     *
     * @param isDefault whether no type was named: then there is a digit after the point, and exponents begin earlier
     */
    public static String general(double value, int precision, boolean isDefault, boolean keepZeros) {
        if (!Double.isFinite(value)) {
            return FloatText.of(value);
        }
        int digits = Math.max(precision, 1);
        var rounded = new BigDecimal(value).round(new MathContext(digits, RoundingMode.HALF_EVEN));
        int exponent = value == 0 ? 0 : rounded.precision() - rounded.scale() - 1;
        if (exponent < -4 || exponent >= digits - (isDefault ? 1 : 0)) {
            String text = scientific(value, digits - 1, keepZeros);
            return keepZeros ? text : stripZeros(text, text.indexOf('e'));
        }
        String text = fixed(value, digits - 1 - exponent, keepZeros);
        String stripped = keepZeros ? text : stripZeros(text, text.length());
        return isDefault && stripped.indexOf('.') < 0 ? stripped + ".0" : stripped;
    }

    /** How many digits stand before the point or exponent. */
    public static int wholeDigits(String digits) {
        int whole = 0;
        while (whole < digits.length()
                && Character.isLetterOrDigit(digits.charAt(whole))
                && digits.charAt(whole) != 'e') {
            whole++;
        }
        return whole;
    }

    public static String group(String digits, int whole, char separator, int size) {
        var grouped = new StringBuilder();
        for (int i = 0; i < whole; i++) {
            if (i > 0 && (whole - i) % size == 0) {
                grouped.append(separator);
            }
            grouped.append(digits.charAt(i));
        }
        return grouped.append(digits, whole, digits.length()).toString();
    }

    private static String padded(BigDecimal value, int digits) {
        String text = value.unscaledValue().toString();
        return text.length() >= digits ? text.substring(0, digits) : text + "0".repeat(digits - text.length());
    }

    private static String stripZeros(String text, int end) {
        if (text.lastIndexOf('.', end) < 0) {
            return text;
        }
        int keep = end;
        while (text.charAt(keep - 1) == '0') {
            keep--;
        }
        keep -= text.charAt(keep - 1) == '.' ? 1 : 0;
        return text.substring(0, keep) + text.substring(end);
    }
}
