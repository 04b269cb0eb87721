package roselle.model.architecture.hybrid;

import static java.util.Map.entry;

import java.util.List;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.spec.RopeScaling;
import roselle.model.spec.RopeSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** LFM 3: gated short convolutions, layers with a window and layers that see everything, a norm behind each half and a gate for each head. */
public final class Lfm3 implements Architecture {
    private static final String CONVOLVES = "conv";
    private static final String SLIDES = "sliding_attention";
    private static final String FULL = "full_attention";

    @Override
    public Set<String> modelTypes() {
        return Set.of("lfm3");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        config.requireOff("attention_bias");
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config.number("norm_eps", "", 1e-5));
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, 1f, 0f);
        builder.block = new BlockSpec(true, config.flag("use_sandwich_norm", "", true), false, false, 1f);
        builder.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        builder.gated(config, "hidden_act", Activation.SILU, false);
        if (config.flag("use_attention_gate", "", true)) {
            builder.gated = true;
            builder.traits = builder.traits.withHeadGates();
        }
        return new Blueprint(
                builder.spec(attentions(config, builder)),
                Names.huggingFace().with(Lfm2.NAMES).with(NAMES));
    }

    private static AttentionSpec[] attentions(ModelConfig config, SpecBuilder builder) {
        int window = config.size("sliding_window", "", 1 << 30, 256);
        var convolution = new AttentionSpec.ShortConvolution(
                config.size("conv_L_cache", "", AttentionSpec.MAX_TAPS, 7), config.flag("conv_bias", "", false));
        String[] types = types(config, builder.windows.length);
        for (int layer = 0; layer < types.length; layer++) {
            builder.windows[layer] = types[layer].equals(SLIDES) ? window : 0;
            builder.ropes[layer] = types[layer].equals(CONVOLVES) ? null : rope(config, builder.sizes, types[layer]);
        }
        AttentionSpec[] attentions = builder.attentions();
        for (int layer = 0; layer < types.length; layer++) {
            attentions[layer] = types[layer].equals(CONVOLVES) ? convolution : attentions[layer];
        }
        return attentions;
    }

    /** What each layer is: as named, or of four layers one with a window, but not the first, and one that sees everything. */
    private static String[] types(ModelConfig config, int layers) {
        var types = new String[layers];
        List<String> named = config.has("layer_types", "") ? config.strings("layer_types") : List.of();
        if (!named.isEmpty() && named.size() != layers) {
            throw config.unsupported("layer_types", named.size() + " names", "one for each layer");
        }
        for (int layer = 0; layer < layers; layer++) {
            String assumed = layer % 4 == 2 ? FULL : layer % 4 == 0 && layer > 0 ? SLIDES : CONVOLVES;
            types[layer] = named.isEmpty() ? assumed : named.get(layer);
            if (!Set.of(CONVOLVES, SLIDES, FULL).contains(types[layer])) {
                throw config.unsupported("layer_types", types[layer], CONVOLVES + ", " + FULL + " or " + SLIDES);
            }
        }
        return types;
    }

    private static RopeSpec rope(ModelConfig config, Sizes sizes, String type) {
        var ropes = new Ropes(config, sizes.headSize(), sizes.context(), 10_000, false);
        if (config.object("rope_parameters").isPresent()) {
            return ropes.read(type);
        }
        return type.equals(SLIDES)
                ? ropes.plain(10_000, 1)
                : new RopeSpec(sizes.headSize(), 1_000_000, false, new RopeScaling.Proportional(0.5, 1));
    }

    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.ATTENTION_OUTPUT, Names.layer("self_attn.o_proj")),
            entry(Part.QUERY_NORM, Names.layer("self_attn.q_norm")),
            entry(Part.KEY_NORM, Names.layer("self_attn.k_norm")),
            entry(Part.ATTENTION_GATE, Names.layer("self_attn.gate_proj")),
            entry(Part.POST_ATTENTION_NORM, Names.layer("post_operator_norm")),
            entry(Part.POST_FEED_FORWARD_NORM, Names.layer("post_ffn_norm")));
}
