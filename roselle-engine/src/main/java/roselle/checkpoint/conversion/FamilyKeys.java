package roselle.checkpoint.conversion;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.gguf.GgufHeaderWriter;
import roselle.checkpoint.huggingface.FolderFiles;
import roselle.tokenizer.GgufVocabulary;
import roselle.tokenizer.format.Tokenizers;

/** What config.json and the files beside it say, as keys of GGUF; what these have no words for is refused. */
final class FamilyKeys {
    private static final String TOKENIZER = "tokenizer.ggml.";
    private static final List<String> OTHER_TEMPLATES = List.of("tool_use", "rag");
    private static final int PATTERN = 6; // of Gemma 3: each sixth layer attends to all

    private final Checkpoint folder;
    private final Metadata config;
    private final Family family;
    private final GgufHeaderWriter header = new GgufHeaderWriter();

    FamilyKeys(Checkpoint folder, Family family) {
        this.folder = folder;
        this.config = folder.config();
        this.family = family;
    }

    int heads() {
        return positive("num_attention_heads");
    }

    int keyHeads() {
        return config.has("num_key_value_heads") ? positive("num_key_value_heads") : heads();
    }

    private int positive(String field) {
        int value = config.integer(field);
        if (value < 1) {
            throw new CheckpointException(config.origin() + ": " + field + " is " + value + ", expected at least 1");
        }
        return value;
    }

    private int headSize() {
        return config.integer("head_dim", positive("hidden_size") / heads());
    }

    private boolean hasLayerNorms() {
        return family == Family.PHI;
    }

    /** All keys of a model of so many numbers, whose embedding has so many rows. */
    GgufHeaderWriter write(long numbers, int vocabulary) {
        header.put("general.architecture", family.architecture());
        header.put("general.type", "model");
        header.put("general.name", name());
        header.put("general.size_label", label(numbers));
        folder.generationConfig().ifPresent(this::putSampling);
        putSizes();
        putRope();
        putOwn(vocabulary);
        putVocabulary(vocabulary);
        return header;
    }

    /** The folder's name, or where it lies in the hub's cache that of the repository. */
    private String name() {
        Path path = path().toAbsolutePath().normalize();
        for (Path part : path) {
            if (part.toString().startsWith("models--")) {
                return part.toString().substring(part.toString().lastIndexOf("--") + 2);
            }
        }
        Path last = path.getFileName();
        return last == null ? family.architecture() : last.toString();
    }

    /** Numbers in two digits or more, such as 8.0B. */
    static String label(long numbers) {
        double divisor = numbers > 1e12 ? 1e12 : numbers > 1e9 ? 1e9 : numbers > 1e6 ? 1e6 : 1e3;
        String unit = numbers > 1e12 ? "T" : numbers > 1e9 ? "B" : numbers > 1e6 ? "M" : "K";
        long whole = (long) Math.rint(numbers / divisor);
        int digits = whole == 0 ? 0 : Long.toString(whole).length();
        return String.format(Locale.ROOT, "%." + Math.max(0, 2 - digits) + "f%s", numbers / divisor, unit);
    }

    private void putSampling(Metadata generation) {
        if (generation.has("top_k")) {
            header.putSigned("general.sampling.top_k", generation.integer("top_k"));
        }
        putNumber(generation, "top_p", "general.sampling.top_p");
        putNumber(generation, "min_p", "general.sampling.min_p");
        putNumber(generation, "temperature", "general.sampling.temp");
        putNumber(generation, "repetition_penalty", "general.sampling.penalty_repeat");
    }

    private void putNumber(Metadata from, String field, String key) {
        if (from.has(field)) {
            header.put(key, (float) from.number(field));
        }
    }

    private void put(String key, int value) {
        header.put(family.architecture() + "." + key, value);
    }

    private void put(String key, float value) {
        header.put(family.architecture() + "." + key, value);
    }

    private void putSizes() {
        put("block_count", positive("num_hidden_layers"));
        put("context_length", positive("max_position_embeddings"));
        put("embedding_length", positive("hidden_size"));
        put("feed_forward_length", positive("intermediate_size"));
        put("attention.head_count", heads());
        put("attention.head_count_kv", keyHeads());
        if (hasLayerNorms()) {
            put("attention.layer_norm_epsilon", (float) config.number("layer_norm_eps", 1e-5));
        } else {
            put("attention.layer_norm_rms_epsilon", (float) config.number("rms_norm_eps", 1e-6));
        }
        if (config.has("head_dim")) {
            put("attention.key_length", headSize());
            put("attention.value_length", headSize());
        }
    }

    private Optional<Metadata> ropes() {
        return config.object("rope_parameters").or(() -> config.object("rope_scaling"));
    }

