package roselle.engine;

import java.util.Set;
import java.util.TreeSet;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.tokenizer.Tokenizer;

/** The tokens with which a model says that its answer is complete. */
final class EndTokens {
    /** How released chat models spell the end of a turn; GGUFs often name only one of theirs in the metadata. */
    private static final Set<String> SPELLINGS = Set.of(
            "<|im_end|>",
            "<|eot_id|>",
            "<|eom_id|>",
            "<|end|>",
            "<|endoftext|>",
            "<end_of_turn>",
            "<|return|>",
            "<|call|>",
            "<｜end▁of▁sentence｜>",
            "<|END_OF_TURN_TOKEN|>",
            "<|end_of_text|>",
            "<EOT>");

    private static final String[] GGUF_KEYS = {
        "tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"
    };

    private EndTokens() {}

    /** Ids, ascending, below {@code vocabulary}. */
    static int[] of(Checkpoint checkpoint, Tokenizer tokenizer, int vocabulary) {
        var ids = new TreeSet<Integer>();
        switch (checkpoint.format()) {
            case GGUF -> {
                for (String key : GGUF_KEYS) {
                    add(checkpoint.config(), key, ids);
                }
                addSpellings(tokenizer, ids);
            }
            case HUGGING_FACE -> {
                checkpoint.generationConfig().ifPresent(config -> add(config, "eos_token_id", ids));
                if (ids.isEmpty()) {
                    add(checkpoint.config(), "eos_token_id", ids);
                }
            }
        }
        return ids.stream()
                .filter(id -> id >= 0 && id < vocabulary)
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private static void add(Metadata metadata, String key, Set<Integer> ids) {
        if (metadata.has(key)) {
            for (int id : metadata.integers(key)) {
                ids.add(id);
            }
        }
    }

    private static void addSpellings(Tokenizer tokenizer, Set<Integer> ids) {
        for (String spelling : SPELLINGS) {
            tokenizer.idOf(spelling).ifPresent(id -> {
                if (tokenizer.isSpecial(id)) {
                    ids.add(id);
                }
            });
        }
    }
}
