package roselle.jinja.value;

import java.math.BigInteger;
import java.util.List;
import roselle.jinja.text.FloatText;
import roselle.jinja.text.Limits;
import roselle.jinja.text.TemplateFault;

/** Python's {@code str()} and {@code repr()}. */
public final class PythonText {
    private static final BigInteger PRINTABLE = BigInteger.TEN.pow(Limits.PRINTED_DIGITS);

    private final Rendering rendering;
    private final StringBuilder text = new StringBuilder();
    private int depth;

    private PythonText(Rendering rendering) {
        this.rendering = rendering;
    }

    public static String string(Rendering rendering, Object value) {
        return switch (value) {
            case String text -> text;
            case Markup(String text) -> text;
            case Undefined _ -> "";
            case Long number -> number.toString();
            default -> representation(rendering, value);
        };
    }

    public static String representation(Rendering rendering, Object value) {
        var writer = new PythonText(rendering);
        writer.write(value);
        return writer.text.toString();
    }

    public static String integer(Rendering rendering, BigInteger number) {
        if (number.abs().compareTo(PRINTABLE) >= 0) {
            throw new TemplateFault("an integer of more than " + Limits.PRINTED_DIGITS + " digits is not printed");
        }
        rendering.charge((long) number.bitLength() * number.bitLength() / 256);
        return number.toString();
    }

    private void write(Object value) {
        rendering.step();
        if (++depth > Limits.DATA_DEPTH) {
            throw new TemplateFault("a value is nested too deeply to be printed");
        }
        switch (value) {
            case String string -> quote(string);
            case Markup(String string) -> {
                append("Markup(");
                quote(string);
                append(")");
            }
            case Long number -> append(number.toString());
            case BigInteger number -> append(integer(rendering, number));
            case Double number -> append(FloatText.of(number));
            case Boolean truth -> append(truth ? "True" : "False");
            case None _ -> append("None");
            case Undefined _ -> append("Undefined");
            case Dictionary dictionary -> writeItems(dictionary);
            case List<?> list -> writeMembers("[", list, "]");
            case Tuple tuple -> writeMembers("(", tuple.items(), tuple.items().size() == 1 ? ",)" : ")");
            case View(String name, var members) -> writeMembers(name + "([", members, "])");
            case Range range -> writeRange(range);
            case Namespace namespace -> {
                append("<Namespace ");
                writeItems(namespace.attributes());
                append(">");
            }
            case Generator generator -> append("<generator object " + generator.name() + ">");
            case Callable callable -> append(callable.representation());
            default -> append("<" + Types.name(value) + " object>");
        }
        depth--;
    }

    private void append(String part) {
        rendering.chargeText(part.length());
        text.append(part);
    }

    private void writeMembers(String open, List<?> members, String close) {
        append(open);
        boolean first = true;
        for (Object member : members) {
            if (!first) {
                append(", ");
            }
            first = false;
            write(member);
        }
        append(close);
    }

    private void writeItems(Dictionary dictionary) {
        append("{");
        boolean first = true;
        for (var entry : dictionary.entries()) {
            if (!first) {
                append(", ");
            }
            first = false;
            write(entry.key());
            append(": ");
            write(entry.value());
        }
        append("}");
    }

    private void writeRange(Range range) {
        String step = range.step() == 1 ? "" : ", " + range.step();
        append("range(" + range.start() + ", " + range.stop() + step + ")");
    }

    private void quote(String string) {
        rendering.chargeText(string.length());
        char quote = string.indexOf('\'') >= 0 && string.indexOf('"') < 0 ? '"' : '\'';
        text.append(quote);
        for (int i = 0; i < string.length(); ) {
            int codePoint = string.codePointAt(i);
            i += Character.charCount(codePoint);
            quoteCharacter(codePoint, quote);
        }
        text.append(quote);
    }

    private void quoteCharacter(int codePoint, char quote) {
        switch (codePoint) {
            case '\n' -> text.append("\\n");
            case '\r' -> text.append("\\r");
            case '\t' -> text.append("\\t");
            case '\\' -> text.append("\\\\");
            default -> {
                if (codePoint == quote) {
                    text.append('\\').append(quote);
                } else if (isPrintable(codePoint)) {
                    text.appendCodePoint(codePoint);
                } else {
                    text.append(escape(codePoint));
                }
            }
        }
    }

    private static String escape(int codePoint) {
        return codePoint < 0x100
                ? String.format("\\x%02x", codePoint)
                : String.format(codePoint < 0x10000 ? "\\u%04x" : "\\U%08x", codePoint);
    }

    public static boolean isPrintable(int codePoint) {
        if (codePoint < 0x7f) {
            return codePoint >= ' ';
        }
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SPACE_SEPARATOR -> false;
            default -> true;
        };
    }
}
