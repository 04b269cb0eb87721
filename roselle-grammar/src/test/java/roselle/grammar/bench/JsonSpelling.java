package roselle.grammar.bench;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import tools.jackson.databind.JsonNode;

/** Writes values as Python's json.dumps does, and in other spellings of the same value. */
final class JsonSpelling {
    enum Style {
        PLAIN,
        PRETTY,
        SHUFFLED,
        ASCII
    }

    private final Style style;
    private final Random random = new Random(7);
    private final StringBuilder text = new StringBuilder();

    private JsonSpelling(Style style) {
        this.style = style;
    }

    static String of(JsonNode value, Style style) {
        JsonSpelling spelling = new JsonSpelling(style);
        spelling.write(value, 0);
        return spelling.text.toString();
    }

    private void write(JsonNode value, int depth) {
        switch (value.getNodeType()) {
            case OBJECT -> object(value, depth);
            case ARRAY -> array(value, depth);
            case STRING -> string(value.stringValue());
            case NUMBER -> text.append(number(value));
            default -> text.append(value);
        }
    }

    private void object(JsonNode value, int depth) {
        List<Map.Entry<String, JsonNode>> members = new ArrayList<>(value.properties());
        if (style == Style.SHUFFLED) {
            Collections.shuffle(members, random);
        }
        text.append('{');
        boolean isFirst = true;
        for (Map.Entry<String, JsonNode> member : members) {
            separate(isFirst, depth + 1);
            isFirst = false;
            string(member.getKey());
            text.append(": ");
            write(member.getValue(), depth + 1);
        }
        close(isFirst, depth, '}');
    }

    private void array(JsonNode value, int depth) {
        text.append('[');
        boolean isFirst = true;
        for (JsonNode item : value) {
            separate(isFirst, depth + 1);
            isFirst = false;
            write(item, depth + 1);
        }
        close(isFirst, depth, ']');
    }

    private void separate(boolean isFirst, int depth) {
        if (!isFirst) {
            text.append(style == Style.PRETTY ? "," : ", ");
        }
        if (style == Style.PRETTY) {
            text.append('\n').append("  ".repeat(depth));
        }
    }

    private void close(boolean isEmpty, int depth, char bracket) {
        if (style == Style.PRETTY && !isEmpty) {
            text.append('\n').append("  ".repeat(depth));
        }
        text.append(bracket);
    }

    private void string(String value) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char unit = value.charAt(i);
            int known = "\"\\\b\f\n\r\t".indexOf(unit);
            if (known >= 0) {
                text.append('\\').append("\"\\bfnrt".charAt(known));
            } else if (unit < 0x20 || (unit >= 0x7F && style == Style.ASCII)) {
                text.append(String.format("\\u%04x", (int) unit));
            } else {
                text.append(unit);
            }
        }
        text.append('"');
    }

    private static String number(JsonNode value) {
        if (value.isIntegralNumber()) {
            return value.bigIntegerValue().toString();
        }
        double number = value.doubleValue();
        BigDecimal digits = new BigDecimal(Double.toString(number)).stripTrailingZeros();
        int exponent = digits.precision() - digits.scale() - 1;
        if (number == 0 || (exponent >= -4 && exponent < 16)) {
            String plain = digits.toPlainString();
            return number == 0 ? "0.0" : plain.contains(".") ? plain : plain + ".0";
        }
        BigInteger mantissa = digits.unscaledValue();
        String all = mantissa.abs().toString();
        String point = all.length() == 1 ? all : all.charAt(0) + "." + all.substring(1);
        String sign = exponent < 0 ? "-" : "+";
        return (number < 0 ? "-" : "") + point + "e" + sign + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
    }
}
