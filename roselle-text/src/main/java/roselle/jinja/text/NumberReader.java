package roselle.jinja.text;

import java.math.BigInteger;
import java.util.Optional;
import java.util.OptionalDouble;

/** Reads numbers from text as Python's {@code int()} and {@code float()} do. */
public final class NumberReader {
    private NumberReader() {}

    /** An integer in a base of 2 to 36; base 0 takes it from the prefix. */
    public static Optional<BigInteger> integer(String text, int base) {
        String digits = Text.strip(text, Text::isSpace);
        boolean negative = digits.startsWith("-");
        digits = negative || digits.startsWith("+") ? digits.substring(1) : digits;
        int prefixed = prefixedBase(digits);
        int radix = base == 0 ? (prefixed == 0 ? 10 : prefixed) : base;
        if (radix < 2 || radix > 36) {
            return Optional.empty();
        }
        if (prefixed == radix) {
            digits = digits.substring(digits.startsWith("_", 2) ? 3 : 2);
        } else if (base == 0 && digits.length() > 1 && digits.startsWith("0") && !isZero(digits)) {
            return Optional.empty();
        }
        if (!isNumeral(digits, radix) || digits.length() > Limits.PRINTED_DIGITS) {
            return Optional.empty();
        }
        var number = new BigInteger(ascii(digits, radix), radix);
        return Optional.of(negative ? number.negate() : number);
    }

    public static OptionalDouble real(String text) {
        String number = Text.strip(text, Text::isSpace);
        boolean signed = number.startsWith("-") || number.startsWith("+");
        String size = Text.lower(signed ? number.substring(1) : number);
        double sign = number.startsWith("-") ? -1 : 1;
        return switch (size) {
            case "inf", "infinity" -> OptionalDouble.of(sign * Double.POSITIVE_INFINITY);
            case "nan" -> OptionalDouble.of(Double.NaN);
            default ->
                isReal(size) ? OptionalDouble.of(sign * Double.parseDouble(ascii(size, 10))) : OptionalDouble.empty();
        };
    }

    private static int prefixedBase(String digits) {
        if (digits.length() < 3 || digits.charAt(0) != '0') {
            return 0;
        }
        return switch (Character.toLowerCase(digits.charAt(1))) {
            case 'x' -> 16;
            case 'o' -> 8;
            case 'b' -> 2;
            default -> 0;
        };
    }

    private static boolean isZero(String digits) {
        return digits.chars().allMatch(unit -> unit == '0' || unit == '_');
    }

    /** Digits, with single underscores between them. */
    private static boolean isNumeral(String digits, int radix) {
        boolean afterDigit = false;
        for (int i = 0; i < digits.length(); i++) {
            boolean isDigit = Character.digit(digits.charAt(i), radix) >= 0;
            if (!isDigit && !(digits.charAt(i) == '_' && afterDigit)) {
                return false;
            }
            afterDigit = isDigit;
        }
        return afterDigit;
    }

    private static boolean isReal(String size) {
        int exponent = size.indexOf('e');
        String mantissa = exponent < 0 ? size : size.substring(0, exponent);
        String power = exponent < 0 ? "0" : size.substring(exponent + 1);
        power = power.startsWith("-") || power.startsWith("+") ? power.substring(1) : power;
        int point = mantissa.indexOf('.');
        String whole = point < 0 ? mantissa : mantissa.substring(0, point);
        String fraction = point < 0 ? "" : mantissa.substring(point + 1);
        boolean hasDigits = !whole.isEmpty() || !fraction.isEmpty();
        return hasDigits
                && isNumeral(power, 10)
                && (whole.isEmpty() || isNumeral(whole, 10))
                && (fraction.isEmpty() || isNumeral(fraction, 10));
    }

    /** Digits of all scripts as ASCII, without underscores. */
    private static String ascii(String digits, int radix) {
        var ascii = new StringBuilder(digits.length());
        digits.chars().filter(unit -> unit != '_').forEach(unit -> {
            int digit = unit < 128 ? -1 : Character.digit(unit, radix);
            ascii.append(digit < 0 ? (char) unit : Character.forDigit(digit, radix));
        });
        return ascii.toString();
    }
}