    /** What says how positions turn; of layers that attend to all where these are told apart. */
    private Optional<Metadata> rope() {
        return ropes().map(all -> all.object("full_attention").orElse(all));
    }

    private String ropeType() {
        return rope().map(fields -> fields.string("rope_type", fields.string("type", "default")))
                .orElse("default")
                .toLowerCase(Locale.ROOT);
    }

    private double theta() {
        double assumed = family == Family.GEMMA3 ? 1_000_000 : 10_000;
        double beside = config.number("rope_theta", assumed);
        return rope().map(fields -> fields.number("rope_theta", beside)).orElse(beside);
    }

    private void putRope() {
        put("rope.freq_base", (float) theta());
        rope().ifPresent(fields -> {
            switch (ropeType()) {
                case "default", "llama3" -> {} // the latter as factors in a tensor
                case "linear" -> {
                    header.put(family.architecture() + ".rope.scaling.type", "linear");
                    put("rope.scaling.factor", (float) fields.number("factor"));
                }
                case "yarn" -> putYarn(fields);
                case "longrope", "su" -> {
                    if (family != Family.PHI3) {
                        throw refused("rope_type longrope");
                    }
                    header.put(family.architecture() + ".rope.scaling.type", "longrope");
                    put("rope.scaling.attn_factor", (float) longFactor(fields));
                }
                default -> throw refused("rope_type " + ropeType());
            }
        });
    }

    private void putYarn(Metadata fields) {
        for (String field : List.of("attention_factor", "mscale", "mscale_all_dim", "truncate")) {
            if (fields.has(field)) {
                throw refused(field + " of yarn");
            }
        }
        header.put(family.architecture() + ".rope.scaling.type", "yarn");
        put("rope.scaling.factor", (float) fields.number("factor"));
        put("rope.scaling.original_context_length", fields.integer("original_max_position_embeddings"));
        if (fields.has("beta_fast")) {
            put("rope.scaling.yarn_beta_fast", (float) fields.number("beta_fast"));
        }
        if (fields.has("beta_slow")) {
            put("rope.scaling.yarn_beta_slow", (float) fields.number("beta_slow"));
        }
    }

    private CheckpointException refused(String what) {
        return new CheckpointException(
                config.origin() + " has " + what + ", for which a GGUF of " + family.architecture() + " has no words");
    }

    private int trained() {
        int beside = config.integer("original_max_position_embeddings", positive("max_position_embeddings"));
        return rope().map(fields -> fields.integer("original_max_position_embeddings", beside))
                .orElse(beside);
    }

    private double longFactor(Metadata fields) {
        double scale = (double) positive("max_position_embeddings") / trained();
        double derived = scale <= 1 ? 1 : Math.sqrt(1 + Math.log(scale) / Math.log(trained()));
        return fields.number("attention_factor", derived);
    }

    /** Factors of frequencies where a checkpoint says how to compute them, and GGUF has them. */
    List<SourceTensor> ropeFactors() {
        return switch (ropeType()) {
            case "llama3" -> {
                if (!family.interleavesHeads()) {
                    throw refused("rope_type llama3");
                }
                yield List.of(SourceTensor.ofVector("rope_freqs.weight", llama3(rope().orElseThrow())));
            }
            case "longrope", "su" ->
                List.of(
                        SourceTensor.ofVector(
                                "rope_factors_long.weight", rope().orElseThrow().numbers("long_factor")),
                        SourceTensor.ofVector(
                                "rope_factors_short.weight",
                                rope().orElseThrow().numbers("short_factor")));
            default -> List.of();
        };
    }

    /** Llama 3.1's: long waves are stretched, short ones not, those between in part. */
    private float[] llama3(Metadata fields) {
        double factor = fields.number("factor");
        double low = fields.number("low_freq_factor");
        double high = fields.number("high_freq_factor");
        double trained = fields.integer("original_max_position_embeddings");
        var factors = new float[headSize() / 2];
        for (int i = 0; i < factors.length; i++) {
            float frequency = 1 / (float) Math.pow(theta(), (float) (2 * i) / headSize());
            float wave = (float) (2 * Math.PI) / frequency;
            float smooth = (float) (((float) trained / wave - low) / (high - low));
            factors[i] = wave < trained / high
                    ? 1
                    : wave > trained / low ? (float) factor : 1 / ((1 - smooth) / (float) factor + smooth);
        }
        return factors;
    }

