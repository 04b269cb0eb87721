package roselle.bench.yaml;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import roselle.api.InvalidRequestException;
import roselle.bench.yaml.Yaml.Fields;
import roselle.bench.yaml.Yaml.Items;
import roselle.bench.yaml.Yaml.Text;

/** Reads what stands on one line: plain and quoted texts, and lists and maps in brackets. */
final class YamlScalar {
    private static final String REFUSED = "&*!|>%@`";
    private static final int DEEPEST = 32;

    private final String source;
    private final int line;
    private int at;

    private YamlScalar(String source, int line) {
        this.source = source;
        this.line = line;
    }

    static Yaml parse(String source, int line) {
        var scalar = new YamlScalar(source, line);
        Yaml value = scalar.value(0, false);
        scalar.skipSpaces();
        if (scalar.at < source.length()) {
            throw scalar.wrong("something follows the end of the value");
        }
        return value;
    }

    /** A line up to a {@code #} that begins it or follows a space, outside of quotes. */
    static String withoutComment(String line) {
        char quote = 0;
        for (int i = 0; i < line.length(); i++) {
            char character = line.charAt(i);
            boolean isStart = i == 0 || " [{,:-".indexOf(line.charAt(i - 1)) >= 0;
            if (quote == '"' && character == '\\') {
                i++;
            } else if (quote != 0) {
                quote = character == quote ? 0 : quote;
            } else if (isStart && (character == '"' || character == '\'')) {
                quote = character;
            } else if (character == '#' && (i == 0 || line.charAt(i - 1) == ' ')) {
                return line.substring(0, i);
            }
        }
        return line;
    }

    private Yaml value(int depth, boolean isWithin) {
        skipSpaces();
        if (depth > DEEPEST) {
            throw wrong("it is nested deeper than " + DEEPEST + " levels");
        }
        char first = at < source.length() ? source.charAt(at) : 0;
        return switch (first) {
            case '[' -> list(depth);
            case '{' -> map(depth);
            case '"' -> new Text(line, quoted());
            case '\'' -> new Text(line, singleQuoted());
            default -> new Text(line, plain(isWithin));
        };
    }

    private Items list(int depth) {
        var values = new ArrayList<Yaml>();
        at++;
        while (!closes(']')) {
            values.add(value(depth + 1, true));
            separator(']');
        }
        return new Items(line, values);
    }

    private Fields map(int depth) {
        var values = new LinkedHashMap<String, Yaml>();
        at++;
        while (!closes('}')) {
            String key = value(depth + 1, true).asText("a key");
            skipSpaces();
            if (at >= source.length() || source.charAt(at) != ':') {
                throw wrong("a key in braces has no colon");
            }
            at++;
            if (values.put(key, value(depth + 1, true)) != null) {
                throw wrong("the key " + key + " is there twice");
            }
            separator('}');
        }
        return new Fields(line, values);
    }

    private boolean closes(char bracket) {
        skipSpaces();
        if (at >= source.length()) {
            throw wrong("a bracket is not closed on its line");
        }
        if (source.charAt(at) == bracket) {
            at++;
            return true;
        }
        return false;
    }

    private void separator(char bracket) {
        skipSpaces();
        if (at < source.length() && source.charAt(at) == ',') {
            at++;
        } else if (at < source.length() && source.charAt(at) != bracket) {
            throw wrong("a comma or a closing bracket is missing");
        }
    }

    private String quoted() {
        var text = new StringBuilder();
        for (at++; at < source.length() && source.charAt(at) != '"'; at++) {
            char character = source.charAt(at);
            text.append(character == '\\' ? escaped() : character);
        }
        return closed(text);
    }

    private char escaped() {
        at++;
        char character = at < source.length() ? source.charAt(at) : 0;
        return switch (character) {
            case 'n' -> '\n';
            case 't' -> '\t';
            case '"', '\\', '/' -> character;
            default -> throw wrong("only \\n, \\t, \\\" and \\\\ are known after a backslash");
        };
    }

    private String singleQuoted() {
        var text = new StringBuilder();
        for (at++; at < source.length(); at++) {
            boolean isQuote = source.charAt(at) == '\'';
            if (isQuote && at + 1 < source.length() && source.charAt(at + 1) == '\'') {
                at++;
            } else if (isQuote) {
                break;
            }
            text.append(source.charAt(at));
        }
        return closed(text);
    }

    private String closed(StringBuilder text) {
        if (at >= source.length()) {
            throw wrong("a quote is not closed on its line");
        }
        at++;
        return text.toString();
    }

    private String plain(boolean isWithin) {
        if (at < source.length() && REFUSED.indexOf(source.charAt(at)) >= 0) {
            throw wrong("a value begins with " + source.charAt(at) + ", which needs quotes");
        }
        int start = at;
        while (at < source.length() && !endsPlain(isWithin)) {
            at++;
        }
        return source.substring(start, at).strip();
    }

    private boolean endsPlain(boolean isWithin) {
        char character = source.charAt(at);
        boolean isColon = character == ':' && (at + 1 == source.length() || source.charAt(at + 1) == ' ');
        return isWithin && (isColon || ",]}".indexOf(character) >= 0);
    }

    private void skipSpaces() {
        while (at < source.length() && source.charAt(at) == ' ') {
            at++;
        }
    }

    private InvalidRequestException wrong(String reason) {
        return new InvalidRequestException("line " + line + ": " + reason);
    }
}
