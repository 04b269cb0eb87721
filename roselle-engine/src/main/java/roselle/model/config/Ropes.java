package roselle.model.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.api.CheckpointException;
import roselle.backend.operation.PositionScale;
import roselle.checkpoint.Metadata;
import roselle.model.spec.RopeScaling;
import roselle.model.spec.RopeSpec;
import roselle.tensor.Dequantizer;

/**
 * Reads rotary positions: {@code rope_parameters} (transformers 5), {@code rope_theta} with {@code rope_scaling} (4.x), or
 * GGUF's {@code rope.*} keys and factor tensors.
 */
public final class Ropes {
    private static final Set<String> KNOWN = Set.of(
            "rope_type",
            "type",
            "mrope_interleaved", // which pairs turn with a picture's rows and columns: text turns all of them alike
            "mrope_section",
            "rope_theta",
            "partial_rotary_factor",
            "alpha",
            "factor",
            "llama_4_scaling_beta",
            "max_position_embeddings",
            "original_max_position_embeddings",
            "low_freq_factor",
            "high_freq_factor",
            "beta_fast",
            "beta_slow",
            "attention_factor",
            "mscale",
            "mscale_all_dim",
            "truncate",
            "short_factor",
            "long_factor",
            "short_mscale",
            "long_mscale");

    /** Families of GGUF whose multiplier of logarithms divides the magnitude, as {@code mscale_all_dim} does. */
    private static final Set<String> GROWING = Set.of("mistral3");

    private final ModelConfig config;
    private final int headSize;
    private final int context;
    private final double defaultTheta;
    private final boolean interleaved;
    private final double assumedShare;

    public Ropes(ModelConfig config, int headSize, int context, double defaultTheta, boolean interleaved) {
        this(config, headSize, context, defaultTheta, interleaved, 1);
    }

    /** With the part of a head that turns where the configuration does not say it. */
    public Ropes(
            ModelConfig config,
            int headSize,
            int context,
            double defaultTheta,
            boolean interleaved,
            double assumedShare) {
        this.assumedShare = assumedShare;
        this.config = config;
        this.headSize = headSize;
        this.context = context;
        this.defaultTheta = defaultTheta;
        this.interleaved = interleaved;
    }

    /** The rotation of all layers. */
    public RopeSpec read() {
        if (config.isGguf()) {
            return gguf(config.number("", "rope.freq_base", defaultTheta), ggufScaling());
        }
        double theta = config.number("rope_theta", "", config.number("rotary_emb_base", "", defaultTheta));
        double share = config.number("partial_rotary_factor", "", config.number("rotary_pct", "", assumedShare));
        Optional<Metadata> old = config.object("rope_scaling");
        Optional<Metadata> parameters = config.object("rope_parameters").or(() -> old);
        return parameters.map(fields -> of(fields, theta, share)).orElseGet(() -> plain(theta, share));
    }

    /** The rotation of the layers of one type, where {@code rope_parameters} tells them apart. */
    public RopeSpec read(String layerType) {
        Metadata all = config.object("rope_parameters").orElseThrow();
        Metadata fields = all.object(layerType)
                .orElseThrow(() -> new CheckpointException(all.origin() + " has no field " + layerType));
        return of(fields, defaultTheta, 1);
    }

    /**
     * The rotation of some layers, of a base of their own and stretched as the configuration says, without a factor for sines and cosines
     * that it does not say (DeepSeek V4).
     *
     * @param part of {@code rope_parameters}, where that tells layers apart
     */
    public RopeSpec stretched(String part, double theta) {
        Optional<Metadata> parameters = config.object("rope_parameters");
        Optional<Metadata> fields = parameters
                .flatMap(all -> all.has(part) ? all.object(part) : Optional.of(all))
                .or(() -> config.object("rope_scaling"));
        RopeScaling scaling =
                config.isGguf() ? ggufScaling() : fields.map(this::scaling).orElseGet(RopeScaling.None::new);
        float said =
                fields.map(one -> (float) one.number("attention_factor", 1)).orElse(1f);
        if (scaling instanceof RopeScaling.Yarn yarn) {
            scaling = new RopeScaling.Yarn(
                    yarn.factor(), yarn.trainedContext(), yarn.betaFast(), yarn.betaSlow(), yarn.truncates(), said);
        }
        return new RopeSpec(dimensions(1), theta, interleaved, scaling);
    }

