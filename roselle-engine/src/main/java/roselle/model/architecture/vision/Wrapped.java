package roselle.model.architecture.vision;

import static java.util.Map.entry;

import java.util.List;
import java.util.Map;
import java.util.Set;
import roselle.model.architecture.dense.Gemma3;
import roselle.model.architecture.expert.DeepseekV3;
import roselle.model.architecture.hybrid.Lfm2;
import roselle.model.architecture.llama.Llama;
import roselle.model.architecture.llama.Mistral;
import roselle.model.architecture.llama.Qwen2;
import roselle.model.architecture.llama.Qwen3;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.weights.Blueprint;

/**
 * Decoders that have a type of their own, beside an encoder of pictures or sound that only names and sizes tell of: their text. A
 * GGUF of one is that of the decoder.
 */
public final class Wrapped implements Architecture {
    private static final List<Architecture> DECODERS =
            List.of(new DeepseekV3(), new Gemma3(), new Lfm2(), new Llama(), new Mistral(), new Qwen2(), new Qwen3());

    @Override
    public Set<String> modelTypes() {
        return Set.of(
                "gemma3",
                "idefics3",
                "internvl",
                "kimi_k25",
                "lfm2_vl",
                "llava",
                "llava_next",
                "llava_onevision",
                "qwen2_audio",
                "smolvlm");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        String type = config.object("text_config")
                .orElseThrow(() -> config.unsupported("text_config", "absent", "the configuration of a decoder"))
                .string("model_type");
        Architecture decoder = DECODERS.stream()
                .filter(one -> one.modelTypes().contains(type))
                .findFirst()
                .orElseThrow(() -> config.unsupported("text_config", type, "the type of a decoder that is read"));
        config.pass(ENCODER);
        config.pass(PLACES);
        boolean hasOutput = config.hasTensor("lm_head.weight") || config.hasTensor("language_model.lm_head.weight");
        config.pass("tie_word_embeddings"); // what the checkpoint shows
        Blueprint text = decoder.read(config.text(ASSUMED.getOrDefault(type, Map.of())));
        return new Blueprint(text.spec().withTied(!hasOutput), Names.wrapped(config, text.names()));
    }

    /** What is beside the decoder, and how what it gives is brought to the decoder's width. */
    private static final String[] ENCODER = {
        "vision_config",
        "audio_config",
        "downsample_factor",
        "downsample_ratio",
        "multimodal_projector_bias",
        "projection_hidden_size",
        "projection_layer_norm_eps",
        "projector_bias",
        "projector_hidden_act",
        "projector_hidden_size",
        "projector_use_layernorm",
        "scale_factor",
        "vision_aspect_ratio",
        "vision_feature_layer",
        "vision_feature_select_strategy"
    };

    /** Where in a prompt pictures or sound stand, and how many tokens they take. */
    private static final String[] PLACES = {
        "audio_token_index",
        "boi_token_index",
        "eoi_token_index",
        "ignore_index",
        "image_grid_pinpoints",
        "image_seq_length",
        "image_token_index",
        "mm_tokens_per_image",
        "use_image_newline_parameter",
        "video_token_index"
    };

    /** What published configurations leave out of a decoder's, because transformers assumes it. */
    private static final Map<String, Map<String, Integer>> ASSUMED = Map.of(
            "gemma3_text",
                    Map.ofEntries(
                            entry("vocab_size", 262_208),
                            entry("hidden_size", 2304),
                            entry("intermediate_size", 9216),
                            entry("num_hidden_layers", 26),
                            entry("num_attention_heads", 8),
                            entry("num_key_value_heads", 4),
                            entry("head_dim", 256),
                            entry("max_position_embeddings", 131_072),
                            entry("sliding_window", 4096)),
            "lfm2",
                    Map.ofEntries(
                            entry("vocab_size", 65_536),
                            entry("hidden_size", 2560),
                            entry("intermediate_size", 12_288),
                            entry("num_hidden_layers", 32),
                            entry("num_attention_heads", 32),
                            entry("num_key_value_heads", 8),
                            entry("max_position_embeddings", 128_000)),
            "llama",
                    Map.ofEntries(
                            entry("vocab_size", 32_000),
                            entry("hidden_size", 4096),
                            entry("intermediate_size", 11_008),
                            entry("num_hidden_layers", 32),
                            entry("num_attention_heads", 32),
                            entry("max_position_embeddings", 2048)),
            "mistral",
                    Map.ofEntries(
                            entry("vocab_size", 32_000),
                            entry("hidden_size", 4096),
                            entry("intermediate_size", 14_336),
                            entry("num_hidden_layers", 32),
                            entry("num_attention_heads", 32),
                            entry("num_key_value_heads", 8),
                            entry("max_position_embeddings", 131_072),
                            entry("sliding_window", 4096)),
            "qwen2",
                    Map.ofEntries(
                            entry("vocab_size", 151_936),
                            entry("hidden_size", 4096),
                            entry("intermediate_size", 22_016),
                            entry("num_hidden_layers", 32),
                            entry("num_attention_heads", 32),
                            entry("num_key_value_heads", 32),
                            entry("max_position_embeddings", 32_768)),
            "qwen3",
                    Map.ofEntries(
                            entry("vocab_size", 151_936),
                            entry("hidden_size", 4096),
                            entry("intermediate_size", 22_016),
                            entry("num_hidden_layers", 32),
                            entry("num_attention_heads", 32),
                            entry("num_key_value_heads", 32),
                            entry("head_dim", 128),
                            entry("max_position_embeddings", 32_768)));
}
