package roselle.jinja.operation;

import java.math.BigInteger;
import java.util.List;
import roselle.jinja.text.Limits;
import roselle.jinja.text.NumberText;
import roselle.jinja.text.Numbers;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.text.Text;
import roselle.jinja.value.Dictionary;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Range;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Tuple;
import roselle.jinja.value.Types;
import roselle.jinja.value.Undefined;

/** Python's {@code text % values}. */
public final class PercentFormat {
    private static final int MAX_DIGITS = 1_000;

    private final Rendering rendering;
    private final String pattern;
    private final Object values;
    private final List<Object> row;
    private final StringBuilder result = new StringBuilder();
    private int at;
    private int used;

    private PercentFormat(Rendering rendering, String pattern, Object values) {
        this.rendering = rendering;
        this.pattern = pattern;
        this.values = values;
        row = values instanceof Tuple tuple ? tuple.items() : List.of(values);
    }

    public static String format(Rendering rendering, String pattern, Object values) {
        return new PercentFormat(rendering, pattern, values).expand();
    }

    /** A representation without characters beyond ASCII. */
    static String ascii(String text) {
        var ascii = new StringBuilder();
        text.codePoints()
                .forEach(codePoint -> ascii.append(
                        codePoint < 0x80
                                ? Character.toString(codePoint)
                                : codePoint < 0x100
                                        ? String.format("\\x%02x", codePoint)
                                        : String.format(codePoint < 0x10000 ? "\\u%04x" : "\\U%08x", codePoint)));
        return ascii.toString();
    }

    private String expand() {
        rendering.charge(pattern.length());
        while (at < pattern.length()) {
            int percent = pattern.indexOf('%', at);
            if (percent < 0) {
                break;
            }
            result.append(pattern, at, percent);
            at = percent + 1;
            String field = field();
            rendering.chargeText(result.length() / 16L + field.length());
            result.append(field);
        }
        result.append(pattern, Math.min(at, pattern.length()), pattern.length());
        // What Python can index by a key counts as a mapping, and nobody asks whether all of it was used.
        boolean isMapping = values instanceof Dictionary
                || values instanceof List
                || values instanceof Range
                || values instanceof Undefined;
        if (used < row.size() && !isMapping) {
            throw new TemplateFault("not all arguments converted during string formatting");
        }
        return result.toString();
    }

    /** What stands between the percent sign and the type. */
    private record Field(String flags, int width, int precision) {
        boolean has(char flag) {
            return flags.indexOf(flag) >= 0;
        }
    }

    private String field() {
        var named = peek() == '(' ? lookup(name()) : null;
        int start = at;
        while (peek() != 0 && "-+ #0".indexOf(peek()) >= 0) {
            at++;
        }
        String flags = pattern.substring(start, at);
        int width = number(Limits.DEFAULT.textCharacters());
        int precision = -1;
        if (peek() == '.') {
            at++;
            precision = Math.max(0, number(MAX_DIGITS));
        }
        while (peek() != 0 && "hlL".indexOf(peek()) >= 0) {
            at++;
        }
        if (peek() == 0) {
            throw new TemplateFault("incomplete format");
        }
        char type = pattern.charAt(at++);
        if (type == '%') {
            return "%";
        }
        var field = new Field(width < 0 ? flags + "-" : flags, Math.abs(width), precision);
        return converted(field, type, named == null ? take() : named);
    }

    private char peek() {
        return at < pattern.length() ? pattern.charAt(at) : 0;
    }

    private String name() {
        int open = 1;
        int start = ++at;
        while (at < pattern.length()) {
            char unit = pattern.charAt(at++);
            open += unit == '(' ? 1 : unit == ')' ? -1 : 0;
            if (open == 0) {
                return pattern.substring(start, at - 1);
            }
        }
        throw new TemplateFault("incomplete format key");
    }

    private Object lookup(String name) {
        if (!(values instanceof Dictionary dictionary)) {
            throw new TemplateFault("format requires a mapping");
        }
        var value = dictionary.find(name);
        if (value == null) {
            throw new TemplateFault("format names '" + name + "', which the mapping does not have");
        }
        return value;
    }

    private Object take() {
        if (used >= row.size()) {
            throw new TemplateFault("not enough arguments for format string");
        }
        return row.get(used++);
    }

