package roselle.gotemplate.run;

import java.util.List;
import roselle.gotemplate.value.Dictionary;
import roselle.gotemplate.value.Nil;
import roselle.gotemplate.value.Printing;
import roselle.gotemplate.value.Slice;
import roselle.gotemplate.value.Spelling;
import roselle.gotemplate.value.Struct;
import roselle.gotemplate.value.Values;
import roselle.jinja.text.NumberText;
import roselle.jinja.text.TemplateFault;

/** Go's {@code printf}: its usual verbs, flags, widths and precisions; values of wrong types are refused. */
final class Format {
    private static final int WIDEST = 1000;

    private final String format;
    private final List<Object> arguments;
    private final Budget budget;
    private final StringBuilder out = new StringBuilder();
    private int at;
    private int used;

    private Format(String format, List<Object> arguments, Budget budget) {
        this.format = format;
        this.arguments = arguments;
        this.budget = budget;
    }

    static String print(String format, List<Object> arguments, Budget budget) {
        var print = new Format(format, arguments, budget);
        print.all();
        return print.out.toString();
    }

    private void all() {
        while (at < format.length()) {
            int verb = format.indexOf('%', at);
            int end = verb < 0 ? format.length() : verb;
            out.append(format, at, end);
            at = end;
            if (verb >= 0) {
                at++;
                verb();
            }
        }
        if (used < arguments.size()) {
            throw new TemplateFault("printf has more values than its text has verbs");
        }
    }

    private void verb() {
        int begin = at;
        while (at < format.length() && "+-# 0".indexOf(format.charAt(at)) >= 0) {
            at++;
        }
        String flags = format.substring(begin, at);
        int width = number(0);
        int precision = -1;
        if (format.startsWith(".", at)) {
            at++;
            precision = number(0);
        }
        if (at >= format.length()) {
            throw new TemplateFault("printf's text ends within a verb");
        }
        char verb = format.charAt(at++);
        if (verb == '%') {
            out.append('%');
            return;
        }
        if (used >= arguments.size()) {
            throw new TemplateFault("printf has no value for %" + verb);
        }
        Object value = arguments.get(used++);
        boolean isBare = verb == 'v' && width == 0 && precision < 0;
        if (!isBare && !isAtom(value)) {
            throw new TemplateFault("printf writes a " + Values.type(value) + " with %v alone");
        }
        pad(flags, width, text(verb, flags, precision, value), verb);
    }

    /** What is written in one piece: each part of a list would have a width of its own. */
    private static boolean isAtom(Object value) {
        return switch (value) {
            case Slice slice -> slice.spelling() == Spelling.JSON || slice.spelling() == Spelling.ONE_AS_TEXT;
            case Struct struct -> struct.spelling() == Spelling.JSON;
            case Dictionary _ -> false;
            default -> true;
        };
    }

    private int number(int otherwise) {
        int begin = at;
        while (at < format.length() && Character.isDigit(format.charAt(at)) && at - begin < 5) {
            at++;
        }
        int number = begin == at ? otherwise : Integer.parseInt(format.substring(begin, at));
        if (number > WIDEST) {
            throw new TemplateFault("printf pads to at most " + WIDEST + " characters");
        }
        return number;
    }

    private void pad(String flags, int width, String text, char verb) {
        int missing = Math.max(0, width - text.codePointCount(0, text.length()));
        budget.charge(text.length() + (long) missing);
        if (flags.contains("-")) {
            out.append(text).repeat(' ', missing);
        } else if (flags.contains("0") && verb != 'v' && verb != 's' && verb != 'q') {
            int sign = text.startsWith("-") || text.startsWith("+") ? 1 : 0;
            out.append(text, 0, sign).repeat('0', missing).append(text, sign, text.length());
        } else {
            out.repeat(' ', missing).append(text);
        }
    }

    private static String text(char verb, String flags, int precision, Object value) {
        return switch (verb) {
            case 'v' -> plain(flags, value);
            case 's' -> cut(string(verb, value), precision);
            case 'q' -> Escapes.quoted(of(String.class, verb, value));
            case 't' -> String.valueOf(of(Boolean.class, verb, value));
            case 'T' -> throw unknown(verb);
            case 'd' -> signed(flags, of(Long.class, verb, value), 10);
            case 'x' -> hex(flags, verb, value);
            case 'X' -> hex(flags, verb, value).toUpperCase(java.util.Locale.ROOT);
            case 'o' -> signed(flags, of(Long.class, verb, value), 8);
            case 'b' -> signed(flags, of(Long.class, verb, value), 2);
            case 'c' -> Character.toString(Math.toIntExact(of(Long.class, verb, value)));
            case 'e', 'f', 'g' -> real(flags, verb, precision, of(Double.class, verb, value));
            default -> throw unknown(verb);
        };
    }

    private static TemplateFault unknown(char verb) {
        return new TemplateFault("printf has no verb %" + verb + " here");
    }

    private static String plain(String flags, Object value) {
        if (flags.contains("#")) {
            throw unknown('#');
        }
        return value instanceof Long number ? signed(flags, number, 10) : Printing.argument(value);
    }

    private static <T> T of(Class<T> type, char verb, Object value) {
        if (!type.isInstance(value)) {
            throw new TemplateFault("printf's %" + verb + " takes no " + Values.type(value));
        }
        return type.cast(value);
    }

    private static String string(char verb, Object value) {
        if (value instanceof Boolean || value instanceof Long || value instanceof Double || value == Nil.NIL) {
            throw new TemplateFault("printf's %" + verb + " takes no " + Values.type(value));
        }
        return Printing.argument(value);
    }

    private static String cut(String text, int precision) {
        boolean isLonger = precision >= 0 && text.codePointCount(0, text.length()) > precision;
        return isLonger ? text.substring(0, text.offsetByCodePoints(0, precision)) : text;
    }

    private static String signed(String flags, long number, int base) {
        String sign = number >= 0 && flags.contains("+") ? "+" : number >= 0 && flags.contains(" ") ? " " : "";
        return sign + Long.toString(number, base);
    }

    private static String hex(String flags, char verb, Object value) {
        if (value instanceof String text) {
            return java.util.HexFormat.of().formatHex(Values.bytes(text));
        }
        return signed(flags, of(Long.class, verb, value), 16);
    }

    private static String real(String flags, char verb, int precision, double number) {
        String sign = number < 0 ? "-" : flags.contains("+") ? "+" : "";
        double size = Math.abs(number);
        int places = precision < 0 ? 6 : precision;
        return sign
                + switch (verb) {
                    case 'f' -> NumberText.fixed(size, places, false);
                    case 'e' -> NumberText.scientific(size, places, false);
                    default ->
                        precision < 0 ? Printing.argument(size) : NumberText.general(size, precision, false, false);
                };
    }
}
