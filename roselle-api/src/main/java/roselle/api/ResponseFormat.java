package roselle.api;

import java.util.List;
import roselle.api.InvalidRequestException.Reason;

/**
 * What an answer must look like. Whatever the model would rather say, each token is drawn from those that keep the answer to it,
 * and the answer ends where it is complete, unless {@code max_tokens} cut it before: its reason is then {@link FinishReason#LENGTH}.
 *
 * <p>In a chat, thoughts that come before the answer are free. What cannot be kept to is refused when the request is submitted.
 */
public sealed interface ResponseFormat {
    /** Anything. */
    ResponseFormat TEXT = new Text();

    /** Anything. */
    record Text() implements ResponseFormat {}

    /** Any JSON object. */
    record JsonObject(JsonOptions options) implements ResponseFormat {
        public JsonObject() {
            this(JsonOptions.DEFAULT);
        }
    }

    /**
     * JSON that a schema allows, of any draft from 4 to 2020-12.
     *
     * @param schema the schema, as JSON
     */
    record JsonSchema(String schema, JsonOptions options) implements ResponseFormat {
        public JsonSchema(String schema) {
            this(schema, JsonOptions.DEFAULT);
        }
    }

    /** A text that a regular expression in ECMA's syntax matches as a whole. */
    record Regex(String expression) implements ResponseFormat {}

    /**
     * A text that a context-free grammar produces.
     *
     * @param grammar in GBNF, llama.cpp's form, from the rule {@code root} on; or, where no line has {@code ::=}, in a subset of Lark,
     *     from the rule {@code start} on
     */
    record Grammar(String grammar) implements ResponseFormat {}

    /**
     * A text of parts, some of them free and others held to formats of their own, as XGrammar has it.
     *
     * @param tag the tag, as JSON: an object of type {@code structural_tag} with its {@code format}
     */
    record StructuralTag(String tag) implements ResponseFormat {}

    /** One of some texts. */
    record Choice(List<String> texts) implements ResponseFormat {
        private static final int MOST = 100_000;

        public Choice {
            Check.atLeast("response_format", "the number of texts to choose from", texts.size(), 1);
            Check.atMost("response_format", "the number of texts to choose from", texts.size(), MOST);
            if (texts.contains("")) {
                throw new InvalidRequestException(
                        Reason.INVALID, "response_format", "one of the texts to choose from is empty");
            }
            texts = List.copyOf(texts);
        }
    }

    /** How JSON is spelled. */
    record JsonOptions(Whitespace whitespace, KeyOrder keyOrder) {
        /** As a model likes it, within bounds. */
        public static final JsonOptions DEFAULT = new JsonOptions(Whitespace.BOUNDED, KeyOrder.ANY);
    }

    /** What may stand between the parts of a JSON text. */
    enum Whitespace {
        NONE,
        /** At each place a space, or a line break and an indent. */
        BOUNDED
    }

    /** The order of an object's keys. */
    enum KeyOrder {
        ANY,
        /** As the schema names them, and then others. */
        SCHEMA
    }
}
