package roselle.model.architecture.llama;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;

/** ERNIE 4.5 without experts: Llama with neighbours rotated. */
public final class Ernie45 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("ernie4_5");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("ernie4_5");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.rope(config, 500_000, true);
        boolean bias = config.flagOrTensor("use_bias", "blk.0.attn_q.bias", false);
        builder.projectionBias = bias;
        builder.attentionOutputBias = bias;
        builder.gated(config, "hidden_act", Activation.SILU, bias);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, 1f, 0f);
        return new Blueprint(builder.spec(), Names.of(config, Map.of()));
    }
}
