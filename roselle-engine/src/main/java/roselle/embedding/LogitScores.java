package roselle.embedding;

import java.util.List;
import java.util.Optional;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.model.architecture.Architectures;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** A decoder's logits of single tokens as a score: of a word that says yes, less that of one that says no. */
final class LogitScores {
    private LogitScores() {}

    /** As sentence-transformers names the tokens; without one that says no, the logit of the other is the score. */
    static EncoderOutput of(Checkpoint checkpoint, Metadata module) {
        int yes = module.integer("true_token_id");
        int no = module.integer("false_token_id", -1);
        return of(checkpoint, yes, no);
    }

    /** Of the words themselves. */
    static EncoderOutput ofYesAndNo(Checkpoint checkpoint) {
        return of(checkpoint, id(checkpoint, "yes"), id(checkpoint, "no"));
    }

    private static int id(Checkpoint checkpoint, String word) {
        return checkpoint
                .tokenizer()
                .idOf(word)
                .orElseThrow(() -> new CheckpointException(checkpoint.source()
                        + " ranks by the words yes and no, but its tokenizer has no token " + word));
    }

    private static EncoderOutput of(Checkpoint checkpoint, int yes, int no) {
        Blueprint blueprint = Architectures.readAny(checkpoint);
        OutputSpec output = Optional.ofNullable(blueprint.spec().output())
                .orElseThrow(() ->
                        new CheckpointException(checkpoint.source() + " has no logits, by which it is said to rank"));
        if (output.bias() || output.softCap() != 0) {
            throw new CheckpointException(
                    checkpoint.source() + " ranks by logits that have a bias or a cap, which is not supported");
        }
        Tensor rows =
                checkpoint.tensor(blueprint
                                .names()
                                .name(output.tied() ? Part.EMBEDDING : Part.OUTPUT, 0)
                                .orElseThrow() + ".weight");
        int width = blueprint.spec().width();
        if (!rows.shape().equals(Shape.of(blueprint.spec().vocabulary(), width))) {
            throw new CheckpointException(checkpoint.source() + ": tensor " + rows.name() + " has shape " + rows.shape()
                    + ", expected a row for each token");
        }
        float[] weights = row(rows, yes, width);
        float[] others = no < 0 ? new float[width] : row(rows, no, width);
        for (int i = 0; i < width; i++) {
            weights[i] = output.scale() * (weights[i] - others[i]);
        }
        String label = checkpoint.tokenizer().spellingOf(yes);
        return new EncoderOutput(Pooling.LAST, List.of(OutputStep.Dense.score(weights)), List.of(label));
    }

    private static float[] row(Tensor rows, int token, int width) {
        if (token < 0 || token >= rows.shape().extent(0)) {
            throw new CheckpointException("a model ranks by the logit of token " + token + ", of which it has none");
        }
        var numbers = new float[width];
        Dequantizer.row(rows, token, numbers, 0);
        return numbers;
    }
}
