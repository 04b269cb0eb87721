package roselle.checkpoint.summary;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.file.FileField;
import roselle.checkpoint.gguf.GgufMetadata;

/**
 * The few numbers of a model's configuration that say how large it is, under whichever name a family gives them.
 *
 * @param architecture as the files name it; empty where they do not
 * @param contextLength tokens of the longest sequence
 * @param vocabulary ids from 0 until this number
 * @param kvElementsPerToken numbers that one token adds to the cache; empty where the model has no attention layers
 */
record ModelShape(
        Optional<String> architecture,
        OptionalInt contextLength,
        OptionalInt vocabulary,
        OptionalLong kvElementsPerToken) {
    private static final int MAX_LAYERS = 10_000;
    private static final int MAX_HEADS = 1 << 16;
    private static final int WIDEST = 1 << 24;
    private static final int LONGEST_CONTEXT = 1 << 30;

    static ModelShape of(Checkpoint checkpoint) {
        Metadata config = checkpoint.config();
        return config instanceof GgufMetadata gguf ? ofGguf(gguf) : ofHuggingFace(config);
    }

    private static ModelShape ofGguf(GgufMetadata config) {
        if (!config.has("general.architecture")) {
            return new ModelShape(Optional.empty(), OptionalInt.empty(), tokens(config), OptionalLong.empty());
        }
        String architecture = config.string("general.architecture");
        var keys = new Names(config, architecture + ".");
        OptionalInt vocabulary = tokens(config).isPresent() ? tokens(config) : keys.size(WIDEST, "vocab_size");
        OptionalInt latent = keys.size(WIDEST, "attention.kv_lora_rank");
        OptionalLong elements = latent.isPresent()
                ? latentElements(keys, latent.getAsInt(), "block_count", "rope.dimension_count")
                : ggufElements(keys);
        return new ModelShape(
                Optional.of(architecture), keys.size(LONGEST_CONTEXT, "context_length"), vocabulary, elements);
    }

    private static OptionalInt tokens(GgufMetadata config) {
        String key = "tokenizer.ggml.tokens";
        return config.has(key) ? OptionalInt.of(config.count(key)) : OptionalInt.empty();
    }

    private static OptionalLong ggufElements(Names keys) {
        OptionalInt layers = keys.size(MAX_LAYERS, "block_count");
        OptionalInt heads = keys.size(MAX_HEADS, "attention.head_count");
        OptionalInt width = keys.size(WIDEST, "embedding_length");
        if (layers.isEmpty() || heads.isEmpty() || width.isEmpty()) {
            return OptionalLong.empty();
        }
        int headWidth = width.getAsInt() / heads.getAsInt();
        int keySize = keys.size(WIDEST, "attention.key_length").orElse(headWidth);
        int valueSize = keys.size(WIDEST, "attention.value_length").orElse(headWidth);
        long kvHeads = keys.sum(MAX_HEADS, layers.getAsInt(), "attention.head_count_kv")
                .orElse((long) heads.getAsInt() * layers.getAsInt());
        return OptionalLong.of(kvHeads * (keySize + (long) valueSize));
    }

    private static ModelShape ofHuggingFace(Metadata config) {
        Optional<String> architecture =
                config.has("model_type") ? Optional.of(config.string("model_type")) : Optional.empty();
        Metadata text = config.object("text_config").orElse(config);
        var keys = new Names(text, "");
        OptionalInt latent = keys.size(WIDEST, "kv_lora_rank");
        OptionalLong elements = latent.isPresent()
                ? latentElements(keys, latent.getAsInt(), "num_hidden_layers", "qk_rope_head_dim")
                : huggingFaceElements(keys);
        return new ModelShape(
                architecture,
                keys.size(LONGEST_CONTEXT, "max_position_embeddings", "n_positions", "n_ctx", "max_seq_len"),
                keys.size(WIDEST, "vocab_size"),
                elements);
    }

    private static OptionalLong huggingFaceElements(Names keys) {
        OptionalInt layers = keys.size(MAX_LAYERS, "num_hidden_layers", "n_layer", "n_layers");
        OptionalInt heads = keys.size(MAX_HEADS, "num_attention_heads", "n_head", "n_heads");
        OptionalInt width = keys.size(WIDEST, "hidden_size", "n_embd", "d_model");
        if (layers.isEmpty() || heads.isEmpty() || width.isEmpty()) {
            return OptionalLong.empty();
        }
        int headSize = keys.size(WIDEST, "head_dim").orElse(width.getAsInt() / heads.getAsInt());
        int kvHeads = keys.size(MAX_HEADS, "num_key_value_heads").orElse(heads.getAsInt());
        return OptionalLong.of(2L * layers.getAsInt() * kvHeads * headSize);
    }

    /** Latent attention keeps one compressed vector and one rotated key for all heads of a layer. */
    private static OptionalLong latentElements(Names keys, int latent, String layersName, String ropeName) {
        OptionalInt layers = keys.size(MAX_LAYERS, layersName);
        OptionalInt rope = keys.size(WIDEST, ropeName);
        return layers.isEmpty() || rope.isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(layers.getAsInt() * ((long) latent + rope.getAsInt()));
    }

    /** Sizes under a common prefix, each checked to be one that a model can have. */
    private record Names(Metadata config, String prefix) {
        /** The size under the first of the names that is there. */
        OptionalInt size(int limit, String... names) {
            for (String name : List.of(names)) {
                if (config.has(prefix + name)) {
                    return OptionalInt.of(checked(prefix + name, config.longInteger(prefix + name), 1, limit));
                }
            }
            return OptionalInt.empty();
        }

        /** The sum of a size over all layers, which may be one number for all or a list; 0 is a layer without. */
        OptionalLong sum(int limit, int layers, String name) {
            String key = prefix + name;
            if (!config.has(key)) {
                return OptionalLong.empty();
            }
            int[] sizes = config.integers(key);
            if (sizes.length != 1 && sizes.length != layers) {
                throw new CheckpointException(config.origin() + ": " + FileField.excerpt(key) + " has " + sizes.length
                        + " elements, but there are " + layers + " layers");
            }
            long sum = 0;
            for (int size : sizes) {
                sum += checked(key, size, 0, limit);
            }
            return OptionalLong.of(sizes.length == layers ? sum : sum * layers);
        }

        private int checked(String key, long size, int least, int limit) {
            if (size < least || size > limit) {
                throw new CheckpointException(config.origin() + ": " + FileField.excerpt(key) + " is " + size
                        + ", which is not from " + least + " to " + limit);
            }
            return (int) size;
        }
    }
}
