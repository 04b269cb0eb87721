package roselle.model.architecture;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.model.config.ModelConfig;
import roselle.model.config.UnreadFields;
import roselle.model.weights.Blueprint;

/** All families of decoders, and the way from a checkpoint to one. */
public final class Architectures {
    private static final List<Architecture> ALL = List.of(
            new Cohere(),
            new DeepseekV3(),
            new Gemma(),
            new Gemma2(),
            new Gemma3(),
            new Glm4(),
            new Gpt2(),
            new GptNeox(),
            new GptOss(),
            new Granite(),
            new Lfm2(),
            new Llama(),
            new Mistral(),
            new Mixtral(),
            new Olmo2(),
            new Phi(),
            new Phi3(),
            new Qwen2(),
            new Qwen2Moe(),
            new Qwen3(),
            new Qwen3Moe(),
            new Qwen3Next(),
            new Qwen35(),
            new SmolLm3(),
            new StableLm(),
            new Starcoder2());

    private Architectures() {}

    /** The decoder that a checkpoint describes; a {@code CheckpointException} names what is not supported. */
    public static Blueprint read(Checkpoint checkpoint) {
        var config = new ModelConfig(checkpoint);
        Architecture architecture = find(config);
        try {
            config.requireKnownQuantization();
            Blueprint blueprint = architecture.read(config);
            UnreadFields.refuse(config);
            return blueprint;
        } catch (IllegalArgumentException impossible) {
            throw new CheckpointException(config.metadata().origin() + ": " + impossible.getMessage(), impossible);
        }
    }

    /** The names by which checkpoints of a format call the families that are supported. */
    public static Set<String> names(Checkpoint.Format format) {
        var names = new TreeSet<String>();
        for (Architecture architecture : ALL) {
            names.addAll(format == Checkpoint.Format.GGUF ? architecture.ggufNames() : architecture.modelTypes());
        }
        return names;
    }

    private static Architecture find(ModelConfig config) {
        String family = config.family();
        for (Architecture architecture : ALL) {
            if ((config.isGguf() ? architecture.ggufNames() : architecture.modelTypes()).contains(family)) {
                return architecture;
            }
        }
        var format = config.isGguf() ? Checkpoint.Format.GGUF : Checkpoint.Format.HUGGING_FACE;
        throw config.unsupported(
                config.isGguf() ? "general.architecture" : "model_type", family, String.join(", ", names(format)));
    }
}
