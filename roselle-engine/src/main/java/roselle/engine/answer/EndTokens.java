package roselle.engine.answer;

import java.util.Set;
import java.util.TreeSet;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.conversation.ConversationFormat;

/** The tokens with which a model says that its answer is complete. */
public final class EndTokens {
    private static final String[] GGUF_KEYS = {
        "tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"
    };

    private EndTokens() {}

    /** Ids, ascending, below {@code vocabulary}. */
    public static int[] of(Checkpoint checkpoint, ConversationFormat format, int vocabulary) {
        var ids = new TreeSet<Integer>();
        switch (checkpoint.format()) {
            case GGUF -> {
                for (String key : GGUF_KEYS) {
                    add(checkpoint.config(), key, ids);
                }
                ids.addAll(format.endTokens()); // the metadata often names only one of several
            }
            case HUGGING_FACE -> {
                checkpoint.generationConfig().ifPresent(config -> add(config, "eos_token_id", ids));
                if (ids.isEmpty()) {
                    add(checkpoint.config(), "eos_token_id", ids);
                    checkpoint.config().object("text_config").ifPresent(text -> add(text, "eos_token_id", ids));
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
}
