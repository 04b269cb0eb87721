package roselle.jinja.operation;

import java.math.BigInteger;
import roselle.jinja.text.FloatText;
import roselle.jinja.text.Limits;
import roselle.jinja.text.NumberText;
import roselle.jinja.text.Numbers;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.text.Text;
import roselle.jinja.value.Markup;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Types;

/**
 * Python's format specification, as in {@code '{:>8.2f}'}.
 *
 * @param align one of {@code <>^=}, or 0
 * @param sign one of {@code +- }
 * @param grouping {@code ,} or {@code _}, or 0
 * @param precision -1 where there is none
 * @param type 0 where there is none
 */
record FormatSpecification(
        String fill, char align, char sign, boolean alternate, int width, char grouping, int precision, char type) {
    private static final int MAX_DIGITS = 1_000;

    static String format(Rendering rendering, Object value, String specification) {
        if (specification.isEmpty()) {
            return PythonText.string(rendering, value);
        }
        var parsed = new Parser(specification).parse();
        return switch (value) {
            case String text -> parsed.text(rendering, text);
            case Markup(String text) -> parsed.text(rendering, text);
            case Double number -> parsed.number(rendering, number);
            default -> {
                if (!Numbers.isInteger(value)) {
                    throw new TemplateFault(
                            "unsupported format string '" + specification + "' for " + Types.describe(value));
                }
                yield parsed.integer(rendering, Numbers.big(value));
            }
        };
    }

    private String text(Rendering rendering, String text) {
        if ((type != 0 && type != 's') || sign != '-' || grouping != 0 || alternate || align == '=') {
            throw unknown("str");
        }
        String cut = precision < 0 ? text : Text.slice(text, 0, precision);
        return pad(rendering, "", cut, align == 0 ? '<' : align);
    }

    private String integer(Rendering rendering, BigInteger number) {
        if ("eEfFgG%".indexOf(type) >= 0 && type != 0) {
            return number(rendering, Numbers.real(number));
        }
        if (precision >= 0) {
            throw new TemplateFault("precision is not allowed in the format of an integer");
        }
        String prefix = number.signum() < 0 ? "-" : sign == '-' ? "" : String.valueOf(sign);
        return switch (type) {
            case 0, 'd', 'n' -> digits(rendering, prefix, PythonText.integer(rendering, number.abs()), 3);
            case 'b' ->
                digits(rendering, prefix + (alternate ? "0b" : ""), number.abs().toString(2), 4);
            case 'o' ->
                digits(rendering, prefix + (alternate ? "0o" : ""), number.abs().toString(8), 4);
            case 'x' ->
                digits(rendering, prefix + (alternate ? "0x" : ""), number.abs().toString(16), 4);
            case 'X' ->
                digits(
                        rendering,
                        prefix + (alternate ? "0X" : ""),
                        Text.upper(number.abs().toString(16)),
                        4);
            case 'c' -> pad(rendering, "", character(number), align == 0 ? '<' : align);
            default -> throw unknown("int");
        };
    }

    private String number(Rendering rendering, double number) {
        String prefix = number < 0 || 1 / number < 0 ? "-" : sign == '-' ? "" : String.valueOf(sign);
        double size = Math.abs(number);
        int places = precision < 0 ? 6 : precision;
        String text = switch (type) {
            case 0 -> precision < 0 ? FloatText.of(size) : NumberText.general(size, precision, true, false);
            case 'f', 'F' -> NumberText.fixed(size, places, alternate);
            case 'e', 'E' -> NumberText.scientific(size, places, alternate);
            case 'g', 'G', 'n' -> NumberText.general(size, places, false, alternate);
            case '%' -> NumberText.fixed(size * 100, places, alternate) + "%";
            default -> throw unknown("float");
        };
        String cased = Character.isUpperCase(type) ? Text.upper(text) : text;
        return digits(rendering, prefix, cased, 3);
    }

    private static String character(BigInteger number) {
        if (number.signum() < 0 || number.bitLength() > 21 || !Character.isValidCodePoint(number.intValue())) {
            throw new TemplateFault("the number is not a character: it must be in range(0x110000)");
        }
        return Character.toString(number.intValue());
    }

    private String digits(Rendering rendering, String prefix, String digits, int group) {
        char side = align == 0 ? '>' : align;
        if (grouping == 0) {
            return pad(rendering, prefix, digits, side);
        }
        if (group == 4 && grouping == ',') {
            throw new TemplateFault("cannot specify ',' with '" + type + "'");
        }
        int whole = NumberText.wholeDigits(digits);
        String grouped = NumberText.group(digits, whole, grouping, group);
        if (side == '=' && fill.equals("0")) {
            // Zeros take part in the grouping: widen the whole digits until the field is full.
            String widened = digits;
            while (prefix.length()
                                    + NumberText.group("0" + widened, whole + 1, grouping, group)
                                            .length()
                            <= width
                    || prefix.length() + grouped.length() < width) {
                rendering.chargeText(width);
                widened = "0" + widened;
                whole++;
                grouped = NumberText.group(widened, whole, grouping, group);
            }
        }
        return pad(rendering, prefix, grouped, side);
    }

    private String pad(Rendering rendering, String prefix, String text, char side) {
        int missing = Math.max(0, width - Text.length(prefix) - Text.length(text));
        int left = side == '^' ? missing / 2 : side == '<' ? 0 : missing;
        String before = TextMethods.pad(rendering, fill, left);
        String after = TextMethods.pad(rendering, fill, missing - left);
        return side == '=' ? prefix + before + text : before + prefix + text + after;
    }

    private TemplateFault unknown(String kind) {
        return new TemplateFault("the format specification does not fit an object of type '" + kind + "'");
    }

    /** Reads a specification from left to right. */
    private static final class Parser {
        private final String text;
        private int at;

        Parser(String text) {
            this.text = text;
        }

        FormatSpecification parse() {
            String fill = " ";
            char align = 0;
            int first = text.offsetByCodePoints(0, 1);
            if (first < text.length() && "<>^=".indexOf(text.charAt(first)) >= 0) {
                fill = text.substring(0, first);
                align = text.charAt(first);
                at = first + 1;
            } else if ("<>^=".indexOf(text.charAt(0)) >= 0) {
                align = text.charAt(at++);
            }
            char sign = oneOf("+- ");
            boolean alternate = oneOf("#") != 0;
            boolean zero = oneOf("0") != 0;
            if (zero && align == 0) {
                fill = "0";
                align = '=';
            } else if (zero && fill.equals(" ")) {
                fill = "0";
            }
            int width = Math.max(number(Limits.DEFAULT.textCharacters()), 0);
            char grouping = oneOf(",_");
            int precision = oneOf(".") == 0 ? -1 : number(MAX_DIGITS);
            char type = at < text.length() ? text.charAt(at++) : 0;
            if (at < text.length()) {
                throw new TemplateFault("invalid format specifier '" + text + "'");
            }
            return new FormatSpecification(
                    fill, align, sign == 0 ? '-' : sign, alternate, width, grouping, precision, type);
        }

        private char oneOf(String characters) {
            boolean found = at < text.length() && characters.indexOf(text.charAt(at)) >= 0;
            return found ? text.charAt(at++) : 0;
        }

        private int number(int most) {
            int start = at;
            int number = 0;
            while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
                number = number * 10 + text.charAt(at++) - '0';
                if (number > most) {
                    throw new TemplateFault("a number in the format specifier exceeds the limit of " + most);
                }
            }
            if (start == at && start > 0 && text.charAt(start - 1) == '.') {
                throw new TemplateFault("format specifier is missing precision");
            }
            return number;
        }
    }
}
