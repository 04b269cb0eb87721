package roselle.checkpoint.gguf;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.api.CheckpointException;
import roselle.checkpoint.file.FileField;
import roselle.tokenizer.GgufVocabulary;

/** Gathers the keys {@code tokenizer.ggml.*} of a GGUF file into a vocabulary. */
final class GgufTokenizerKeys {
    private static final String PREFIX = "tokenizer.ggml.";
    private static final String ID_SUFFIX = "_token_id";
    /** How some writers spell "no such token" in an unsigned field. */
    private static final long NO_TOKEN = 0xFFFFFFFFL;

    private GgufTokenizerKeys() {}

    static GgufVocabulary vocabulary(GgufMetadata metadata) {
        if (!metadata.has(PREFIX + "model") || !metadata.has(PREFIX + "tokens")) {
            throw new CheckpointException(
                    metadata.origin() + " has no tokenizer: " + PREFIX + "model or " + PREFIX + "tokens is absent");
        }
        List<String> tokens = metadata.strings(PREFIX + "tokens");
        float[] scores = metadata.has(PREFIX + "scores") ? metadata.numbers(PREFIX + "scores") : new float[0];
        int[] types = metadata.has(PREFIX + "token_type") ? metadata.integers(PREFIX + "token_type") : new int[0];
        checkLength(metadata, "scores", scores.length, tokens.size());
        checkLength(metadata, "token_type", types.length, tokens.size());
        return new GgufVocabulary(
                metadata.string(PREFIX + "model"),
                metadata.string(PREFIX + "pre", ""),
                tokens,
                scores,
                types,
                metadata.has(PREFIX + "merges") ? metadata.strings(PREFIX + "merges") : List.of(),
                tokenIds(metadata, tokens.size()),
                flags(metadata),
                bytes(metadata, PREFIX + "precompiled_charsmap"));
    }

    private static void checkLength(GgufMetadata metadata, String key, int length, int tokens) {
        if (length != 0 && length != tokens) {
            throw new CheckpointException(metadata.origin() + ": " + PREFIX + key + " has " + length
                    + " elements, but there are " + tokens + " tokens");
        }
    }

    private static Map<String, Integer> tokenIds(GgufMetadata metadata, int tokens) {
        Map<String, Integer> ids = new LinkedHashMap<>();
        for (String key : metadata.keys()) {
            if (key.startsWith(PREFIX) && key.endsWith(ID_SUFFIX)) {
                long id = metadata.longInteger(key);
                if (id == NO_TOKEN || id == -1) {
                    continue;
                }
                if (id < 0 || id >= tokens) {
                    throw new CheckpointException(metadata.origin() + ": " + FileField.excerpt(key) + " is " + id
                            + ", but there are " + tokens + " tokens");
                }
                ids.put(key.substring(PREFIX.length()), (int) id);
            }
        }
        return ids;
    }

    private static Map<String, Boolean> flags(GgufMetadata metadata) {
        Map<String, Boolean> flags = new LinkedHashMap<>();
        for (String key : metadata.keys()) {
            if (key.startsWith(PREFIX) && metadata.isFlag(key)) {
                flags.put(key.substring(PREFIX.length()), metadata.flag(key, false));
            }
        }
        return flags;
    }

    private static byte[] bytes(GgufMetadata metadata, String key) {
        if (!metadata.has(key)) {
            return new byte[0];
        }
        int[] values = metadata.integers(key);
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }
}
