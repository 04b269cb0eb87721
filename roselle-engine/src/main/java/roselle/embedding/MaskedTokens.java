package roselle.embedding;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.backend.operation.Activation;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.huggingface.FolderJson;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;

/** Encoders that guess masked tokens, and by the logits of their guesses give sparse vectors (SPLADE; Formal et al., 2021). */
final class MaskedTokens {
    /** Families whose heads are known. */
    private static final Set<String> FAMILIES = Set.of("bert", "distilbert", "roberta", "xlm-roberta");

    private MaskedTokens() {}

    /** Whether a checkpoint is said to give such vectors, by what sentence-transformers writes beside it. */
    static boolean areIn(Checkpoint checkpoint) {
        if (checkpoint.format() == Checkpoint.Format.GGUF) {
            return false;
        }
        Path source = checkpoint.source();
        Path folder = Files.isDirectory(source) ? source : source.resolveSibling("");
        return FolderJson.objects(folder.resolve("modules.json")).stream()
                .anyMatch(module -> module.string("type", "").endsWith(".SpladePooling"));
    }

    /** An encoder with the logits of its guesses. */
    static Blueprint blueprint(Checkpoint checkpoint, Blueprint encoder) {
        DecoderSpec spec = encoder.spec();
        if (!FAMILIES.contains(spec.architecture()) || spec.input().tasks() != null) {
            throw new CheckpointException(
                    checkpoint.source() + ": the head that guesses tokens of " + spec.architecture()
                            + " is not known; known are those of bert, distilbert, roberta and xlm-roberta");
        }
        if (!checkpoint.config().flag("tie_word_embeddings", true)) {
            throw new CheckpointException(
                    checkpoint.source()
                            + ": tie_word_embeddings is false; supported is true, where guesses are products with the embedding");
        }
        var output = new OutputSpec(true, true, 1f, 0f, activation(spec));
        return new Blueprint(spec.with(output), encoder.names());
    }

    /** That of the layers, but RoBERTa's is always the same. */
    private static Activation activation(DecoderSpec spec) {
        boolean isOfLayers = !spec.architecture().endsWith("roberta");
        return isOfLayers && spec.layers().getFirst().feedForward() instanceof FeedForwardSpec.Plain plain
                ? plain.activation()
                : Activation.GELU;
    }
}
