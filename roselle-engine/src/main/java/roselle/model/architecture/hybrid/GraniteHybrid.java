package roselle.model.architecture.hybrid;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.model.architecture.llama.Granite;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/**
 * Granite 4: Granite most of whose layers are state spaces, or none of them, with experts and a shared one, or without experts.
 */
public final class GraniteHybrid implements Architecture {
    private static final int MOST = 1 << 24;

    @Override
    public Set<String> modelTypes() {
        return Set.of("granitemoehybrid");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("granitehybrid");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        config.pass("normalization_function", "init_method");
        Sizes sizes = config.isGguf() ? Sizes.of(config, Lfm2.keyHeads(config)) : Sizes.of(config);
        SpecBuilder builder = Granite.builder(config, sizes);
        Arrays.fill(builder.feedForwards, feedForward(config, sizes));
        if (!turns(config, sizes)) {
            Arrays.fill(builder.ropes, null);
        }
        boolean[] keepStates = Hybrids.stateLayers(config, sizes.layers());
        return new Blueprint(
                builder.spec(Hybrids.attentions(config, builder, keepStates)),
                config.isGguf()
                        ? Names.gguf().with(Hybrids.GGUF_NAMES)
                        : Names.huggingFace().with(Hybrids.NAMES).with(NAMES));
    }

    /**
     * Whether positions are encoded. llama.cpp's converter puts whole heads into the order of neighbours as pairs, also where half of a
     * head turns, whose pairs are others: such files, of Bamba, are refused.
     */
    private static boolean turns(ModelConfig config, Sizes sizes) {
        if (!config.isGguf()) {
            return config.string("position_embedding_type", "", "nope").equals("rope");
        }
        boolean turns = config.flag("", "rope.scaling.finetuned", true); // says so of this family
        int dimensions = config.integer("", TURNING, sizes.headSize());
        if (turns && dimensions != sizes.headSize()) {
            throw config.unsupported(
                    TURNING, Integer.toString(dimensions), sizes.headSize() + "; take the model as safetensors");
        }
        return turns;
    }

    private static final String TURNING = "rope.dimension_count";

    /** Experts beside a shared one, or that one alone. */
    private static FeedForwardSpec feedForward(ModelConfig config, Sizes sizes) {
        int shared = config.isGguf()
                ? config.size("", "expert_shared_feed_forward_length", MOST, sizes.inner())
                : config.size("shared_intermediate_size", "", MOST);
        if (config.integer("num_local_experts", "expert_count", config.isGguf() ? 0 : 8) == 0) {
            config.pass("num_experts_per_tok"); // of what is not there
            return new FeedForwardSpec.Gated(shared, Gate.of(config.activation("hidden_act", Activation.SILU)), false);
        }
        return Mixture.of(config, sizes.inner(), true).withShared(shared, false);
    }

    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.GATE_UP, Names.layer("shared_mlp.input_linear")),
            entry(Part.DOWN, Names.layer("shared_mlp.output_linear")),
            entry(Part.SHARED_GATE_UP, Names.layer("shared_mlp.input_linear")),
            entry(Part.SHARED_DOWN, Names.layer("shared_mlp.output_linear")),
            entry(Part.ROUTER, Names.layer("block_sparse_moe.router.layer")),
            entry(Part.EXPERT_GATE_UP, Names.layer("block_sparse_moe.input_linear")),
            entry(Part.EXPERT_DOWN, Names.layer("block_sparse_moe.output_linear")));
}
