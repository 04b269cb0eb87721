package roselle.tokenizer.format;

import java.io.InputStream;
import roselle.api.CheckpointException;
import roselle.json.JsonLimits;
import roselle.tokenizer.model.PackedStrings;
import roselle.tokenizer.unicode.WellFormed;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** A JSON file read token by token; every failure is one sentence with the file, the path and the value. */
final class JsonSource implements AutoCloseable {
    private static final int SHOWN_CHARACTERS = 60;

    private static final JsonFactory FACTORY = JsonLimits.DEFAULT
            .withNumberCharacters(1000)
            .withNameCharacters(65_536)
            .withStringCharacters(32 << 20) // a character map is one string of some 400,000 characters
            .withDocumentBytes(512L << 20)
            .factory(JsonLimits.Allowance.MANY_NAMES); // a vocabulary's come once each

    private final JsonParser parser;
    private final String origin;

    /** Reads {@code content}; {@code origin} names the file in messages. */
    JsonSource(InputStream content, String origin) {
        this.origin = origin;
        parser = FACTORY.createParser(ObjectReadContext.empty(), content);
    }

    String origin() {
        return origin;
    }

    /** Moves to the next token and returns its kind. */
    JsonToken next() {
        try {
            JsonToken token = parser.nextToken();
            if (token == null) {
                throw new CheckpointException(origin + " ends too early: it is truncated");
            }
            return token;
        } catch (JacksonException malformed) {
            throw malformed(malformed);
        }
    }

    /** Fails unless the document is over. */
    void expectEnd() {
        try {
            if (parser.nextToken() != null) {
                throw new CheckpointException(origin + " goes on after its end: it must hold one JSON object");
            }
        } catch (JacksonException malformed) {
            throw malformed(malformed);
        }
    }

    private CheckpointException malformed(JacksonException cause) {
        return new CheckpointException(origin + " is not JSON that can be read: " + cause.getOriginalMessage(), cause);
    }

    JsonToken current() {
        return parser.currentToken();
    }

    /** The name of the field whose name or value is the current token. */
    String name() {
        return parser.currentName();
    }

    /** Skips the current value, and all in it. */
    void skip() {
        try {
            parser.skipChildren();
        } catch (JacksonException malformed) {
            throw malformed(malformed);
        }
    }

    void expect(JsonToken kind, String path) {
        if (current() != kind) {
            throw wrong(path, kind == JsonToken.START_OBJECT ? "an object" : "an array");
        }
    }

    /** The current string; lone surrogates become U+FFFD. */
    String string(String path) {
        if (current() != JsonToken.VALUE_STRING) {
            throw wrong(path, "a string");
        }
        return text();
    }

    /** Adds the current string to a list, without an object for it; lone surrogates become U+FFFD. */
    void addString(String path, PackedStrings target) {
        if (current() != JsonToken.VALUE_STRING) {
            throw wrong(path, "a string");
        }
        try {
            char[] characters = parser.getStringCharacters();
            int from = parser.getStringOffset();
            int length = parser.getStringLength();
            if (hasSurrogate(characters, from, length)) {
                target.add(text());
            } else {
                target.add(characters, from, length);
            }
        } catch (JacksonException malformed) {
            throw malformed(malformed);
        }
    }

    private static boolean hasSurrogate(char[] characters, int from, int length) {
        for (int i = from; i < from + length; i++) {
            if (Character.isSurrogate(characters[i])) {
                return true;
            }
        }
        return false;
    }

    /** The current token id. */
    int tokenId(String path) {
        int id = tokenIdOrNone();
        if (id < 0) {
            throw notATokenId(path);
        }
        return id;
    }

    /** The current token id; -1 where there is none. */
    int tokenIdOrNone() {
        if (current() != JsonToken.VALUE_NUMBER_INT) {
            return -1;
        }
        try {
            return Math.max(-1, parser.getIntValue());
        } catch (JacksonException tooLarge) {
            return -1;
        }
    }

    CheckpointException notATokenId(String path) {
        return wrong(path, "a token id, an integer from 0 to 2147483647");
    }

    double number(String path) {
        if (current() == JsonToken.VALUE_NUMBER_INT || current() == JsonToken.VALUE_NUMBER_FLOAT) {
            try {
                double value = ReferenceNumber.parse(parser.getString());
                if (Double.isFinite(value)) {
                    return value;
                }
            } catch (JacksonException malformed) {
                // told below, with the value
            }
        }
        throw wrong(path, "a finite number");
    }

    boolean flag(String path) {
        if (current() == JsonToken.VALUE_TRUE || current() == JsonToken.VALUE_FALSE) {
            return current() == JsonToken.VALUE_TRUE;
        }
        throw wrong(path, "true or false");
    }

    /** The text of the current token. */
    private String text() {
        try {
            return WellFormed.of(parser.getString());
        } catch (JacksonException malformed) {
            throw malformed(malformed);
        }
    }

    /** Says what the value at {@code path} is and what it must be. */
    CheckpointException wrong(String path, String needed) {
        String shown = switch (current()) {
            case START_OBJECT -> "an object";
            case START_ARRAY -> "an array";
            case VALUE_STRING -> "'" + shortened(text()) + "'";
            default -> shortened(text());
        };
        return new CheckpointException(origin + ": " + path + " is " + shown + ", it must be " + needed);
    }

    static String shortened(String text) {
        return text.length() <= SHOWN_CHARACTERS ? text : WellFormed.of(text.substring(0, SHOWN_CHARACTERS)) + "…";
    }

    @Override
    public void close() {
        parser.close();
    }
}
