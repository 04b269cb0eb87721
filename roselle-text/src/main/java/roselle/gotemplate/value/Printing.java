package roselle.gotemplate.value;

import java.math.BigDecimal;
import java.util.List;
import roselle.jinja.text.FloatText;

/** Values as Go's {@code fmt} prints them with {@code %v}. */
public final class Printing {
    private Printing() {}

    /** A value that a template prints by itself. */
    public static String alone(Object value) {
        if (value == Nil.NIL) {
            return "<no value>";
        }
        boolean isJson = spelling(value) == Spelling.JSON_ALONE;
        return isJson ? Json.write(value) : argument(value);
    }

    /** A value that a template gives to a function which prints it. */
    public static String argument(Object value) {
        var out = new StringBuilder();
        write(value, out, 0);
        return out.toString();
    }

    /** All as a text that is to be escaped. */
    public static String escapable(List<Object> values) {
        return all(values.stream()
                .map(value -> value == Nil.NIL ? "<no value>" : value)
                .toList());
    }

    /** All, with a space between two neighbours neither of which is text. */
    public static String all(List<Object> values) {
        var out = new StringBuilder();
        for (int index = 0; index < values.size(); index++) {
            boolean isApart =
                    index > 0 && !(values.get(index) instanceof String) && !(values.get(index - 1) instanceof String);
            out.append(isApart ? " " : "");
            write(values.get(index), out, 0);
        }
        return out.toString();
    }

    /** All, with spaces between them, as a line. */
    public static String line(List<Object> values) {
        var out = new StringBuilder();
        spaced(values, out, -1);
        return out.append('\n').toString();
    }

    private static Spelling spelling(Object value) {
        return switch (value) {
            case Slice slice -> slice.spelling();
            case Dictionary dictionary -> dictionary.spelling();
            case Struct struct -> struct.spelling();
            default -> Spelling.PLAIN;
        };
    }

    private static void write(Object value, StringBuilder out, int depth) {
        Values.requireRoom(out, depth);
        if (spelling(value) == Spelling.JSON) {
            out.append(Json.write(value));
            return;
        }
        switch (value) {
            case Slice one
            when one.spelling() == Spelling.ONE_AS_TEXT && one.items().size() < 2 ->
                one.items().forEach(out::append);
            case Slice slice -> {
                out.append('[');
                spaced(slice.items(), out, depth);
                out.append(']');
            }
            case Dictionary dictionary -> writeMap(dictionary, out, depth);
            case Struct struct -> {
                out.append('{');
                spaced(struct.fields().stream().map(Struct.Field::value).toList(), out, depth);
                out.append('}');
            }
            case Double number -> out.append(decimal(number));
            case Nil _ -> out.append("<nil>");
            default -> out.append(value);
        }
    }

    private static void spaced(List<Object> values, StringBuilder out, int depth) {
        for (int index = 0; index < values.size(); index++) {
            out.append(index > 0 ? " " : "");
            write(values.get(index), out, depth + 1);
        }
    }

    private static void writeMap(Dictionary dictionary, StringBuilder out, int depth) {
        out.append("map[");
        String separator = "";
        for (var entry : dictionary.entries().entrySet()) {
            out.append(separator).append(entry.getKey()).append(':');
            write(entry.getValue(), out, depth + 1);
            separator = " ";
        }
        out.append(']');
    }

    /** The shortest decimal that reads back as the number, with an exponent below 1e-4 and from 1e6 on. */
    static String decimal(double value) {
        if (!Double.isFinite(value)) {
            return Double.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
        }
        return decimal(value, -4, 6, 2);
    }

    /**
     * The shortest decimal that reads back as the number.
     *
     * @param least exponent that is not written
     * @param most exponent below which none is written
     * @param exponentDigits that an exponent has at least
     */
    static String decimal(double value, int least, int most, int exponentDigits) {
        String sign = value < 0 || (value == 0 && 1 / value < 0) ? "-" : "";
        if (value == 0) {
            return sign + "0";
        }
        var shortest = new BigDecimal(FloatText.of(Math.abs(value))).stripTrailingZeros();
        int exponent = shortest.precision() - shortest.scale() - 1;
        if (exponent >= least && exponent < most) {
            return sign + shortest.toPlainString();
        }
        String digits = shortest.unscaledValue().toString();
        String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
        String size = Integer.toString(Math.abs(exponent));
        return sign
                + digits.charAt(0)
                + fraction
                + (exponent < 0 ? "e-" : "e+")
                + "0".repeat(Math.max(0, exponentDigits - size.length()))
                + size;
    }
}
