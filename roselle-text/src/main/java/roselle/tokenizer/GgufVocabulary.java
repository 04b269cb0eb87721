package roselle.tokenizer;

import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * What a GGUF file says about its tokenizer: the values of the keys {@code tokenizer.ggml.*}, absent ones empty.
 *
 * @param model {@code tokenizer.ggml.model}: gpt2, llama, gemma4, bert or t5
 * @param pre {@code tokenizer.ggml.pre}, the name of the rule that cuts text into words; empty where absent
 * @param tokens {@code tokenizer.ggml.tokens}
 * @param scores {@code tokenizer.ggml.scores}, as long as {@code tokens} or empty
 * @param tokenType {@code tokenizer.ggml.token_type} (1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6
 *     byte), as long as {@code tokens} or empty
 * @param merges {@code tokenizer.ggml.merges}, two spellings joined by one space, best first
 * @param tokenIds every key {@code tokenizer.ggml.*_token_id} by its last part, such as {@code bos_token_id}
 * @param flags every boolean key after tokenizer.ggml, such as {@code add_bos_token} or {@code normalizer.lowercase}
 * @param precompiledCharsmap {@code tokenizer.ggml.precompiled_charsmap}, SentencePiece's normalization table
 */
@SuppressWarnings("ArrayRecordComponent") // large, handed over once and never changed
public record GgufVocabulary(
        String model,
        String pre,
        List<String> tokens,
        float[] scores,
        int[] tokenType,
        List<String> merges,
        Map<String, Integer> tokenIds,
        Map<String, Boolean> flags,
        byte[] precompiledCharsmap) {
    public static final int NORMAL = 1;
    public static final int UNKNOWN = 2;
    public static final int CONTROL = 3;
    public static final int USER_DEFINED = 4;
    public static final int UNUSED = 5;
    public static final int BYTE = 6;

    /** The value of a key such as {@code bos_token_id}. */
    public OptionalInt tokenId(String key) {
        Integer id = tokenIds.get(key);
        return id == null ? OptionalInt.empty() : OptionalInt.of(id);
    }

    public boolean flag(String key, boolean fallback) {
        return flags.getOrDefault(key, fallback);
    }

    /** The type of a token; normal where the file has no types. */
    public int typeOf(int id) {
        return tokenType.length == 0 ? NORMAL : tokenType[id];
    }
}