    private void putOwn(int vocabulary) {
        switch (family) {
            case LLAMA, MISTRAL -> {
                put("vocab_size", vocabulary);
                put("rope.dimension_count", headSize());
                if (config.has("sliding_window")) { // llama.cpp's converter leaves it out, and attends to all
                    put("attention.sliding_window", positive("sliding_window"));
                }
            }
            case QWEN2, QWEN3 -> {
                if (config.flag("use_sliding_window", false)) {
                    throw refused("use_sliding_window");
                }
                if (family == Family.QWEN3 && config.flag("attention_bias", false)) {
                    throw refused("attention_bias");
                }
            }
            case GEMMA -> {}
            case GEMMA2 -> {
                putScores(46);
                putNumber(config, "attn_logit_softcapping", "gemma2.attn_logit_softcapping");
                putNumber(config, "final_logit_softcapping", "gemma2.final_logit_softcapping");
                put("attention.sliding_window", positive("sliding_window"));
            }
            case GEMMA3 -> putGemma3();
            case PHI -> {
                if (config.flag("qk_layernorm", false)) {
                    throw refused("qk_layernorm");
                }
                put("rope.dimension_count", (int) (turningShare() * headSize()));
            }
            case PHI3 -> {
                put("rope.dimension_count", (int) (turningShare() * headSize()));
                put("rope.scaling.original_context_length", trained());
                put("attention.sliding_window", config.integer("sliding_window", 0));
            }
        }
    }

    private double turningShare() {
        double assumed = family == Family.PHI ? 0.5 : 1;
        double beside = config.number("partial_rotary_factor", assumed);
        return rope().map(fields -> fields.number("partial_rotary_factor", beside))
                .orElse(beside);
    }

    private void putGemma3() {
        putScores(62);
        if (config.has("attn_logit_softcapping")) {
            throw refused("attn_logit_softcapping");
        }
        putNumber(config, "final_logit_softcapping", "gemma3.final_logit_softcapping");
        int pattern = config.integer("sliding_window_pattern", config.integer("_sliding_window_pattern", PATTERN));
        put("attention.sliding_window", positive("sliding_window"));
        if (pattern != PATTERN) {
            put("attention.sliding_window_pattern", pattern);
        }
        double beside = config.number("rope_local_base_freq", 10_000);
        double sliding = ropes().flatMap(all -> all.object("sliding_attention"))
                .map(fields -> fields.number("rope_theta", beside))
                .orElse(beside);
        put("rope.freq_base_swa", (float) sliding);
    }

    /** A GGUF does not say by what scores are scaled: its readers divide the width by the heads in the largest model alone. */
    private void putScores(int layersOfLargest) {
        boolean isLargest = positive("num_hidden_layers") == layersOfLargest;
        double read = isLargest ? (double) positive("hidden_size") / heads() : headSize();
        double stated = config.number("query_pre_attn_scalar", read);
        if (stated != read) {
            throw refused("query_pre_attn_scalar " + stated + " beside heads of " + headSize());
        }
    }

    private void putVocabulary(int size) {
        if (!folder.hasTokenizer()) {
            header.put(TOKENIZER + "model", "none");
            return;
        }
        GgufVocabulary vocabulary = Tokenizers.toGguf(path(), size, statedIds());
        header.put(TOKENIZER + "model", vocabulary.model());
        header.put(TOKENIZER + "pre", vocabulary.pre());
        header.put(TOKENIZER + "tokens", vocabulary.tokens());
        if (vocabulary.scores().length > 0) {
            header.put(TOKENIZER + "scores", vocabulary.scores());
        }
        header.put(TOKENIZER + "token_type", vocabulary.tokenType());
        if (!vocabulary.merges().isEmpty()) {
            header.put(TOKENIZER + "merges", vocabulary.merges());
        }
        vocabulary.tokenIds().forEach((key, id) -> header.put(TOKENIZER + key, id));
        vocabulary.flags().forEach((key, flag) -> header.put(TOKENIZER + key, flag));
        putTemplates();
    }

    private Path path() {
        return Files.isDirectory(folder.source()) ? folder.source() : FolderFiles.folderOf(folder.source());
    }

    private Map<String, Integer> statedIds() {
        var ids = new LinkedHashMap<String, Integer>();
        for (var field : Map.of(
                        "bos_token_id", "bos_token_id",
                        "eos_token_id", "eos_token_id",
                        "pad_token_id", "padding_token_id",
                        "sep_token_id", "seperator_token_id")
                .entrySet()) {
            boolean isOne = config.has(field.getKey()) && config.integers(field.getKey()).length == 1;
            if (isOne && config.integers(field.getKey())[0] >= 0) {
                ids.put(field.getValue(), config.integers(field.getKey())[0]);
            }
        }
        return ids;
    }

    private void putTemplates() {
        folder.chatTemplate().ifPresent(template -> header.put("tokenizer.chat_template", template));
        var others = new ArrayList<String>();
        for (String name : OTHER_TEMPLATES) {
            folder.chatTemplate(name).ifPresent(template -> {
                others.add(name);
                header.put("tokenizer.chat_template." + name, template);
            });
        }
        if (!others.isEmpty()) {
            header.put("tokenizer.chat_templates", others);
        }
    }
}
