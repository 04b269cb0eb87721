package roselle.tokenizer.format;

/**
 * Decimal numbers as Rust's serde_json reads them: the digits as an integer of 64 bits, scaled by a power of ten. The
 * result may be off by a unit in the last place, and a tokenizer whose scores are compared must be off in the same way.
 */
final class ReferenceNumber {
    private static final int LARGEST_POWER = 308;
    private static final int EXPONENT_LIMIT = 100_000; // beyond it every number is zero or too large

    private ReferenceNumber() {}

    /** The value of a number in JSON's syntax; infinite where it is too large. */
    static double parse(String text) {
        boolean negative = text.startsWith("-");
        long significand = 0;
        int exponent = 0;
        boolean isFull = false; // no further digit fits
        boolean isFraction = false;
        int at = negative ? 1 : 0;
        for (; at < text.length() && text.charAt(at) != 'e' && text.charAt(at) != 'E'; at++) {
            if (text.charAt(at) == '.') {
                isFraction = true;
                continue;
            }
            int digit = text.charAt(at) - '0';
            isFull |= overflows(significand, digit);
            if (isFull) {
                exponent += isFraction ? 0 : 1;
            } else {
                significand = significand * 10 + digit;
                exponent -= isFraction ? 1 : 0;
            }
        }
        double value = scaled(unsigned(significand), exponent + exponentFrom(text, at));
        return negative ? -value : value;
    }

    private static boolean overflows(long significand, int digit) {
        long largest = Long.divideUnsigned(-1L, 10);
        int compared = Long.compareUnsigned(significand, largest);
        return compared > 0 || (compared == 0 && digit > Long.remainderUnsigned(-1L, 10));
    }

    private static double unsigned(long value) {
        if (value >= 0) {
            return value;
        }
        return (double) ((value >>> 1) | (value & 1)) * 2; // the lowest bit keeps the rounding right
    }

    private static int exponentFrom(String text, int at) {
        if (at >= text.length()) {
            return 0;
        }
        char sign = text.charAt(at + 1);
        int value = 0;
        for (int i = at + (sign == '+' || sign == '-' ? 2 : 1); i < text.length(); i++) {
            value = Math.min(EXPONENT_LIMIT, value * 10 + text.charAt(i) - '0');
        }
        return sign == '-' ? -value : value;
    }

    private static double scaled(double significand, int exponent) {
        double value = significand;
        int left = exponent;
        while (left < -LARGEST_POWER && value != 0) {
            value /= 1e308;
            left += LARGEST_POWER;
        }
        if (value == 0 || left > LARGEST_POWER) {
            return value == 0 ? 0 : Double.POSITIVE_INFINITY;
        }
        double power = Double.parseDouble("1e" + Math.abs(left));
        return left < 0 ? value / power : value * power;
    }
}