    private int number(int most) {
        if (peek() == '*') {
            at++;
            var value = take();
            if (!Numbers.isInteger(value)) {
                throw new TemplateFault("* wants int");
            }
            return Math.clamp(Numbers.clamp(value), -most, most);
        }
        int number = 0;
        while (peek() >= '0' && peek() <= '9') {
            number = number * 10 + peek() - '0';
            at++;
            if (number > most) {
                throw new TemplateFault("a width or precision exceeds the limit of " + most);
            }
        }
        return number;
    }

    private String converted(Field field, char type, Object value) {
        return switch (type) {
            case 's' -> text(field, PythonText.string(rendering, value));
            case 'r' -> text(field, PythonText.representation(rendering, value));
            case 'a' -> text(field, ascii(PythonText.representation(rendering, value)));
            case 'c' -> text(new Field(field.flags(), field.width(), -1), character(value));
            case 'd', 'i', 'u' -> integer(field, wholePart(value, type), 10, "");
            case 'o' -> integer(field, whole(value, type), 8, "0o");
            case 'x', 'X' -> {
                String text = integer(field, whole(value, type), 16, "0x");
                yield type == 'X' ? Text.upper(text) : text;
            }
            case 'e', 'E', 'f', 'F', 'g', 'G' -> real(field, type, value);
            default -> throw new TemplateFault("unsupported format character '" + type + "'");
        };
    }

    private static String character(Object value) {
        if (value instanceof String text && Text.length(text) == 1) {
            return text;
        }
        if (Numbers.isInteger(value) && Character.isValidCodePoint(Numbers.clamp(value))) {
            return Character.toString(Numbers.clamp(value));
        }
        throw new TemplateFault("the format of a character requires an integer or one character");
    }

    private static BigInteger wholePart(Object value, char type) {
        return value instanceof Double number ? Numbers.big(Numbers.truncate(number)) : whole(value, type);
    }

    private static BigInteger whole(Object value, char type) {
        if (value instanceof Undefined undefined) {
            throw undefined.fault();
        }
        if (!Numbers.isInteger(value)) {
            throw new TemplateFault("%" + type + " format: a number is required, not " + Types.name(value));
        }
        return Numbers.big(value);
    }

    private String text(Field field, String text) {
        String cut = field.precision() < 0 ? text : Text.slice(text, 0, field.precision());
        int missing = Math.max(0, field.width() - Text.length(cut));
        String padding = TextMethods.pad(rendering, " ", missing);
        return field.has('-') ? cut + padding : padding + cut;
    }

    private String integer(Field field, BigInteger number, int radix, String prefix) {
        String digits = radix == 10
                ? PythonText.integer(rendering, number.abs())
                : number.abs().toString(radix);
        String zeros = "0".repeat(Math.max(0, field.precision() - digits.length()));
        return signed(field, number.signum() < 0, field.has('#') ? prefix : "", zeros + digits);
    }

    private String real(Field field, char type, Object value) {
        if (value instanceof Undefined undefined) {
            throw undefined.fault();
        }
        if (!Numbers.isNumber(value)) {
            throw new TemplateFault("must be real number, not " + Types.name(value));
        }
        double number = Numbers.real(value);
        double size = Math.abs(number);
        int places = field.precision() < 0 ? 6 : field.precision();
        String digits = switch (Character.toLowerCase(type)) {
            case 'f' -> NumberText.fixed(size, places, field.has('#'));
            case 'e' -> NumberText.scientific(size, places, field.has('#'));
            default -> NumberText.general(size, places, false, field.has('#'));
        };
        return signed(
                field, number < 0 || 1 / number < 0, "", Character.isUpperCase(type) ? Text.upper(digits) : digits);
    }

    private String signed(Field field, boolean negative, String prefix, String digits) {
        String sign = negative ? "-" : field.has('+') ? "+" : field.has(' ') ? " " : "";
        int missing = Math.max(0, field.width() - sign.length() - prefix.length() - digits.length());
        if (field.has('-')) {
            return sign + prefix + digits + TextMethods.pad(rendering, " ", missing);
        }
        return field.has('0')
                ? sign + prefix + TextMethods.pad(rendering, "0", missing) + digits
                : TextMethods.pad(rendering, " ", missing) + sign + prefix + digits;
    }
}
