package roselle.jinja.operation;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import roselle.jinja.text.Numbers;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Markup;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Tuple;
import roselle.jinja.value.Types;
import roselle.jinja.value.Undefined;

/** Python's arithmetic operators. */
public final class Arithmetic {
    /** An operator between two values. */
    public enum Operator {
        ADD("+"),
        SUBTRACT("-"),
        MULTIPLY("*"),
        DIVIDE("/"),
        FLOOR_DIVIDE("//"),
        MODULO("%"),
        POWER("**");

        private final String spelling;

        Operator(String spelling) {
            this.spelling = spelling;
        }
    }

    private static final long EXACT = 1L << 53;

    private Arithmetic() {}

    public static Object apply(Rendering rendering, Operator operator, Object left, Object right) {
        return switch (operator) {
            case ADD -> add(rendering, left, right);
            case SUBTRACT -> subtract(rendering, left, right);
            case MULTIPLY -> multiply(rendering, left, right);
            case DIVIDE -> divide(left, right);
            case FLOOR_DIVIDE -> floorDivide(rendering, left, right);
            case MODULO -> modulo(rendering, left, right);
            case POWER -> power(rendering, left, right);
        };
    }

    public static Object add(Rendering rendering, Object left, Object right) {
        if (left instanceof String first && right instanceof String second) {
            rendering.chargeText((long) first.length() + second.length());
            return first.concat(second);
        }
        if (Numbers.isNumber(left) && Numbers.isNumber(right)) {
            return addNumbers(rendering, left, right);
        }
        if (left instanceof Markup || right instanceof Markup) {
            return addMarkup(rendering, left, right);
        }
        if (left instanceof List<?> first && right instanceof List<?> second) {
            return concatenate(rendering, first, second);
        }
        if (left instanceof Tuple tuple && right instanceof Tuple otherTuple) {
            return new Tuple(concatenate(rendering, tuple.items(), otherTuple.items()));
        }
        throw unsupported(Operator.ADD, left, right);
    }

    public static Object negate(Object value) {
        return switch (value) {
            case Double number -> -number;
            case Long number when number != Long.MIN_VALUE -> -number;
            case Undefined undefined -> throw undefined.fault();
            default -> {
                if (!Numbers.isInteger(value)) {
                    throw new TemplateFault("bad operand type for unary -: '" + Types.name(value) + "'");
                }
                yield Numbers.normal(Numbers.big(value).negate());
            }
        };
    }

    public static Object positive(Object value) {
        if (value instanceof Undefined undefined) {
            throw undefined.fault();
        }
        if (!Numbers.isNumber(value)) {
            throw new TemplateFault("bad operand type for unary +: '" + Types.name(value) + "'");
        }
        return value instanceof Boolean ? (Object) Numbers.small(value) : value;
    }

    private static Object addNumbers(Rendering rendering, Object left, Object right) {
        if (left instanceof Double || right instanceof Double) {
            return Numbers.real(left) + Numbers.real(right);
        }
        if (Numbers.isSmall(left) && Numbers.isSmall(right)) {
            long first = Numbers.small(left);
            long second = Numbers.small(right);
            long sum = first + second;
            if (((first ^ sum) & (second ^ sum)) >= 0) {
                return sum;
            }
        }
        return checked(rendering, Numbers.big(left).add(Numbers.big(right)));
    }

    private static Object addMarkup(Rendering rendering, Object left, Object right) {
        if (!Types.isText(left) || !Types.isText(right)) {
            throw unsupported(Operator.ADD, left, right);
        }
        String text = escaped(left) + escaped(right);
        rendering.chargeText(text.length());
        return new Markup(text);
    }

    private static String escaped(Object value) {
        return value instanceof Markup(String text) ? text : Markup.escape((String) value);
    }

    private static List<Object> concatenate(Rendering rendering, List<?> first, List<?> second) {
        rendering.chargeElements((long) first.size() + second.size());
        var joined = new ArrayList<Object>(first.size() + second.size());
        joined.addAll(first);
        joined.addAll(second);
        return joined;
    }