    /** The rotation of a layer that has a base and a share of its own; {@code isScaled} as {@code rope_scaling} says. */
    public RopeSpec read(double theta, double share, boolean isScaled) {
        Optional<Metadata> scaling = isScaled ? config.object("rope_scaling") : Optional.empty();
        return scaling.map(fields -> of(fields, theta, share)).orElseGet(() -> plain(theta, share));
    }

    /** The multiplier of scores that DeepSeek derives from {@code mscale_all_dim}. */
    public double scoreFactor() {
        if (config.isGguf()) {
            double perLog = config.number("", "rope.scaling.yarn_log_multiplier", 0);
            double factor = config.number("", "rope.scaling.factor", 1);
            double scale = factor <= 1 || perLog == 0 ? 1 : perLog * Math.log(factor) + 1;
            return scale * scale;
        }
        Optional<Metadata> fields = config.object("rope_parameters").or(() -> config.object("rope_scaling"));
        if (fields.isEmpty() || type(fields.orElseThrow()).equals("default")) {
            return 1;
        }
        double share = fields.orElseThrow().number("mscale_all_dim", 0);
        double scale = share == 0 ? 1 : magnitude(fields.orElseThrow().number("factor", 1), share);
        return scale * scale;
    }

    /** By what queries are multiplied the further they are from the beginning, where a rotation says so (Ministral 3); else null. */
    public @Nullable PositionScale queryScale() {
        if (config.isGguf()) {
            double share = config.number("", "attention.temperature_scale", 0);
            int tokens = config.integer("", "rope.scaling.original_context_length", context);
            return share == 0 ? null : new PositionScale((float) share, tokens, 0);
        }
        Optional<Metadata> fields = config.object("rope_parameters").or(() -> config.object("rope_scaling"));
        double share = fields.map(one -> one.number("llama_4_scaling_beta", 0)).orElse(0.0);
        return share == 0 ? null : new PositionScale((float) share, trained(fields.orElseThrow()), 0);
    }

    public RopeSpec plain(double theta, double share) {
        return new RopeSpec(dimensions(share), theta, interleaved, new RopeScaling.None());
    }

    private int dimensions(double share) {
        int dimensions = (int) (headSize * share);
        if (dimensions < 2 || dimensions % 2 != 0 || dimensions > headSize) {
            throw config.unsupported("partial_rotary_factor", Double.toString(share), "an even part of a head");
        }
        return dimensions;
    }

    private RopeSpec of(Metadata fields, double theta, double share) {
        for (String key : fields.keys()) {
            if (fields.has(key) && !KNOWN.contains(key)) {
                throw new CheckpointException(fields.origin() + ": " + key + " is not a field that Roselle knows");
            }
        }
        double base = fields.number("rope_theta", theta);
        double part = fields.number("partial_rotary_factor", share);
        if (type(fields).equals("proportional")) {
            var scaling = new RopeScaling.Proportional(part, fields.number("factor", 1));
            return new RopeSpec(headSize, base, interleaved, scaling);
        }
        int dimensions = dimensions(part);
        return new RopeSpec(dimensions, base, interleaved, scaling(fields));
    }

    private static String type(Metadata fields) {
        return fields.string("rope_type", fields.string("type", "default"));
    }

    private RopeScaling scaling(Metadata fields) {
        String type = type(fields);
        return switch (type) {
            case "default", "mrope" -> new RopeScaling.None(); // of mrope's three positions text has one
            case "linear" -> new RopeScaling.Linear(factor(fields));
            case "dynamic" ->
                fields.number("alpha", 0) > 0
                        ? new RopeScaling.FixedBase(fields.number("alpha"))
                        : new RopeScaling.Dynamic(factor(fields), context);
            case "llama3" ->
                new RopeScaling.Llama3(
                        factor(fields),
                        fields.number("low_freq_factor"),
                        fields.number("high_freq_factor"),
                        trained(fields));
            case "yarn" -> yarn(fields);
            case "longrope", "su" -> longRope(fields);
            default ->
                throw new CheckpointException(fields.origin() + ": rope_type is " + type
                        + "; supported are default, linear, dynamic, llama3, yarn, longrope and proportional");
        };
    }

    private static double factor(Metadata fields) {
        double factor = fields.number("factor");
        if (!(factor > 0)) {
            throw new CheckpointException(fields.origin() + ": factor is " + factor + ", expected more than 0");
        }
        return factor;
    }

