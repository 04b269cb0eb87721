package roselle.model.architecture.hybrid;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** Bamba: state spaces, and some layers that attend, half of whose heads turns; from safetensors alone, see {@link GraniteHybrid}. */
public final class Bamba implements Architecture {
    private static final double TURNING = 0.5; // in transformers whatever a configuration says

    @Override
    public Set<String> modelTypes() {
        return Set.of("bamba");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        config.requireOff("attention_bias", "mlp_bias");
        config.pass("num_logits_to_keep", "z_loss_coefficient");
        Sizes sizes = Sizes.of(config);
        SpecBuilder builder = SpecBuilder.of(config, sizes);
        builder.rmsNorm(config.number("rms_norm_eps", "", 1e-5));
        builder.gated(config, "hidden_act", Activation.SILU, false);
        int turning = config.integer("attn_rotary_emb", "", sizes.headSize() / 2);
        if (turning != sizes.headSize() / 2) {
            throw config.unsupported("attn_rotary_emb", Integer.toString(turning), "half of a head");
        }
        Arrays.fill(builder.ropes, new Ropes(config, sizes.headSize(), sizes.context(), 10_000, false, TURNING).read());
        return new Blueprint(
                builder.spec(Hybrids.attentions(config, builder, stateLayers(config, sizes.layers()))),
                Names.huggingFace().with(Hybrids.NAMES).with(NAMES));
    }

    /** All layers but those that are said to attend. */
    private static boolean[] stateLayers(ModelConfig config, int layers) {
        int[] attending = config.has("attn_layer_indices", "") ? config.integers("attn_layer_indices") : new int[0];
        var are = new boolean[layers];
        Arrays.fill(are, true);
        for (int layer : attending) {
            if (layer < 0 || layer >= layers) {
                throw config.unsupported("attn_layer_indices", Integer.toString(layer), "layers from 0 on");
            }
            are[layer] = false;
        }
        config.pass("layer_types", "layers_block_type");
        return are;
    }

    private static final Map<Part, String> NAMES = Map.of(
            Part.FINAL_NORM, "model.final_layernorm",
            Part.FEED_FORWARD_NORM, Names.layer("pre_ff_layernorm"),
            Part.GATE, Names.layer("feed_forward.gate_proj"),
            Part.UP, Names.layer("feed_forward.up_proj"),
            Part.DOWN, Names.layer("feed_forward.down_proj"));
}
