package roselle.bench.backend;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What an engine's completions take.
 *
 * @param path of the completions
 * @param takesIds whether a prompt may be token ids, so that no tokenizer is in the measured path
 * @param fields beyond OpenAI's that it honours
 * @param neutral fields of this engine whose own default would change how tokens are drawn, with values that do not
 * @param withoutCache fields of this engine that turn its prefix cache off
 */
public record RequestShape(
        String path,
        boolean takesIds,
        Set<Field> fields,
        Map<String, Object> neutral,
        Map<String, Object> withoutCache) {
    /** Fields that not every engine knows. */
    public enum Field {
        TOP_K,
        MIN_TOKENS,
        IGNORE_EOS,
        RESPONSE_FORMAT
    }

    public RequestShape {
        fields = Set.copyOf(fields);
        neutral = Map.copyOf(neutral);
        withoutCache = Map.copyOf(withoutCache);
    }

    /** The same without the fields that turn a cache off. */
    public RequestShape withCache() {
        return new RequestShape(path, takesIds, fields, neutral, Map.of());
    }

    /** The same with prompts of ids, or of text. */
    public RequestShape withPrompts(boolean ofIds) {
        return new RequestShape(path, ofIds, fields, neutral, withoutCache);
    }

    /** The same with one more field. */
    RequestShape with(Field field) {
        Set<Field> more = EnumSet.of(field);
        more.addAll(fields);
        return new RequestShape(path, takesIds, more, neutral, withoutCache);
    }

    /** Whether prompts are the first message of a conversation, whose template adds tokens of its own. */
    public boolean isChat() {
        return path.endsWith("/chat/completions");
    }

    /** A body whose prompt is these ids. */
    public byte[] body(String model, int[] ids, int tokens, Sampling sampling) {
        var json = new StringBuilder(8 * ids.length + 400).append("{\"prompt\":[");
        for (int i = 0; i < ids.length; i++) {
            json.append(i == 0 ? "" : ",").append(ids[i]);
        }
        return finish(json.append(']'), model, tokens, sampling);
    }

    /** A body whose prompt is this text. */
    public byte[] body(String model, String text, int tokens, Sampling sampling) {
        String start = isChat()
                ? "{\"messages\":[{\"role\":\"user\",\"content\":" + Json.text(text) + "}]"
                : "{\"prompt\":" + Json.text(text);
        return finish(new StringBuilder(start), model, tokens, sampling);
    }

    /** Refuses a format that this engine may not know of: it could ignore it. */
    public void requireFormat(Sampling sampling) {
        if (!sampling.format().isText() && !fields.contains(Field.RESPONSE_FORMAT)) {
            throw new BackendException("this engine's completions are not known to take a response format: measure it"
                    + " without, or as an endpoint of chat completions, profile chat");
        }
    }

    private byte[] finish(StringBuilder json, String model, int tokens, Sampling sampling) {
        json.append(",\"model\":").append(Json.text(model));
        json.append(",\"max_tokens\":").append(tokens);
        json.append(",\"temperature\":").append(sampling.temperature());
        json.append(",\"top_p\":").append(sampling.topP());
        json.append(",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
        if (fields.contains(Field.TOP_K) && sampling.topK() > 0) {
            json.append(",\"top_k\":").append(sampling.topK());
        }
        if (fields.contains(Field.IGNORE_EOS) && sampling.ignoresEos()) {
            json.append(",\"ignore_eos\":true");
        }
        if (fields.contains(Field.MIN_TOKENS) && sampling.ignoresEos()) {
            json.append(",\"min_tokens\":").append(tokens);
        }
        requireFormat(sampling);
        if (!sampling.format().isText()) {
            json.append(",\"response_format\":").append(sampling.format().ofOpenAi());
        }
        var others = new TreeMap<>(neutral);
        others.putAll(withoutCache);
        others.forEach((name, value) ->
                json.append(',').append(Json.text(name)).append(':').append(Json.value(value)));
        return json.append('}').toString().getBytes(java.nio.charset.StandardCharsets.UTF_8);
    }
}
