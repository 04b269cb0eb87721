package roselle.conversation.parse;

import org.jspecify.annotations.Nullable;
import roselle.json.JsonLimits;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Texts as JSON has them. */
final class JsonText {
    private static final JsonMapper MAPPER = JsonLimits.DEFAULT.mapper();
    private static final String HEXADECIMAL = "0123456789abcdef";

    private JsonText() {}

    /** Hears characters, one by one. */
    @FunctionalInterface
    interface Out {
        void put(char letter);

        default void putAll(String text) {
            for (int position = 0; position < text.length(); position++) {
                put(text.charAt(position));
            }
        }
    }

    /** Writes a character as it stands within quotation marks. */
    static void escape(char letter, Out out) {
        switch (letter) {
            case '"' -> out.putAll("\\\"");
            case '\\' -> out.putAll("\\\\");
            case '\n' -> out.putAll("\\n");
            case '\r' -> out.putAll("\\r");
            case '\t' -> out.putAll("\\t");
            case '\b' -> out.putAll("\\b");
            case '\f' -> out.putAll("\\f");
            default -> {
                if (letter < ' ') {
                    out.putAll("\\u00");
                    out.put(HEXADECIMAL.charAt(letter >> 4));
                    out.put(HEXADECIMAL.charAt(letter & 15));
                } else {
                    out.put(letter);
                }
            }
        }
    }

    /** A text within quotation marks. */
    static String quoted(String text) {
        var quoted = new StringBuilder("\"");
        for (int position = 0; position < text.length(); position++) {
            escape(text.charAt(position), quoted::append);
        }
        return quoted.append('"').toString();
    }

    /** The text that a JSON string spells; null where it is none, or has half of a surrogate pair. */
    static @Nullable String unquoted(CharSequence json) {
        try {
            JsonNode node = MAPPER.readTree(json.toString());
            return node.isString() && isWellFormed(node.stringValue()) ? node.stringValue() : null;
        } catch (JacksonException _) {
            return null;
        }
    }

    private static boolean isWellFormed(String text) {
        return text.codePoints()
                .noneMatch(point -> point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE);
    }

    static boolean isSpace(char letter) {
        return letter == ' ' || letter == '\n' || letter == '\r' || letter == '\t';
    }
}
