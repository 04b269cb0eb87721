package roselle.model.architecture.llama;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Xielu;
import roselle.checkpoint.Metadata;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** Apertus: Llama with norms of queries and keys, and a plain feed-forward whose activation was trained. */
public final class Apertus implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("apertus");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("apertus");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        config.requireOff("attention_bias", "mlp_bias", "post_norm");
        config.requireOn("qk_norm");
        config.requireWord("hidden_act", "xielu");
        builder.rmsNorm(config, 0f, 1e-5);
        builder.rope(config, 12_000_000, false);
        builder.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        for (int layer = 0; layer < builder.feedForwards.length; layer++) {
            builder.feedForwards[layer] = new FeedForwardSpec.Plain(builder.sizes.inner(), xielu(config, layer));
        }
        return new Blueprint(builder.spec(), Names.of(config, NAMES));
    }

    /** What was trained of a layer's activation is stored before a softplus that keeps it above 0, or above the slope. */
    private static Xielu xielu(ModelConfig config, int layer) {
        double slope = number(config, "beta", layer, 0.5);
        double positive = softplus(number(config, "alpha_p", layer, Double.NaN));
        double negative = slope + softplus(number(config, "alpha_n", layer, Double.NaN));
        return new Xielu(
                (float) positive, (float) negative, (float) slope, (float) number(config, "eps", layer, -1e-6));
    }

    private static double number(ModelConfig config, String name, int layer, double assumed) {
        if (config.isGguf()) {
            Metadata metadata = config.metadata();
            float[] all = metadata.has("xielu." + name) ? metadata.numbers("xielu." + name) : new float[0];
            return all.length == 0 ? required(config, "xielu." + name, assumed) : all[Math.min(layer, all.length - 1)];
        }
        String tensor = Names.layer("mlp.act_fn." + name).replace("{layer}", Integer.toString(layer));
        float[] numbers = config.numbersOf(tensor);
        return numbers.length == 0 ? required(config, tensor, assumed) : numbers[0];
    }

    private static double required(ModelConfig config, String name, double assumed) {
        if (Double.isNaN(assumed)) {
            throw config.unsupported(name, "absent", "a number for each layer");
        }
        return assumed;
    }

    private static double softplus(double x) {
        return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
    }

    private static final Map<Part, String> NAMES = Map.of(
            Part.ATTENTION_NORM, Names.layer("attention_layernorm"),
            Part.FEED_FORWARD_NORM, Names.layer("feedforward_layernorm"));
}