    private static Object subtract(Rendering rendering, Object left, Object right) {
        requireNumbers(Operator.SUBTRACT, left, right);
        if (left instanceof Double || right instanceof Double) {
            return Numbers.real(left) - Numbers.real(right);
        }
        return checked(rendering, Numbers.big(left).subtract(Numbers.big(right)));
    }

    private static Object multiply(Rendering rendering, Object left, Object right) {
        if (Numbers.isInteger(right) && isSequence(left)) {
            return repeat(rendering, left, times(right));
        }
        if (Numbers.isInteger(left) && isSequence(right)) {
            return repeat(rendering, right, times(left));
        }
        requireNumbers(Operator.MULTIPLY, left, right);
        if (left instanceof Double || right instanceof Double) {
            return Numbers.real(left) * Numbers.real(right);
        }
        var first = Numbers.big(left);
        var second = Numbers.big(right);
        rendering.chargeBits((long) first.bitLength() + second.bitLength());
        return Numbers.normal(first.multiply(second));
    }

    private static boolean isSequence(Object value) {
        return Types.isText(value) || value instanceof List || value instanceof Tuple;
    }

    private static int times(Object count) {
        if (count instanceof BigInteger) {
            throw new TemplateFault("a sequence cannot be repeated that often: the count has more than 64 bits");
        }
        return Numbers.clamp(count);
    }

    private static Object repeat(Rendering rendering, Object value, int times) {
        int count = Math.max(times, 0);
        return switch (value) {
            case Markup(String text) -> new Markup(repeatText(rendering, text, count));
            case String text -> repeatText(rendering, text, count);
            case Tuple tuple -> new Tuple(repeatItems(rendering, tuple.items(), count));
            case List<?> items -> repeatItems(rendering, items, count);
            default -> throw unsupported(Operator.MULTIPLY, value, times);
        };
    }

    private static String repeatText(Rendering rendering, String text, int count) {
        rendering.chargeText((long) text.length() * count);
        return text.repeat(count);
    }

    private static List<Object> repeatItems(Rendering rendering, List<?> items, int count) {
        rendering.chargeElements((long) items.size() * count);
        var repeated = new ArrayList<Object>(items.size() * count);
        for (var copy : Collections.nCopies(items.isEmpty() ? 0 : count, items)) {
            repeated.addAll(copy);
        }
        return repeated;
    }

    private static Object divide(Object left, Object right) {
        requireNumbers(Operator.DIVIDE, left, right);
        requireNonZero(right);
        boolean exact = left instanceof Double || right instanceof Double || (isExact(left) && isExact(right));
        return exact ? Numbers.real(left) / Numbers.real(right) : quotient(Numbers.big(left), Numbers.big(right));
    }

    private static boolean isExact(Object value) {
        return Numbers.isSmall(value) && Math.abs(Numbers.small(value)) <= EXACT;
    }

    /** The quotient of integers that no double holds: enough digits that the last rounding decides. */
    private static double quotient(BigInteger left, BigInteger right) {
        var digits = new MathContext(60, RoundingMode.HALF_EVEN);
        double quotient =
                new BigDecimal(left).divide(new BigDecimal(right), digits).doubleValue();
        if (Double.isInfinite(quotient)) {
            throw new TemplateFault("the quotient of two integers is too large for a float");
        }
        return quotient;
    }

    private static Object floorDivide(Rendering rendering, Object left, Object right) {
        requireNumbers(Operator.FLOOR_DIVIDE, left, right);
        requireNonZero(right);
        if (left instanceof Double || right instanceof Double) {
            return floorDivideReals(Numbers.real(left), Numbers.real(right));
        }
        rendering.chargeBits(
                Math.max(Numbers.big(left).bitLength(), Numbers.big(right).bitLength()));
        var parts = Numbers.big(left).divideAndRemainder(Numbers.big(right));
        boolean below = parts[1].signum() != 0
                && parts[1].signum() != Numbers.big(right).signum();
        return Numbers.normal(below ? parts[0].subtract(BigInteger.ONE) : parts[0]);
    }

