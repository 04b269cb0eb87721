package roselle.jinja.operation;

import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Arguments;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Rendering;

/** Python's {@code str.format}: fields in braces, looked up as templates look up members. */
final class BraceFormat {
    private static final int NESTED = 2;

    private final Rendering rendering;
    private final Arguments arguments;
    private int automatic;
    private boolean manual;

    private BraceFormat(Rendering rendering, Arguments arguments) {
        this.rendering = rendering;
        this.arguments = arguments;
    }

    static String format(Rendering rendering, String pattern, Arguments arguments) {
        return new BraceFormat(rendering, arguments).expand(pattern, NESTED);
    }

    private String expand(String pattern, int depth) {
        if (depth == 0) {
            throw new TemplateFault("format fields are nested too deeply");
        }
        var result = new StringBuilder();
        int at = 0;
        while (at < pattern.length()) {
            char unit = pattern.charAt(at);
            boolean doubled = at + 1 < pattern.length() && pattern.charAt(at + 1) == unit;
            if (unit != '{' && unit != '}') {
                result.append(unit);
                at++;
            } else if (doubled) {
                result.append(unit);
                at += 2;
            } else if (unit == '}') {
                throw new TemplateFault("single '}' encountered in format string");
            } else {
                int end = fieldEnd(pattern, at + 1);
                String field = field(pattern.substring(at + 1, end), depth);
                rendering.chargeText(result.length() / 16L + field.length());
                result.append(field);
                at = end + 1;
            }
        }
        rendering.chargeText(result.length());
        return result.toString();
    }

    private static int fieldEnd(String pattern, int from) {
        int open = 1;
        for (int i = from; i < pattern.length(); i++) {
            char unit = pattern.charAt(i);
            open += unit == '{' ? 1 : unit == '}' ? -1 : 0;
            if (open == 0) {
                return i;
            }
        }
        throw new TemplateFault("expected '}' before end of format string");
    }

    private String field(String field, int depth) {
        int nameEnd = nameEnd(field);
        char conversion = 0;
        int at = nameEnd;
        if (at < field.length() && field.charAt(at) == '!') {
            if (at + 1 >= field.length() || (at + 2 < field.length() && field.charAt(at + 2) != ':')) {
                throw new TemplateFault("expected ':' after conversion specifier");
            }
            conversion = field.charAt(at + 1);
            at += 2;
        }
        String specification = at < field.length() ? field.substring(at + 1) : "";
        var value = converted(value(field.substring(0, nameEnd)), conversion);
        return FormatSpecification.format(
                rendering, value, specification.isEmpty() ? "" : expand(specification, depth - 1));
    }

    private static int nameEnd(String field) {
        boolean inBrackets = false;
        for (int i = 0; i < field.length(); i++) {
            char unit = field.charAt(i);
            if (unit == '[' || unit == ']') {
                inBrackets = unit == '[';
            } else if (!inBrackets && (unit == '!' || unit == ':')) {
                return i;
            }
        }
        return field.length();
    }

    private Object converted(Object value, char conversion) {
        return switch (conversion) {
            case 0 -> value;
            case 's' -> PythonText.string(rendering, value);
            case 'r' -> PythonText.representation(rendering, value);
            case 'a' -> PercentFormat.ascii(PythonText.representation(rendering, value));
            default -> throw new TemplateFault("unknown conversion specifier '" + conversion + "'");
        };
    }

    private Object value(String path) {
        int at = 0;
        while (at < path.length() && path.charAt(at) != '.' && path.charAt(at) != '[') {
            at++;
        }
        var value = argument(path.substring(0, at));
        while (at < path.length()) {
            rendering.step();
            boolean isAttribute = path.charAt(at) == '.';
            int end = isAttribute ? attributeEnd(path, at + 1) : path.indexOf(']', at);
            if (end < 0 || end == at + 1) {
                throw new TemplateFault("empty attribute or missing ']' in format string");
            }
            String key = path.substring(at + 1, end);
            value = isAttribute
                    ? Attributes.of(rendering, value, key)
                    : Subscripts.item(rendering, value, isNumber(key) ? (Object) number(key) : key);
            at = isAttribute ? end : end + 1;
        }
        return value;
    }

    private static int attributeEnd(String path, int from) {
        int end = from;
        while (end < path.length() && path.charAt(end) != '.' && path.charAt(end) != '[') {
            end++;
        }
        return end;
    }

    private Object argument(String name) {
        if (!name.isEmpty() && !isNumber(name)) {
            var value = arguments.named().get(name);
            if (value == null) {
                throw new TemplateFault("format string names '" + name + "', which was not given");
            }
            return value;
        }
        boolean isManual = !name.isEmpty();
        if (isManual ? automatic > 0 : manual) {
            throw new TemplateFault("cannot switch between manual and automatic field numbering");
        }
        manual = isManual;
        long index = isManual ? number(name) : automatic++;
        if (index >= arguments.positional().size()) {
            throw new TemplateFault(
                    "format string needs more than " + arguments.positional().size() + " argument(s)");
        }
        return arguments.positional().get((int) index);
    }

    private static boolean isNumber(String text) {
        return !text.isEmpty() && text.chars().allMatch(unit -> unit >= '0' && unit <= '9');
    }

    private static long number(String digits) {
        return digits.length() > 9 ? Integer.MAX_VALUE : Long.parseLong(digits);
    }
}
