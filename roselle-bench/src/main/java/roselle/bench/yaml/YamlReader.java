package roselle.bench.yaml;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.api.InvalidRequestException;
import roselle.bench.yaml.Yaml.Fields;
import roselle.bench.yaml.Yaml.Items;
import roselle.bench.yaml.Yaml.Text;

/** Reads blocks by their indentation. */
final class YamlReader {
    private static final int DEEPEST = 32;
    private static final int MAX_CHARACTERS = 1 << 20;

    /** A line with something on it. */
    private record Line(int number, int indent, String text) {}

    private final List<Line> lines = new ArrayList<>();
    private final String[] raw;
    private int at;

    YamlReader(String source) {
        if (source.length() > MAX_CHARACTERS) {
            throw new InvalidRequestException("it is longer than " + MAX_CHARACTERS + " characters");
        }
        raw = source.split("\\R", -1);
        for (int i = 0; i < raw.length; i++) {
            String text = YamlScalar.withoutComment(raw[i]).stripTrailing();
            String content = text.stripLeading();
            if (!content.isEmpty() && !(content.equals("---") && lines.isEmpty())) {
                lines.add(new Line(i + 1, text.length() - content.length(), content));
            }
        }
    }

    Fields document() {
        if (lines.isEmpty()) {
            return new Fields(1, Map.of());
        }
        Yaml top = block(lines.getFirst().indent(), 0);
        if (at < lines.size()) {
            throw wrong(lines.get(at), "it is indented as nothing above it");
        }
        return top.asFields("the file");
    }

    private Yaml block(int indent, int depth) {
        Line first = lines.get(at);
        if (depth > DEEPEST) {
            throw wrong(first, "it is nested deeper than " + DEEPEST + " levels");
        }
        if (first.text().startsWith("\t") || raw[first.number() - 1].startsWith("\t")) {
            throw wrong(first, "it is indented by a tab: use spaces");
        }
        return isItem(first) ? items(indent, depth) : fields(indent, depth);
    }

    private static boolean isItem(Line line) {
        return line.text().equals("-") || line.text().startsWith("- ");
    }

    private Items items(int indent, int depth) {
        int number = lines.get(at).number();
        var values = new ArrayList<Yaml>();
        while (at < lines.size() && lines.get(at).indent() == indent && isItem(lines.get(at))) {
            Line line = lines.get(at);
            String rest = line.text().substring(1);
            String content = rest.stripLeading();
            if (content.isEmpty()) {
                at++;
                values.add(nested(line, indent, depth));
            } else if (keyEnd(content) > 0) {
                int inner = indent + 1 + rest.length() - content.length();
                lines.set(at, new Line(line.number(), inner, content));
                values.add(block(inner, depth + 1));
            } else {
                at++;
                values.add(YamlScalar.parse(content, line.number()));
            }
        }
        return new Items(number, values);
    }

    private Fields fields(int indent, int depth) {
        int number = lines.get(at).number();
        var values = new LinkedHashMap<String, Yaml>();
        while (at < lines.size() && lines.get(at).indent() == indent && !isItem(lines.get(at))) {
            Line line = lines.get(at);
            int end = keyEnd(line.text());
            if (end <= 0) {
                throw wrong(line, "it has no key: write KEY: VALUE");
            }
            String key = YamlScalar.parse(line.text().substring(0, end), line.number())
                    .asText("a key");
            String content = line.text().substring(end + 1).strip();
            at++;
            if (values.put(key, value(line, content, indent, depth)) != null) {
                throw wrong(line, "the key " + key + " is there twice");
            }
        }
        return new Fields(number, values);
    }

    private Yaml value(Line line, String content, int indent, int depth) {
        if (content.isEmpty()) {
            return nested(line, indent, depth);
        }
        if (content.equals("|")) {
            return literal(line, indent);
        }
        return YamlScalar.parse(content, line.number());
    }

    /** What is indented below a line; a list may also stand at its own indentation; nothing is an empty text. */
    private Yaml nested(Line above, int indent, int depth) {
        if (at < lines.size()) {
            Line next = lines.get(at);
            boolean isList = next.indent() == indent && isItem(next) && !isItem(above);
            if (next.indent() > indent || isList) {
                return block(next.indent(), depth + 1);
            }
        }
        return new Text(above.number(), "");
    }

    /** Lines below as they are, their common indentation taken away. */
    private Text literal(Line above, int indent) {
        var text = new StringBuilder();
        int inner = at < lines.size() ? lines.get(at).indent() : 0;
        int number = above.number();
        while (inner > indent && number < raw.length) {
            String line = raw[number];
            int spaces = line.length() - line.stripLeading().length();
            if (!line.isBlank() && spaces < inner) {
                break;
            }
            text.append(line.isBlank() ? "" : line.substring(inner)).append('\n');
            number++;
        }
        while (at < lines.size() && lines.get(at).number() <= number) {
            at++;
        }
        return new Text(above.number(), text.toString());
    }

    /** Where a key ends: at a colon outside of quotes and brackets that a space or the end follows; else −1. */
    private static int keyEnd(String text) {
        char quote = 0;
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (quote != 0) {
                quote = character == quote ? 0 : quote;
            } else if (i == 0 && (character == '[' || character == '{')) {
                return -1;
            } else if (i == 0 && (character == '"' || character == '\'')) {
                quote = character;
            } else if (character == ':' && (i + 1 == text.length() || text.charAt(i + 1) == ' ')) {
                return i;
            }
        }
        return -1;
    }

    private static InvalidRequestException wrong(Line line, String reason) {
        return new InvalidRequestException("line " + line.number() + ": " + reason);
    }
}