    /** Tokens of the training, which some families keep beside the scaling's own fields. */
    private int trained(Metadata fields) {
        int beside = config.integer("original_max_position_embeddings", "", context);
        int trained = config.has("original_max_position_embeddings", "")
                ? beside
                : fields.integer("original_max_position_embeddings", context);
        if (trained < 1) {
            throw new CheckpointException(fields.origin() + ": original_max_position_embeddings is " + trained);
        }
        return trained;
    }

    private RopeScaling yarn(Metadata fields) {
        int trained = trained(fields);
        double factor = fields.has("factor") ? factor(fields) : (double) context / trained;
        double magnitude = magnitude(factor, 1);
        if (fields.number("mscale", 0) != 0 && fields.number("mscale_all_dim", 0) != 0) {
            magnitude = magnitude(factor, fields.number("mscale")) / magnitude(factor, fields.number("mscale_all_dim"));
        }
        return new RopeScaling.Yarn(
                factor,
                trained,
                fields.number("beta_fast", 32),
                fields.number("beta_slow", 1),
                fields.flag("truncate", true),
                (float) fields.number("attention_factor", magnitude));
    }

    private static double magnitude(double factor, double share) {
        return factor <= 1 ? 1 : 0.1 * share * Math.log(factor) + 1;
    }

    private RopeScaling longRope(Metadata fields) {
        int trained = trained(fields);
        double factor = fields.has("factor") ? factor(fields) : (double) context / trained;
        double magnitude = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(trained));
        if (fields.has("short_mscale")) { // Phi-MoE, which has one for each list
            magnitude = fields.number("short_mscale", magnitude);
            if (fields.number("long_mscale", magnitude) != magnitude) {
                throw config.unsupported("long_mscale", "another than short_mscale", "the same");
            }
        }
        return new RopeScaling.LongRope(
                list(fields.numbers("short_factor")), list(fields.numbers("long_factor")), trained, (float)
                        fields.number("attention_factor", magnitude));
    }

    /** A rotation of a GGUF with a base and a scaling. */
    public RopeSpec gguf(double theta, RopeScaling scaling) {
        int dimensions = config.integer("", "rope.dimension_count", headSize);
        if (dimensions < 2 || dimensions % 2 != 0 || dimensions > headSize) {
            throw config.unsupported("rope.dimension_count", Integer.toString(dimensions), "an even part of a head");
        }
        return new RopeSpec(dimensions, theta, interleaved, scaling);
    }

    /** The scaling that a GGUF's keys and tensors describe. */
    RopeScaling ggufScaling() {
        double factor = config.number("", "rope.scaling.factor", 1);
        int trained = config.integer("", "rope.scaling.original_context_length", context);
        float attention = (float) config.number("", "rope.scaling.attn_factor", 1);
        if (config.hasTensor("rope_factors_long.weight")) {
            List<Float> longFactors = factors("rope_factors_long.weight");
            return new RopeScaling.LongRope(factors("rope_factors_short.weight"), longFactors, trained, attention);
        }
        if (config.hasTensor("rope_freqs.weight")) {
            List<Float> factors = factors("rope_freqs.weight");
            return new RopeScaling.LongRope(factors, factors, trained, 1f);
        }
        String type = config.string("", "rope.scaling.type", factor == 1 ? "none" : "linear");
        return switch (type) {
            case "none" -> new RopeScaling.None();
            case "linear" -> new RopeScaling.Linear(factor);
            case "yarn" -> {
                double perLog = GROWING.contains(config.family())
                        ? config.number("", "rope.scaling.yarn_log_multiplier", 0)
                        : 0;
                double magnitude = attention * magnitude(factor, 1) / (perLog == 0 ? 1 : magnitude(factor, perLog));
                boolean truncates = !config.family().equals("gpt-oss");
                double fast = config.number("", "rope.scaling.yarn_beta_fast", 32);
                double slow = config.number("", "rope.scaling.yarn_beta_slow", 1);
                yield new RopeScaling.Yarn(factor, trained, fast, slow, truncates, (float) magnitude);
            }
            default -> throw config.unsupported("rope.scaling.type", type, "none, linear or yarn");
        };
    }

    private List<Float> factors(String name) {
        config.extent(name, 0);
        return list(Dequantizer.all(config.tensor(name).orElseThrow()));
    }

    private static List<Float> list(float[] numbers) {
        var list = new ArrayList<Float>();
        for (float number : numbers) {
            list.add(number);
        }
        return list;
    }
}
