package roselle.embedding;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.DoubleUnaryOperator;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Heads that make scores of a sequence's first hidden state: classifiers, and cross-encoders, which have one score. */
final class Classifiers {
    private static final int MAX_LABELS = 1 << 16;

    private Classifiers() {}

    /** The configuration of a checkpoint that says it is one. */
    static Optional<Metadata> of(Checkpoint checkpoint) {
        Metadata config = checkpoint.config();
        boolean is = checkpoint.format() != Checkpoint.Format.GGUF
                && config.has("architectures")
                && config.strings("architectures").stream()
                        .anyMatch(name -> name.endsWith("ForSequenceClassification") || isOfTokens(name));
        return is ? Optional.of(config) : Optional.empty();
    }

    private static boolean isOfTokens(String architecture) {
        return architecture.endsWith("ForTokenClassification");
    }

    /** The head of a checkpoint that has one, by the tensors that are there. */
    static EncoderOutput output(Checkpoint checkpoint) {
        Metadata config = checkpoint.config();
        int width = config.has("hidden_size") ? config.integer("hidden_size") : config.integer("dim");
        List<String> labels = labels(config);
        if (config.strings("architectures").stream().anyMatch(Classifiers::isOfTokens)) {
            return tokens(checkpoint, labels, width);
        }
        if (has(checkpoint, "score")) { // a decoder, whose last token has seen all others
            OutputStep scores = dense(checkpoint, "score", labels.size(), width, false, Classifiers::same);
            return new EncoderOutput(Pooling.LAST, List.of(scores), labels);
        }
        var steps = new ArrayList<OutputStep>();
        Optional<String> pooler =
                POOLERS.stream().filter(name -> has(checkpoint, name)).findFirst();
        if (pooler.isPresent()) {
            steps.add(dense(checkpoint, pooler.get(), width, width, true, Math::tanh));
            steps.add(dense(checkpoint, "classifier", labels.size(), width, true, Classifiers::same));
        } else if (config.string("model_type", "").equals("deberta-v2")) {
            var activation = activation(config.origin(), config.string("pooler_hidden_act", "gelu"));
            steps.add(dense(checkpoint, "pooler.dense", width, width, true, activation));
            steps.add(dense(checkpoint, "classifier", labels.size(), width, true, Classifiers::same));
        } else if (has(checkpoint, "head.dense")) {
            return modern(checkpoint, labels, width);
        } else if (has(checkpoint, "dense")) {
            return euro(checkpoint, labels, width);
        } else if (has(checkpoint, "classifier.dense")) {
            boolean isElectra = config.string("model_type", "").equals("electra"); // of BERT's kin the one without tanh
            steps.add(dense(
                    checkpoint, "classifier.dense", width, width, true, isElectra ? Classifiers::gelu : Math::tanh));
            steps.add(dense(checkpoint, "classifier.out_proj", labels.size(), width, true, Classifiers::same));
        } else if (has(checkpoint, "pre_classifier")) {
            steps.add(dense(checkpoint, "pre_classifier", width, width, true, x -> Math.max(0, x)));
            steps.add(dense(checkpoint, "classifier", labels.size(), width, true, Classifiers::same));
        } else {
            throw new CheckpointException(checkpoint.source()
                    + " is a classifier by its configuration, but has none of the heads that are known: "
                    + String.join(", ", POOLERS) + ", classifier.dense, pre_classifier, head.dense, dense");
        }
        return new EncoderOutput(Pooling.CLS, steps, labels);
    }

    /** A score of each label for each token: names of people, parts of speech. */
    private static EncoderOutput tokens(Checkpoint checkpoint, List<String> labels, int width) {
        Metadata config = checkpoint.config();
        var steps = new ArrayList<OutputStep>();
        if (has(checkpoint, "head.dense")) {
            steps.addAll(modernHead(checkpoint, width));
        }
        String name = has(checkpoint, "score") ? "score" : "classifier";
        if (!has(checkpoint, name)) {
            throw new CheckpointException(
                    config.origin() + " is a classifier of tokens, but has neither classifier nor score");
        }
        boolean hasBias = checkpoint.tensors().containsKey(name + ".bias");
        steps.add(dense(checkpoint, name, labels.size(), width, hasBias, Classifiers::same));
        return new EncoderOutput(steps, Pooling.TOKENS, List.of(), labels);
    }

    private static final List<String> POOLERS = List.of("bert.pooler.dense", "gte.pooler.dense");

    /** ModernBERT's head: its own dense layer and norm, then the scores. */
    private static EncoderOutput modern(Checkpoint checkpoint, List<String> labels, int width) {
        var steps = new ArrayList<>(modernHead(checkpoint, width));
        steps.add(dense(checkpoint, "classifier", labels.size(), width, true, Classifiers::same));
        return new EncoderOutput(pooling(checkpoint.config(), "cls", "cls"), steps, labels);
    }

    private static List<OutputStep> modernHead(Checkpoint checkpoint, int width) {
        Metadata config = checkpoint.config();
        var activation = activation(config.origin(), config.string("classifier_activation", "gelu"));
        return List.of(
                dense(checkpoint, "head.dense", width, width, config.flag("classifier_bias", false), activation),
                norm(checkpoint, "head.norm", width, config));
    }

