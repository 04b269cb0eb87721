package roselle.embedding;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** What a GGUF says becomes of hidden states: a way of pooling, dense layers, a classifier; in llama.cpp's names. */
final class GgufHeads {
    private static final int MEAN = 1;
    private static final int CLS = 2;
    private static final int LAST = 3;
    private static final int RANK = 4;
    private static final int UNSAID = -1;

    private static final String HIDDEN = "cls";
    private static final String SCORES = "cls.output";

    /** Families whose classifier looks at the last token, by the words yes and no. */
    private static final Set<String> DECODERS = Set.of("qwen3", "qwen3vl");

    private final Checkpoint checkpoint;
    private final Metadata metadata;
    private final String family;

    private GgufHeads(Checkpoint checkpoint) {
        this.checkpoint = checkpoint;
        metadata = checkpoint.config();
        family = metadata.string("general.architecture");
    }

    /** Whether a checkpoint is a GGUF that pools or ranks. */
    static boolean pools(Checkpoint checkpoint) {
        if (checkpoint.format() != Checkpoint.Format.GGUF) {
            return false;
        }
        var heads = new GgufHeads(checkpoint);
        return heads.pooling() > 0 || heads.isClassifier();
    }

    /** The output of an encoder; one that says nothing has the mean of its tokens. */
    static EncoderOutput output(Checkpoint checkpoint) {
        var heads = new GgufHeads(checkpoint);
        return heads.isClassifier() ? heads.classifier() : heads.vectors();
    }

    private int pooling() {
        return metadata.integer(family + ".pooling_type", UNSAID);
    }

    private boolean isClassifier() {
        return pooling() == RANK || checkpoint.tensors().containsKey(SCORES + ".weight");
    }

    /** Vectors have a length of 1, as llama.cpp gives them. */
    private EncoderOutput vectors() {
        var steps = new ArrayList<OutputStep>();
        for (String name : List.of("dense_2", "dense_3", "dense.0", "dense.1")) { // the latter as Ollama has them
            Tensor weight = checkpoint.tensors().get(name + ".weight");
            if (weight != null) {
                steps.add(OutputStep.Dense.plain(weight));
            }
        }
        if (metadata.flag(family + ".normalize_embeddings", true)) {
            steps.add(new OutputStep.UnitLength());
        }
        return new EncoderOutput(pooling(pooling(), family + ".pooling_type"), steps, List.of());
    }

    private Pooling pooling(int kind, String key) {
        return switch (kind) {
            case UNSAID, MEAN -> Pooling.MEAN;
            case CLS -> Pooling.CLS;
            case LAST -> Pooling.LAST;
            default ->
                throw new CheckpointException(metadata.origin() + ": " + key + " is " + kind
                        + "; supported are 1 (mean), 2 (first token), 3 (last token) and 4 (rank)");
        };
    }

    private EncoderOutput classifier() {
        if (DECODERS.contains(family)) {
            return yesAndNo();
        }
        boolean isModern = family.equals("modern-bert");
        if (!isModern && !checkpoint.tensors().containsKey(HIDDEN + ".weight")) {
            throw new CheckpointException(checkpoint.source() + " is a classifier without the layer before its scores,"
                    + " which llama.cpp's converter leaves out of BERT's: use the model's safetensors");
        }
        if (!isModern && !checkpoint.tensors().containsKey("token_types.weight")) {
            throw new CheckpointException(checkpoint.source()
                    + " is DistilBERT's classifier, whose function a GGUF does not say: use the model's safetensors");
        }
        Tensor scores = checkpoint.tensor(SCORES + ".weight");
        var steps = new ArrayList<OutputStep>();
        int width = (int) scores.shape().columns();
        steps.add(dense(HIDDEN, width, width, isModern ? Classifiers::gelu : Math::tanh));
        if (isModern) {
            steps.add(norm(width));
        }
        List<String> labels = labels((int) scores.shape().extent(0));
        steps.add(dense(SCORES, labels.size(), width, Classifiers::same));
        String key = family + ".classifier.pooling_type";
        Pooling pooling = isModern ? pooling(metadata.integer(key, MEAN), key) : Pooling.CLS;
        return new EncoderOutput(pooling, steps, labels);
    }

    /** Of two scores, of which a softmax is taken, their difference, of which a sigmoid is. */
    private EncoderOutput yesAndNo() {
        Tensor scores = checkpoint.tensor(SCORES + ".weight");
        if (scores.shape().rank() != 2 || scores.shape().extent(0) != 2) {
            throw new CheckpointException(checkpoint.source() + ": tensor " + SCORES + ".weight has shape "
                    + scores.shape() + ", expected a row for yes and one for no");
        }
        int width = (int) scores.shape().columns();
        var rows = Dequantizer.all(scores);
        var difference = new float[width];
        for (int i = 0; i < width; i++) {
            difference[i] = rows[i] - rows[width + i];
        }
        return new EncoderOutput(
                Pooling.LAST,
                List.of(OutputStep.Dense.score(difference)),
                labels(2).subList(0, 1));
    }

    private List<String> labels(int count) {
        String key = family + ".classifier.output_labels";
        List<String> labels = metadata.has(key)
                ? metadata.strings(key)
                : IntStream.range(0, count).mapToObj(label -> "LABEL_" + label).toList();
        if (labels.size() != count) {
            throw new CheckpointException(
                    metadata.origin() + ": " + key + " has " + labels.size() + " names for " + count + " scores");
        }
        return labels;
    }

    private OutputStep dense(String name, int outputs, int inputs, DoubleUnaryOperator activation) {
        Tensor weight = shaped(name + ".weight", outputs, inputs);
        boolean hasBias = checkpoint.tensors().containsKey(name + ".bias");
        float[] bias = hasBias ? Dequantizer.all(shaped(name + ".bias", outputs)) : new float[outputs];
        return new OutputStep.Dense(weight, bias, activation);
    }

    private OutputStep norm(int width) {
        double epsilon = metadata.number(
                family + ".attention.layer_norm_epsilon",
                metadata.number(family + ".attention.layer_norm_rms_epsilon", 1e-5));
        return new OutputStep.LayerNorm(
                Dequantizer.all(shaped(HIDDEN + ".norm.weight", width)), new float[width], epsilon);
    }

    private Tensor shaped(String name, long... extents) {
        Tensor tensor = checkpoint.tensor(name);
        if (!tensor.shape().equals(Shape.of(extents))) {
            throw new CheckpointException(checkpoint.source() + ": tensor " + name + " has shape " + tensor.shape()
                    + ", expected " + Shape.of(extents));
        }
        return tensor;
    }
}
