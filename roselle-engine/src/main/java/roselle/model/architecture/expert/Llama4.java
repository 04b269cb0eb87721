package roselle.model.architecture.expert;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.backend.operation.Activation;
import roselle.backend.operation.PositionScale;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** Llama 4, text only: attention in chunks with positions, layers that see everything without, one expert for each token beside a shared one. */
public final class Llama4 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("llama4", "llama4_text");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("llama4");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        ModelConfig text = config.text();
        config.pass("vision_config", "image_token_index", "boi_token_index", "eoi_token_index");
        var builder = SpecBuilder.of(text, sizes(text));
        text.requireOff("attention_bias");
        text.pass("for_llm_compressor");
        builder.rmsNorm(text, 0f);
        builder.rope(text, 500_000, true);
        feedForwards(text, builder);
        AttentionSpec.MultiHead[] heads = builder.heads();
        boolean[] turn = turning(text, heads.length);
        boolean norms = text.isGguf()
                ? builder.sizes.layers() != 48 || text.integer("", "expert_count", 0) == 16
                : text.flag("use_qk_norm", "", true);
        int chunk = text.isGguf()
                ? text.integer("", "attention.chunk_size", CHUNK)
                : text.window("attention_chunk_size", "");
        PositionScale grows = queryScale(text);
        for (int layer = 0; layer < heads.length; layer++) {
            heads[layer] = turn[layer]
                    ? turned(heads[layer], chunk, norms)
                    : heads[layer].with(0, null).with(heads[layer].traits().withQueryScale(grows));
        }
        boolean isTied = SpecBuilder.isTied(config, SpecBuilder.isTied(text, false));
        builder.output = new OutputSpec(isTied, false, 1f, 0f);
        return new Blueprint(builder.spec(heads), text.isGguf() ? Names.gguf() : names(config, text));
    }

    private static final int CHUNK = 8192;
    private static final int MOST = 1 << 24;

    /** Those of the dense feed-forwards, which have a field of their own. */
    private static Sizes sizes(ModelConfig text) {
        int keyHeads = text.size("num_key_value_heads", "attention.head_count_kv", 1 << 16);
        return Sizes.of(text, keyHeads, text.size("intermediate_size_mlp", "feed_forward_length", MOST));
    }

    private static AttentionSpec.MultiHead turned(AttentionSpec.MultiHead heads, int chunk, boolean norms) {
        AttentionSpec.MultiHead inChunks = chunk == 0
                ? heads
                : heads.with(chunk, heads.rope()).with(heads.traits().withChunks());
        return norms ? inChunks.with(QueryKeyNorm.PLAIN, false) : inChunks; // turning first changes no length
    }

    private static boolean[] turning(ModelConfig text, int layers) {
        int every = text.size("no_rope_layer_interval", "", MOST, 4);
        boolean said = !text.isGguf() && text.has("no_rope_layers", "");
        int[] flags = said ? text.integers("no_rope_layers") : new int[0];
        text.pass("layer_types"); // that follow from these
        var turn = new boolean[layers];
        if (flags.length != 0 && flags.length < layers) {
            throw text.unsupported("no_rope_layers", flags.length + " numbers", "one for each layer");
        }
        for (int layer = 0; layer < layers; layer++) {
            turn[layer] = flags.length == 0 ? (layer + 1) % every != 0 : flags[layer] != 0;
        }
        return turn;
    }

    private static @Nullable PositionScale queryScale(ModelConfig text) {
        boolean grows = text.flag("attn_temperature_tuning", "", true);
        float share = (float) text.number("attn_scale", "attention.temperature_scale", 0.1);
        int tokens = text.size("floor_scale", "attention.temperature_length", 1 << 30, CHUNK);
        return grows ? new PositionScale(share, tokens, 1) : null;
    }

    /** Experts in some layers, gates in the others. */
    private static void feedForwards(ModelConfig text, SpecBuilder builder) {
        builder.gated(text, "hidden_act", Activation.SILU, false);
        int size = text.size("intermediate_size", "expert_feed_forward_length", MOST);
        int step = text.size("interleave_moe_layer_step", "interleave_moe_layer_step", MOST, 1);
        boolean said = !text.isGguf() && text.has("moe_layers", "");
        int[] layers = said ? text.integers("moe_layers") : new int[0];
        FeedForwardSpec.Experts experts = Mixture.of(text, size, false)
                .withSigmoids(false, 1f)
                .withShared(size, false)
                .with(new FeedForwardSpec.Experts.Traits(true, true, 0));
        for (int layer = 0; layer < builder.feedForwards.length; layer++) {
            int index = layer;
            boolean routes = said ? Arrays.stream(layers).anyMatch(one -> one == index) : (layer + 1) % step == 0;
            builder.feedForwards[layer] = routes ? experts : builder.feedForwards[layer];
        }
    }

    private static WeightNames names(ModelConfig config, ModelConfig text) {
        return text == config ? NAMES : Names.wrapped(config, NAMES).with(WeightNames.Layout.TRANSPOSED_EXPERTS);
    }

    private static final String HALF = "feed_forward.";
    private static final WeightNames NAMES = Names.huggingFace()
            .with(Map.ofEntries(
                    entry(Part.GATE, Names.layer(HALF + "gate_proj")),
                    entry(Part.UP, Names.layer(HALF + "up_proj")),
                    entry(Part.DOWN, Names.layer(HALF + "down_proj")),
                    entry(Part.ROUTER, Names.layer(HALF + "router")),
                    entry(Part.EXPERT_GATE_UP, Names.layer(HALF + "experts.gate_up_proj")),
                    entry(Part.EXPERT_DOWN, Names.layer(HALF + "experts.down_proj")),
                    entry(Part.SHARED_GATE, Names.layer(HALF + "shared_expert.gate_proj")),
                    entry(Part.SHARED_UP, Names.layer(HALF + "shared_expert.up_proj")),
                    entry(Part.SHARED_DOWN, Names.layer(HALF + "shared_expert.down_proj"))))
            .with(WeightNames.Layout.TRANSPOSED_EXPERTS);
}
