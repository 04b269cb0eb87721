package roselle.engine;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import roselle.api.CheckpointException;
import roselle.api.InvalidRequestException;
import roselle.api.SamplingParameters;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;

/** How a model's makers advise to draw its tokens: {@code generation_config.json}, or GGUF's {@code general.sampling}. */
final class ModelDefaults {
    private final Metadata advice;
    private final String prefix;
    private boolean isGiven;

    private ModelDefaults(Metadata advice, String prefix) {
        this.advice = advice;
        this.prefix = prefix;
    }

    /** The advice, with the engine's defaults for what it leaves open; empty where there is none at all. */
    static Optional<SamplingParameters> of(Checkpoint checkpoint) {
        return switch (checkpoint.format()) {
            case GGUF ->
                new ModelDefaults(checkpoint.config(), "general.sampling.").read("temp", "penalty_repeat", "typ_p");
            case HUGGING_FACE ->
                checkpoint
                        .generationConfig()
                        .flatMap(config ->
                                new ModelDefaults(config, "").read("temperature", "repetition_penalty", "typical_p"));
        };
    }

    private Optional<SamplingParameters> read(String temperature, String repetitionPenalty, String typicalP) {
        var open = SamplingParameters.DEFAULT;
        try {
            var advised = new SamplingParameters(
                    number(temperature, open.temperature()),
                    (int) number("top_k", open.topK()),
                    number("top_p", open.topP()),
                    number("min_p", open.minP()),
                    number(typicalP, open.typicalP()),
                    number(repetitionPenalty, open.repetitionPenalty()),
                    open.presencePenalty(),
                    open.frequencyPenalty(),
                    Map.of(),
                    OptionalLong.empty());
            return isGiven ? Optional.of(advised) : Optional.empty();
        } catch (InvalidRequestException refused) {
            throw new CheckpointException(advice.origin() + ": " + refused.getMessage(), refused);
        }
    }

    private double number(String key, double fallback) {
        isGiven |= advice.has(prefix + key);
        return advice.number(prefix + key, fallback);
    }
}
