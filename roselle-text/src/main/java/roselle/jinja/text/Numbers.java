package roselle.jinja.text;

import java.math.BigDecimal;
import java.math.BigInteger;

/** Python's numbers: booleans are integers, integers have any size, floats are doubles. */
public final class Numbers {
    private static final long EXACT = 1L << 53;

    private Numbers() {}

    public static boolean isInteger(Object value) {
        return value instanceof Long || value instanceof Boolean || value instanceof BigInteger;
    }

    public static boolean isNumber(Object value) {
        return value instanceof Double || isInteger(value);
    }

    /** Whether the value is an integer of machine size. */
    public static boolean isSmall(Object value) {
        return value instanceof Long || value instanceof Boolean;
    }

    public static long small(Object value) {
        return value instanceof Long number ? number : (Boolean) value ? 1 : 0;
    }

    public static BigInteger big(Object value) {
        return value instanceof BigInteger number ? number : BigInteger.valueOf(small(value));
    }

    /** An integer cut to the range of an int. */
    public static int clamp(Object integer) {
        if (integer instanceof BigInteger number) {
            return number.signum() < 0 ? Integer.MIN_VALUE : Integer.MAX_VALUE;
        }
        return Math.clamp(small(integer), Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    public static Object normal(BigInteger number) {
        return number.bitLength() < 64 ? (Object) number.longValue() : number;
    }

    public static double real(Object number) {
        if (number instanceof Double real) {
            return real;
        }
        if (number instanceof BigInteger large) {
            double real = large.doubleValue();
            if (Double.isInfinite(real)) {
                throw new TemplateFault("an integer is too large to become a float");
            }
            return real;
        }
        return small(number);
    }

    /** The integer part of a float. */
    public static Object truncate(double real) {
        if (Double.isNaN(real)) {
            throw new TemplateFault("cannot convert float NaN to integer");
        }
        if (Double.isInfinite(real)) {
            throw new TemplateFault("cannot convert float infinity to integer");
        }
        return Math.abs(real) < Long.MAX_VALUE ? (Object) (long) real : normal(new BigDecimal(real).toBigInteger());
    }

    /** Negative, zero or positive; neither number may be NaN. */
    public static int compare(Object left, Object right) {
        if (isSmall(left) && isSmall(right)) {
            return Long.compare(small(left), small(right));
        }
        if (left instanceof Double || right instanceof Double) {
            return compareReals(left, right);
        }
        return big(left).compareTo(big(right));
    }

    public static boolean isNaN(Object value) {
        return value instanceof Double number && number.isNaN();
    }

    private static int compareReals(Object left, Object right) {
        if (isExact(left) && isExact(right)) {
            double first = real(left);
            double second = real(right);
            return first < second ? -1 : first > second ? 1 : 0;
        }
        if (left instanceof Double number && number.isInfinite()) {
            return number > 0 ? 1 : -1;
        }
        if (right instanceof Double number && number.isInfinite()) {
            return number > 0 ? -1 : 1;
        }
        return decimal(left).compareTo(decimal(right));
    }

    private static boolean isExact(Object value) {
        return value instanceof Double || (isSmall(value) && Math.abs(small(value)) <= EXACT);
    }

    private static BigDecimal decimal(Object value) {
        return value instanceof Double number ? new BigDecimal(number) : new BigDecimal(big(value));
    }
}
