package roselle.model.weights;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import roselle.model.spec.DecoderSpec;

/**
 * Tensors that a checkpoint may have without being asked for them: buffers that code computes, layers that only training
 * or speculation uses, and encoders of pictures beside a decoder of text.
 *
 * @param layers layers of the decoder; those behind them predict further tokens
 * @param generates whether there are logits; a model without them may come with heads for other tasks
 * @param tied whether the output matrix is the embedding, so that a copy of it is not needed
 * @param sharing layers that read another one's keys and values, whose own mean nothing
 */
public record UnusedTensors(int layers, boolean generates, boolean tied, Set<Integer> sharing) {
    public UnusedTensors {
        sharing = Set.copyOf(sharing);
    }

    private static final List<String> BUFFERS = List.of(
            ".rotary_emb.inv_freq",
            ".parametrizations.weight.0.lora_A", // of tasks, which are read apart
            ".parametrizations.weight.0.lora_B",
            ".act_fn.alpha_n", // which the description has
            ".act_fn.alpha_p",
            ".act_fn.beta",
            ".act_fn.eps",
            ".self_attn.slope_rate", // decays, which follow from the layer's number
            ".self_attn.query_decay",
            ".self_attn.key_decay",
            ".self_attn.diagonal_decay",
            ".attn.bias",
            ".attn.masked_bias",
            ".attention.bias",
            ".attention.masked_bias",
            "rope_freqs.weight",
            "rope_factors_long.weight",
            "rope_factors_short.weight");

    /** What reads pictures, and what predicts further tokens. */
    private static final List<String> OTHER_PARTS = List.of(
            "model.visual.",
            "visual.",
            "model.vision_tower.",
            "vision_tower.",
            "vision_model.",
            "vit_large_projector.",
            "model.multi_modal_projector.",
            "multi_modal_projector.",
            "patch_merge_mlp.",
            "mm_projector.",
            "model.mm_projector.",
            "model.vision_model.",
            "model.connector.",
            "model.image_newline",
            "image_newline",
            "model.vision_embedder.",
            "model.embed_vision.",
            "model.embed_audio.",
            "model.audio_tower.",
            "embed_vision.",
            "embed_audio.",
            "audio_tower.",
            "mtp.");

    private static final List<String> LAYERS = List.of(
            "model.layers.",
            "model.language_model.layers.",
            "model.text_model.layers.",
            "language_model.model.layers.",
            "blk.");

    /** Heads behind an encoder, and a buffer that counts. */
    private static final Pattern HEADS = Pattern.compile(
            "(\\w+\\.)?(pooler|cls|dense_\\d|output|classifier|dense|score|pre_classifier|lm_head|head|decoder|lm_predictions|mask_predictions|vocab_\\w+|embeddings\\.\\w+_ids)(\\..*)?");

    /** Keys and values of a layer. */
    private static final Pattern KEYS =
            Pattern.compile(".*\\.(self_attn\\.(k_proj|v_proj|k_norm|v_norm)|attn_(k|v|k_norm))\\.[^.]+");

    /** Those of a decoder, or of what reads last hidden states alone. */
    public static UnusedTensors of(DecoderSpec spec) {
        Set<Integer> sharing = IntStream.range(0, spec.layers().size())
                .filter(layer -> spec.sourceOfKeys(layer) != layer)
                .boxed()
                .collect(Collectors.toSet());
        return new UnusedTensors(
                spec.layers().size(), spec.generates() && !spec.transformsOutput(), spec.isTied(), sharing);
    }

    public boolean mayIgnore(String name) {
        if (!generates && HEADS.matcher(name).matches()) {
            return true;
        }
        if (BUFFERS.stream().anyMatch(name::endsWith)) {
            return true;
        }
        if (OTHER_PARTS.stream().anyMatch(name::startsWith)) {
            return true;
        }
        if (tied
                && (name.equals("lm_head.weight")
                        || name.equals("language_model.lm_head.weight")
                        || name.equals("output.weight"))) {
            return true;
        }
        int layer = layerOf(name);
        return layer >= layers || (sharing.contains(layer) && KEYS.matcher(name).matches());
    }

    /** The number behind {@code layers.} or {@code blk.}; −1 where there is none. */
    private static int layerOf(String name) {
        for (String prefix : LAYERS) {
            if (name.startsWith(prefix)) {
                int end = name.indexOf('.', prefix.length());
                String number = end < 0 ? "" : name.substring(prefix.length(), end);
                return number.length() < 10 && number.chars().allMatch(Character::isDigit) && !number.isEmpty()
                        ? Integer.parseInt(number)
                        : -1;
            }
        }
        return -1;
    }
}
