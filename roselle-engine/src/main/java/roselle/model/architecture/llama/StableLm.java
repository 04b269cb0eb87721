package roselle.model.architecture.llama;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.BlockSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** StableLM: Llama with layer norms and partly rotated heads. */
public final class StableLm implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("stablelm");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("stablelm");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.layerNorm(config, "layer_norm_eps", true);
        boolean parallel = config.isGguf()
                ? config.flag("", "use_parallel_residual", !config.hasTensor("blk.0.ffn_norm.weight"))
                : config.flag("use_parallel_residual", "", false);
        builder.block = new BlockSpec(true, false, parallel, true, 1f);
        builder.rope(config, 10_000, false);
        builder.projectionBias =
                config.isGguf() ? config.hasTensor("blk.0.attn_q.bias") : config.flag("use_qkv_bias", "", false);
        boolean norms =
                config.isGguf() ? config.hasTensor("blk.0.attn_q_norm.weight") : config.flag("qk_layernorm", "", false);
        builder.queryKeyNorm = norms ? QueryKeyNorm.PER_HEAD : QueryKeyNorm.NONE;
        builder.gated(config, "hidden_act", Activation.SILU, false);
        return new Blueprint(builder.spec(), Names.of(config, NAMES));
    }

    private static final Map<Part, String> NAMES = Map.of(
            Part.QUERY_NORM, Names.layer("self_attn.q_layernorm"),
            Part.KEY_NORM, Names.layer("self_attn.k_layernorm"));
}