    private static double floorDivideReals(double left, double right) {
        double remainder = left % right;
        double quotient = (left - remainder) / right;
        if (remainder != 0 && (right < 0) != (remainder < 0)) {
            quotient -= 1;
        }
        if (quotient == 0) {
            return Math.copySign(0.0, left / right);
        }
        double floor = Math.floor(quotient);
        return quotient - floor > 0.5 ? floor + 1 : floor;
    }

    private static Object modulo(Rendering rendering, Object left, Object right) {
        if (Types.isText(left)) {
            return PercentFormat.format(rendering, PythonText.string(rendering, left), right);
        }
        requireNumbers(Operator.MODULO, left, right);
        requireNonZero(right);
        if (left instanceof Double || right instanceof Double) {
            return moduloReals(Numbers.real(left), Numbers.real(right));
        }
        rendering.chargeBits(
                Math.max(Numbers.big(left).bitLength(), Numbers.big(right).bitLength()));
        var remainder = Numbers.big(left).remainder(Numbers.big(right));
        boolean below = remainder.signum() != 0
                && remainder.signum() != Numbers.big(right).signum();
        return Numbers.normal(below ? remainder.add(Numbers.big(right)) : remainder);
    }

    private static double moduloReals(double left, double right) {
        double remainder = left % right;
        if (remainder == 0) {
            return Math.copySign(0.0, right);
        }
        return (right < 0) == (remainder < 0) ? remainder : remainder + right;
    }

    private static Object power(Rendering rendering, Object left, Object right) {
        requireNumbers(Operator.POWER, left, right);
        boolean integers = Numbers.isInteger(left) && Numbers.isInteger(right);
        if (integers && Numbers.big(right).signum() >= 0) {
            return integerPower(rendering, Numbers.big(left), right);
        }
        double base = Numbers.real(left);
        double exponent = Numbers.real(right);
        if (base == 0 && exponent < 0) {
            throw new TemplateFault("0.0 cannot be raised to a negative power");
        }
        if (base < 0 && Math.rint(exponent) != exponent && !Double.isInfinite(base)) {
            throw new TemplateFault("a negative number raised to a fraction is complex: not supported");
        }
        return realPower(base, exponent);
    }

    private static double realPower(double base, double exponent) {
        // Python follows C, where one to any power is one, even to NaN or infinity.
        double power = base == 1 || (base == -1 && Double.isInfinite(exponent)) ? 1 : Math.pow(base, exponent);
        if (Double.isInfinite(power) && !Double.isInfinite(base) && !Double.isInfinite(exponent)) {
            throw new TemplateFault("the result of ** is too large for a float");
        }
        return power;
    }

    private static Object integerPower(Rendering rendering, BigInteger base, Object exponent) {
        if (base.bitLength() <= 1 && base.signum() >= 0) {
            boolean one = base.signum() == 1 || Numbers.big(exponent).signum() == 0;
            return one ? 1L : 0L;
        }
        if (base.equals(BigInteger.ONE.negate())) {
            return Numbers.big(exponent).testBit(0) ? -1L : 1L;
        }
        int times = Numbers.clamp(exponent);
        rendering.chargeBits((base.bitLength() - 1L) * times);
        return Numbers.normal(base.pow(times));
    }

    private static Object checked(Rendering rendering, BigInteger result) {
        if (result.bitLength() < 64) {
            return result.longValue();
        }
        rendering.chargeBits(result.bitLength());
        return result;
    }

    private static void requireNonZero(Object divisor) {
        boolean zero = divisor instanceof Double number
                ? number == 0
                : Numbers.big(divisor).signum() == 0;
        if (zero) {
            throw new TemplateFault("division by zero");
        }
    }

    private static void requireNumbers(Operator operator, Object left, Object right) {
        if (!Numbers.isNumber(left) || !Numbers.isNumber(right)) {
            throw unsupported(operator, left, right);
        }
    }

    private static TemplateFault unsupported(Operator operator, Object left, Object right) {
        if (left instanceof Undefined undefined) {
            return undefined.fault();
        }
        if (right instanceof Undefined undefined) {
            return undefined.fault();
        }
        return new TemplateFault("unsupported operand type(s) for " + operator.spelling + ": '" + Types.name(left)
                + "' and '" + Types.name(right) + "'");
    }
}
