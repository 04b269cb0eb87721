package roselle.jinja.value;

import java.math.BigInteger;
import java.util.List;
import roselle.jinja.text.FloatText;

/** Python's names of the types of values. */
public final class Types {
    private Types() {}

    public static String name(Object value) {
        return switch (value) {
            case String _ -> "str";
            case Long _ -> "int";
            case BigInteger _ -> "int";
            case Double _ -> "float";
            case Boolean _ -> "bool";
            case None _ -> "NoneType";
            case Dictionary _ -> "dict";
            case List<?> _ -> "list";
            case Tuple _ -> "tuple";
            case Range _ -> "range";
            case View view -> view.name();
            case Generator _ -> "generator";
            case Undefined _ -> "Undefined";
            case Markup _ -> "Markup";
            case Namespace _ -> "Namespace";
            case Callable callable -> callable.typeName();
            default -> value.getClass().getSimpleName();
        };
    }

    public static String describe(Object value) {
        return value == None.NONE ? "None" : name(value) + " object";
    }

    /** A value as an error message shows it: short. */
    public static String brief(Object value) {
        return switch (value) {
            case String text when text.length() <= 60 -> "'" + text + "'";
            case String text -> "'" + text.substring(0, 60) + "...'";
            case Long number -> number.toString();
            case Double number -> FloatText.of(number);
            case Boolean truth -> truth ? "True" : "False";
            case None _ -> "None";
            default -> "a " + name(value);
        };
    }

    /** Whether two values are one object, as Python's {@code is} asks. */
    @SuppressWarnings("ReferenceEquality")
    public static boolean isIdentical(Object value, Object other) {
        return value == other;
    }

    public static boolean isText(Object value) {
        return value instanceof String || value instanceof Markup;
    }
}
