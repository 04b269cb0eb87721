package roselle.gotemplate.value;

import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import roselle.jinja.text.TemplateFault;

/** Values as Go's {@code encoding/json} writes them: no spaces, keys of maps sorted, letters of HTML escaped. */
public final class Json {
    private final StringBuilder out = new StringBuilder();

    private Json() {}

    public static String write(Object value) {
        var json = new Json();
        json.write(value, 0);
        return json.out.toString();
    }

    private void write(Object value, int depth) {
        Values.requireRoom(out, depth);
        switch (value) {
            case String text -> quote(text);
            case Double number -> out.append(decimal(number));
            case Slice one
            when one.spelling() == Spelling.ONE_AS_TEXT && one.items().size() == 1 ->
                write(one.items().getFirst(), depth);
            case Slice slice when slice.isNull() -> out.append("null");
            case Slice slice -> array(slice.items(), depth);
            case Dictionary dictionary -> object(dictionary, depth);
            case Struct struct -> object(struct, depth);
            case Nil _ -> out.append("null");
            default -> out.append(value);
        }
    }

    private static String decimal(double number) {
        if (!Double.isFinite(number)) {
            throw new TemplateFault("JSON has no number " + number);
        }
        return Printing.decimal(number, -6, 21, 1);
    }

    private void array(List<Object> items, int depth) {
        out.append('[');
        for (int index = 0; index < items.size(); index++) {
            out.append(index > 0 ? "," : "");
            write(items.get(index), depth + 1);
        }
        out.append(']');
    }

    private void object(Dictionary dictionary, int depth) {
        out.append('{');
        String separator = "";
        for (Map.Entry<String, Object> entry : dictionary.entries().entrySet()) {
            member(separator, entry.getKey(), entry.getValue(), depth);
            separator = ",";
        }
        out.append('}');
    }

    private void object(Struct struct, int depth) {
        out.append('{');
        String separator = "";
        for (Struct.Field field : struct.fields()) {
            if (!field.isLeftOutEmpty() || says(field.value())) {
                member(separator, field.key(), field.value(), depth);
                separator = ",";
            }
        }
        out.append('}');
    }

    /** What is not empty in JSON's sense of Go: a value with fields always says something. */
    private static boolean says(Object value) {
        return Values.isTrue(value);
    }

    private void member(String separator, String key, Object value, int depth) {
        out.append(separator);
        quote(key);
        out.append(':');
        write(value, depth + 1);
    }

    private void quote(String text) {
        out.append('"');
        for (int at = 0; at < text.length(); at++) {
            char letter = text.charAt(at);
            switch (letter) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                case '<', '>', '&', '\u2028', '\u2029' -> escape(letter);
                default -> {
                    if (letter < ' ') {
                        escape(letter);
                    } else {
                        out.append(letter);
                    }
                }
            }
        }
        out.append('"');
    }

    private void escape(char letter) {
        out.append("\\u").append(HexFormat.of().toHexDigits(letter));
    }
}
