package roselle.gotemplate.value;

import roselle.jinja.text.TemplateFault;
import roselle.jinja.text.Text;

/** Compares values of one basic type, as Go's templates do; others are refused. */
public final class Comparison {
    private Comparison() {}

    public static boolean areEqual(Object left, Object right) {
        if (left == Nil.NIL || right == Nil.NIL) {
            return left.equals(right);
        }
        if (!isBasic(left) && !isBasic(right)) {
            throw new TemplateFault("values of types " + types(left, right) + " cannot be compared");
        }
        requireSameType(left, right);
        return left.equals(right)
                || (left instanceof Double one && right instanceof Double other && isSame(one, other));
    }

    @SuppressWarnings("UnboxedEquality") // they are unboxed: zeros of both signs are equal
    private static boolean isSame(double one, double other) {
        return one == other;
    }

    /** Negative, zero or positive as the left is less, equal or greater. */
    public static int order(Object left, Object right) {
        if (!isBasic(left) || !isBasic(right) || left instanceof Boolean) {
            throw new TemplateFault("values of types " + types(left, right) + " have no order");
        }
        requireSameType(left, right);
        return switch (left) {
            case Long number -> number.compareTo((Long) right);
            case Double number -> isSame(number, (Double) right) ? 0 : number.compareTo((Double) right);
            default -> Text.compare((String) left, (String) right);
        };
    }

    private static boolean isBasic(Object value) {
        return value instanceof Boolean || value instanceof Long || value instanceof Double || value instanceof String;
    }

    private static void requireSameType(Object left, Object right) {
        if (left.getClass() != right.getClass()) {
            throw new TemplateFault("incompatible types for comparison: " + types(left, right));
        }
    }

    private static String types(Object left, Object right) {
        return Values.type(left) + " and " + Values.type(right);
    }
}
