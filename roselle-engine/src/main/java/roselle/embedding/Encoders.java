package roselle.embedding;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.backend.ModelWeights;
import roselle.backend.operation.Norm;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.model.architecture.Architectures;
import roselle.model.spec.DecoderSpec;
import roselle.model.weights.Blueprint;
import roselle.tensor.DataType;

/** Which checkpoints embed texts, and which texts they take. */
@SuppressWarnings("exports") // for the command line, which checkpoints are exported to
public final class Encoders {
    private Encoders() {}

    /** Whether a checkpoint is an encoder, or a decoder with scores in the place of logits: either generates nothing. */
    public static boolean isOne(Checkpoint checkpoint) {
        return GgufHeads.pools(checkpoint)
                || Classifiers.of(checkpoint).isPresent()
                || PairTemplate.isQwen3Reranker(checkpoint)
                || !Architectures.readAny(checkpoint).spec().generates();
    }

    /**
     * Whether a path names an encoder, a decoder with what sentence-transformers writes beside one that embeds, or a GGUF whose hidden
     * states are pooled.
     */
    public static boolean isOne(Path model) {
        boolean isGguf = model.toString().endsWith(".gguf") && Files.isRegularFile(model);
        if (!isGguf && !Files.isDirectory(model)) {
            return false;
        }
        if (Files.exists(model.resolve("modules.json"))) {
            return true;
        }
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            return isOne(checkpoint);
        }
    }

    /**
     * What a device is told of a checkpoint. Encoders with layer norms that are stored as float32 or float16 are computed in float16 by
     * everybody; others, as Gemma, leave its range.
     */
    static ModelWeights weights(Checkpoint checkpoint) {
        ModelWeights weights =
                ModelWeights.of(checkpoint.tensors().values()).yielding().encoding();
        boolean isWide = weights.type().filter(type -> type == DataType.BF16).isEmpty();
        DecoderSpec spec = Architectures.readAny(checkpoint).spec();
        boolean hasLayerNorms = spec.isBidirectional() && spec.norm().kind() == Norm.Kind.LAYER;
        return isWide && hasLayerNorms ? weights.preferringDigits() : weights;
    }

    /** What a checkpoint is without its logits but those of masked tokens. */
    static Blueprint blueprint(Checkpoint checkpoint) {
        Blueprint blueprint = Architectures.readAny(checkpoint);
        var encoder = new Blueprint(blueprint.spec().withoutOutput(), blueprint.names());
        return MaskedTokens.areIn(checkpoint) ? MaskedTokens.blueprint(checkpoint, encoder) : encoder;
    }

    /** Refuses ids and types that the model has no embedding of. */
    static void require(List<EncoderInput> inputs, DecoderSpec spec) {
        int types = Math.max(1, spec.input().types());
        for (EncoderInput input : inputs) {
            for (int token = 0; token < input.length(); token++) {
                requireBelow("token id", input.id(token), spec.vocabulary());
                requireBelow("type", input.type(token), types);
            }
        }
    }

    private static void requireBelow(String what, int value, int limit) {
        if (value < 0 || value >= limit) {
            throw new InvalidRequestException(
                    Reason.OUT_OF_RANGE, "", "a " + what + " is " + value + ": it must be among 0 to " + (limit - 1));
        }
    }
}
