package roselle.bench.load;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import roselle.bench.metric.RequestSample.TokenUsage;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;

/**
 * What one event of a completion's or a chat's stream says.
 *
 * <p>An event carries a token if one of its choices has text, or is neither the first with the role nor the last with the
 * reason: a token whose bytes are half a character has no text yet.
 */
final class TokenEvent {
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(64).build())
            .build();

    private boolean hasChoice;
    private boolean hasToken;
    private boolean isLast;
    private boolean hasText;
    private boolean hasRole;
    private boolean hasReason;
    private @Nullable TokenUsage usage;
    private @Nullable String error;

    /** Reads an event's JSON. */
    static TokenEvent read(byte[] bytes, int from, int length) {
        var event = new TokenEvent();
        try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), bytes, from, length)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new ProtocolException("an event is no JSON object");
            }
            event.fields(parser);
        } catch (JacksonException malformed) {
            throw new ProtocolException("an event is no JSON: " + malformed.getOriginalMessage());
        }
        return event;
    }

    /** Whether it says anything about an answer, and not only about its use. */
    boolean hasChoice() {
        return hasChoice;
    }

    boolean hasToken() {
        return hasToken;
    }

    /** Whether the answer ends with it. */
    boolean isLast() {
        return isLast;
    }

    Optional<TokenUsage> usage() {
        return Optional.ofNullable(usage);
    }

    Optional<String> error() {
        return Optional.ofNullable(error);
    }

    private void fields(JsonParser parser) {
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = parser.currentName();
            JsonToken value = parser.nextToken();
            switch (name) {
                case "choices" -> choices(parser, value);
                case "usage" -> usage(parser, value);
                case "error" -> error(parser, value);
                default -> parser.skipChildren();
            }
        }
    }

    private void choices(JsonParser parser, JsonToken value) {
        if (value != JsonToken.START_ARRAY) {
            parser.skipChildren();
            return;
        }
        while (parser.nextToken() == JsonToken.START_OBJECT) {
            hasChoice = true;
            hasText = false;
            hasRole = false;
            hasReason = false;
            choice(parser);
            hasToken |= hasText || (!hasRole && !hasReason);
            isLast |= hasReason;
        }
    }

    /** A choice, or the {@code delta} or {@code message} within. */
    private void choice(JsonParser parser) {
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = parser.currentName();
            JsonToken value = parser.nextToken();
            switch (name) {
                case "delta" -> delta(parser, value);
                case "text", "content", "reasoning_content", "reasoning" -> text(parser, value);
                case "tool_calls" -> toolCalls(parser, value);
                case "role" -> hasRole = value != JsonToken.VALUE_NULL;
                case "finish_reason" -> reason(parser, value);
                default -> parser.skipChildren();
            }
        }
    }

    /** Some servers write an empty text for none, and some an object with its kind. */
    private void reason(JsonParser parser, JsonToken value) {
        hasReason =
                value == JsonToken.START_OBJECT || (value == JsonToken.VALUE_STRING && parser.getStringLength() > 0);
        parser.skipChildren();
    }

    private void delta(JsonParser parser, JsonToken value) {
        if (value == JsonToken.START_OBJECT) {
            choice(parser);
        }
    }

    private void text(JsonParser parser, JsonToken value) {
        hasText |= value == JsonToken.VALUE_STRING && parser.getStringLength() > 0;
        parser.skipChildren();
    }

    private void toolCalls(JsonParser parser, JsonToken value) {
        hasText |= value == JsonToken.START_ARRAY;
        parser.skipChildren();
    }

    private void usage(JsonParser parser, JsonToken value) {
        if (value != JsonToken.START_OBJECT) {
            parser.skipChildren();
            return;
        }
        int prompt = 0;
        int completion = 0;
        int cached = -1;
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = parser.currentName();
            JsonToken content = parser.nextToken();
            switch (name) {
                case "prompt_tokens" -> prompt = number(parser, content);
                case "completion_tokens" -> completion = number(parser, content);
                case "prompt_tokens_details" -> cached = cached(parser, content);
                default -> parser.skipChildren();
            }
        }
        usage = new TokenUsage(prompt, completion, cached);
    }

    private static int cached(JsonParser parser, JsonToken value) {
        int cached = -1;
        while (value == JsonToken.START_OBJECT && parser.nextToken() == JsonToken.PROPERTY_NAME) {
            boolean isCached = parser.currentName().equals("cached_tokens");
            JsonToken content = parser.nextToken();
            if (isCached && content == JsonToken.VALUE_NUMBER_INT) {
                cached = parser.getIntValue();
            } else {
                parser.skipChildren();
            }
        }
        return cached;
    }

    private static int number(JsonParser parser, JsonToken value) {
        if (value == JsonToken.VALUE_NUMBER_INT) {
            return parser.getIntValue();
        }
        parser.skipChildren();
        return 0;
    }

    private void error(JsonParser parser, JsonToken value) {
        switch (value) {
            case VALUE_NULL -> {}
            case VALUE_STRING -> error = parser.getString();
            case START_OBJECT -> errorObject(parser);
            default -> parser.skipChildren();
        }
    }

    private void errorObject(JsonParser parser) {
        error = "an error without a message";
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            boolean isMessage = parser.currentName().equals("message");
            if (parser.nextToken() == JsonToken.VALUE_STRING && isMessage) {
                error = parser.getString();
            } else {
                parser.skipChildren();
            }
        }
    }
}