    /** EuroBERT's head; "late" is the mean of each token's scores, which is the scores' layer of the mean, as it is linear. */
    private static EncoderOutput euro(Checkpoint checkpoint, List<String> labels, int width) {
        Metadata config = checkpoint.config();
        OutputStep inner = dense(checkpoint, "dense", width, width, true, Classifiers::gelu);
        OutputStep scores = dense(checkpoint, "classifier", labels.size(), width, true, Classifiers::same);
        if (config.string("classifier_pooling", "late").equals("late")) {
            return new EncoderOutput(List.of(inner), Pooling.MEAN, List.of(scores), labels);
        }
        return new EncoderOutput(pooling(config, "bos", "late"), List.of(inner, scores), labels);
    }

    private static Pooling pooling(Metadata config, String first, String assumed) {
        String name = config.string("classifier_pooling", assumed);
        if (!name.equals(first) && !name.equals("mean")) {
            throw new CheckpointException(
                    config.origin() + ": classifier_pooling is " + name + "; supported are " + first + " and mean");
        }
        return name.equals("mean") ? Pooling.MEAN : Pooling.CLS;
    }

    private static OutputStep norm(Checkpoint checkpoint, String name, int width, Metadata config) {
        Tensor weight = checkpoint.tensor(name + ".weight");
        require(checkpoint, weight, width);
        float[] bias = new float[width];
        if (config.flag("norm_bias", false)) {
            Tensor offsets = checkpoint.tensor(name + ".bias");
            require(checkpoint, offsets, width);
            bias = Dequantizer.all(offsets);
        }
        return new OutputStep.LayerNorm(Dequantizer.all(weight), bias, config.number("norm_eps", 1e-5));
    }

    /** The names of the scores, in their order. */
    private static List<String> labels(Metadata config) {
        Optional<Metadata> named = config.object("id2label");
        int count = named.map(names -> names.keys().size()).orElseGet(() -> config.integer("num_labels", 2));
        if (count < 1 || count > MAX_LABELS) {
            throw new CheckpointException(
                    config.origin() + ": there are " + count + " labels, expected 1 to " + MAX_LABELS);
        }
        var labels = new ArrayList<String>();
        for (int i = 0; i < count; i++) {
            String fallback = "LABEL_" + i;
            String key = Integer.toString(i);
            labels.add(named.map(names -> names.string(key, fallback)).orElse(fallback));
        }
        return labels;
    }

    private static boolean has(Checkpoint checkpoint, String name) {
        return checkpoint.tensors().containsKey(name + ".weight");
    }

    /** A dense layer by the name of its tensors; one without a name is all that there is. */
    static OutputStep dense(
            Checkpoint checkpoint,
            String name,
            int outputs,
            int inputs,
            boolean hasBias,
            DoubleUnaryOperator activation) {
        String prefix = name.isEmpty() ? "" : name + ".";
        Tensor weight = checkpoint.tensor(prefix + "weight");
        require(checkpoint, weight, outputs, inputs);
        float[] bias = new float[outputs];
        if (hasBias) {
            Tensor offsets = checkpoint.tensor(prefix + "bias");
            require(checkpoint, offsets, outputs);
            bias = Dequantizer.all(offsets);
        }
        return new OutputStep.Dense(weight, bias, activation);
    }

    private static void require(Checkpoint checkpoint, Tensor tensor, long... extents) {
        Shape expected = Shape.of(extents);
        if (!tensor.shape().equals(expected) || !tensor.type().isFloating()) {
            throw new CheckpointException(checkpoint.source() + ": tensor " + tensor.name() + " is "
                    + tensor.type().label() + " of shape " + tensor.shape() + ", expected floats of shape " + expected);
        }
    }

    /** The function that a configuration names. */
    static DoubleUnaryOperator activation(String origin, String name) {
        return switch (name.toLowerCase(Locale.ROOT)) {
            case "tanh" -> Math::tanh;
            case "identity" -> Classifiers::same;
            case "relu" -> x -> Math.max(0, x);
            case "gelu" -> Classifiers::gelu;
            case "sigmoid" -> x -> 1 / (1 + Math.exp(-x));
            default ->
                throw new CheckpointException(origin + ": the activation is " + name
                        + "; supported are Tanh, Identity, ReLU, GELU and Sigmoid");
        };
    }

    static double gelu(double x) {
        return x / 2 * (1 + errorFunction(x / Math.sqrt(2)));
    }

    /** {@code erf(x)}, by the series of positive terms {@code 2^n x^(2n+1) / (2n+1)!!} (Abramowitz and Stegun, 7.1.6). */
    private static double errorFunction(double x) {
        if (Math.abs(x) > 6) {
            return Math.signum(x);
        }
        double term = x;
        double sum = x;
        for (int n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
            term *= 2 * x * x / (2 * n + 1);
            sum += term;
        }
        return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
    }

    static double same(double x) {
        return x;
    }
}
