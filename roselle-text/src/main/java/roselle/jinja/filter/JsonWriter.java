package roselle.jinja.filter;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import roselle.jinja.operation.TextMethods;
import roselle.jinja.text.FloatText;
import roselle.jinja.text.Limits;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Arguments;
import roselle.jinja.value.Bound;
import roselle.jinja.value.Comparison;
import roselle.jinja.value.Dictionary;
import roselle.jinja.value.Iteration;
import roselle.jinja.value.Markup;
import roselle.jinja.value.None;
import roselle.jinja.value.Parameters;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Tuple;
import roselle.jinja.value.Types;

/** The filter {@code tojson}: JSON as Python's {@code json.dumps} writes it, without escapes for HTML. */
final class JsonWriter {
    private static final Parameters PARAMETERS =
            Parameters.of("tojson", "ensure_ascii? indent? separators? sort_keys?");

    private final Rendering rendering;
    private final boolean isAscii;
    private final boolean isSorted;
    private final boolean isIndented;
    private final String indent;
    private final String itemSeparator;
    private final String keySeparator;
    private final StringBuilder json = new StringBuilder();
    private int depth;

    private JsonWriter(Rendering rendering, Bound arguments) {
        this.rendering = rendering;
        isAscii = arguments.truth(0, false);
        isIndented = arguments.isSet(1);
        indent = indent(rendering, arguments);
        isSorted = arguments.truth(3, false);
        if (arguments.isSet(2)) {
            var separators = Iteration.list(rendering, arguments.at(2));
            if (separators.size() != 2 || !separators.stream().allMatch(Types::isText)) {
                throw arguments.wrong(2, "a pair of strings");
            }
            itemSeparator = PythonText.string(rendering, separators.get(0));
            keySeparator = PythonText.string(rendering, separators.get(1));
        } else {
            itemSeparator = isIndented ? "," : ", ";
            keySeparator = ": ";
        }
    }

    static Object filter(Rendering rendering, Object value, Arguments arguments) {
        var writer = new JsonWriter(rendering, PARAMETERS.bind(arguments));
        writer.write(value);
        return writer.json.toString();
    }

    private static String indent(Rendering rendering, Bound arguments) {
        if (!arguments.isSet(1)) {
            return "";
        }
        return Types.isText(arguments.at(1))
                ? arguments.text(1)
                : TextMethods.pad(rendering, " ", arguments.integer(1));
    }

    private void write(Object value) {
        rendering.step();
        if (++depth > Limits.DATA_DEPTH) {
            throw new TemplateFault("tojson: the value is nested too deeply");
        }
        switch (value) {
            case String text -> quote(text);
            case Markup(String text) -> quote(text);
            case Dictionary dictionary -> writeObject(dictionary);
            case List<?> list -> writeArray(list);
            case Tuple tuple -> writeArray(tuple.items());
            default -> append(scalar(value, "Object of type " + Types.name(value) + " is not JSON serializable"));
        }
        depth--;
    }

    private String scalar(Object value, String otherwise) {
        return switch (value) {
            case Long number -> number.toString();
            case BigInteger number -> PythonText.integer(rendering, number);
            case Boolean truth -> truth ? "true" : "false";
            case None _ -> "null";
            case Double number when number.isNaN() -> "NaN";
            case Double number when number.isInfinite() -> number > 0 ? "Infinity" : "-Infinity";
            case Double number -> FloatText.of(number);
            default -> throw new TemplateFault("tojson: " + otherwise);
        };
    }

    private void append(String part) {
        json.append(part);
        rendering.charge(part.length() + 1L);
    }

    private void writeArray(List<?> list) {
        if (list.isEmpty()) {
            append("[]");
            return;
        }
        append("[");
        boolean first = true;
        for (Object member : list) {
            separate(first);
            first = false;
            write(member);
        }
        end("]");
    }

    private void writeObject(Dictionary dictionary) {
        if (dictionary.size() == 0) {
            append("{}");
            return;
        }
        append("{");
        boolean first = true;
        for (var entry : entries(dictionary)) {
            separate(first);
            first = false;
            quote(
                    Types.isText(entry.key())
                            ? PythonText.string(rendering, entry.key())
                            : scalar(entry.key(), "keys must be str, int, float, bool or None"));
            append(keySeparator);
            write(entry.value());
        }
        end("}");
    }

    private List<Dictionary.Entry> entries(Dictionary dictionary) {
        var entries = new ArrayList<>(dictionary.entries());
        if (!isSorted) {
            return entries;
        }
        var sorted = new ArrayList<Dictionary.Entry>();
        for (Object entry : Comparison.sort(rendering, new ArrayList<>(entries), dictionary.keys(), false)) {
            sorted.add((Dictionary.Entry) entry);
        }
        return sorted;
    }

    private void separate(boolean first) {
        if (!first) {
            append(itemSeparator);
        }
        newLine(depth);
    }

    private void end(String close) {
        newLine(depth - 1);
        append(close);
    }

    private void newLine(int level) {
        if (isIndented) {
            rendering.chargeText((long) indent.length() * level);
            json.append('\n').repeat(indent, level);
        }
    }

    private void quote(String text) {
        rendering.chargeText(text.length());
        json.append('"');
        int copied = 0;
        for (int i = 0; i < text.length(); i++) {
            char unit = text.charAt(i);
            if (unit < ' ' || unit == '"' || unit == '\\' || (isAscii && unit > '~')) {
                json.append(text, copied, i);
                escape(unit);
                copied = i + 1;
            }
        }
        json.append(text, copied, text.length()).append('"');
    }

    private void escape(char unit) {
        switch (unit) {
            case '"' -> json.append("\\\"");
            case '\\' -> json.append("\\\\");
            case '\n' -> json.append("\\n");
            case '\r' -> json.append("\\r");
            case '\t' -> json.append("\\t");
            case '\f' -> json.append("\\f");
            case '\b' -> json.append("\\b");
            default -> json.append(String.format("\\u%04x", (int) unit));
        }
    }
}
