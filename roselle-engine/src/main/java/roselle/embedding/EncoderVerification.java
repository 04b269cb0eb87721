package roselle.embedding;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import roselle.api.CheckpointException;
import roselle.backend.Device;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.model.weights.Blueprint;
import roselle.tensor.Dequantizer;
import roselle.tensor.Tensor;

/**
 * Compares an encoder with what another implementation computed from the same checkpoint.
 *
 * <p>A reference is a safetensors file with, for {@code i} from 0, {@code input_i} (token ids), {@code types_i} where tokens have
 * types, {@code task_i} where it is for a task (its number), {@code hidden_i} {@code [tokens, width]}, and {@code embedding_i} or, of a classifier, {@code logits_i};
 * {@code sparse_i}, a weight of each token, of models that give it. Where masked tokens are guessed, {@code hidden_i} are the logits.
 */
@SuppressWarnings("exports") // for the command line, which checkpoints are exported to
public final class EncoderVerification {
    private final Checkpoint reference;
    private final List<EncoderInput> inputs;

    private EncoderVerification(Checkpoint reference, List<EncoderInput> inputs) {
        this.reference = reference;
        this.inputs = List.copyOf(inputs);
    }

    /**
     * What one input gave.
     *
     * @param states largest absolute difference of a number of each token's hidden state; NaN if any is NaN
     * @param result the same of the embedding, or of the logits
     * @param cosine of the embedding and the reference's; of logits 1
     */
    public record Difference(List<Double> states, double result, double cosine) {
        /** Embeddings point the same way from here on. */
        public static final double LEAST_COSINE = 0.99999;

        /** The same where rows have 16 bits. */
        public static final double LEAST_ROUNDED_COSINE = 0.9999;

        public Difference {
            states = List.copyOf(states);
        }

        /** Where each token is as far off as the one that is farthest. */
        public Difference(int tokens, double hidden, double result, double cosine) {
            this(Collections.nCopies(tokens, hidden), result, cosine);
        }

        private Difference with(double another) {
            return new Difference(states, Math.max(result, another), cosine);
        }

        public int tokens() {
            return states.size();
        }

        /** Largest absolute difference of a hidden state's number; NaN if any is NaN. */
        public double hidden() {
            double largest = 0;
            for (double each : states) {
                largest = Math.max(largest, each);
            }
            return largest;
        }

        /** Whether an encoder that computes in float32 passes. */
        public boolean isWithin(double tolerance) {
            return isWithin(tolerance, LEAST_COSINE);
        }

        /** Whether one passes whose embeddings need not be nearer than this. */
        public boolean isWithin(double tolerance, double leastCosine) {
            return hidden() <= tolerance && result <= tolerance && cosine >= leastCosine;
        }
    }

    /** Whether a reference is an encoder's. */
    public static boolean isOne(Checkpoint reference) {
        return reference.tensors().containsKey("hidden_0");
    }

    /** Reads a reference, whose tensors lie in the given checkpoint. */
    public static EncoderVerification of(Checkpoint reference) {
        var inputs = new ArrayList<EncoderInput>();
        while (reference.tensors().containsKey("input_" + inputs.size())) {
            int[] ids = integers(reference.tensor("input_" + inputs.size()));
            Tensor types = reference.tensors().get("types_" + inputs.size());
            Tensor task = reference.tensors().get("task_" + inputs.size());
            inputs.add(new EncoderInput(ids, types == null ? new int[ids.length] : integers(types))
                    .forTask(task == null ? EncoderInput.NO_TASK : integers(task)[0]));
        }
        if (inputs.isEmpty()) {
            throw new CheckpointException(reference.source() + " has no tensor input_0; it is not a reference");
        }
        return new EncoderVerification(reference, inputs);
    }

    /** Runs the inputs through a model: each in a step of its own, or all in one. */
    public List<Difference> run(Path model, Device device, boolean together) {
        int longest = 1;
        int all = 0;
        for (EncoderInput input : inputs) {
            longest = Math.max(longest, input.length());
            all += input.length();
        }
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            Blueprint blueprint = Encoders.blueprint(checkpoint);
            SentenceFolder folder = SentenceFolder.of(checkpoint);
            EncoderOutput output = folder.output();
            var limits = EncoderModel.limits(together ? all : longest, together ? inputs.size() : 1, longest);
            try (var encoder = EncoderModel.open(checkpoint, blueprint, device, limits, _ -> {})) {
                Encoders.require(inputs, blueprint.spec());
                var differences = new ArrayList<Difference>();
                if (together) {
                    encoder.run(inputs);
                }
                for (int i = 0; i < inputs.size(); i++) {
                    if (!together) {
                        encoder.run(inputs.subList(i, i + 1));
                    }
                    int place = together ? i : 0;
                    Difference difference = compare(i, encoder, place, output);
                    Tensor sparse = reference.tensors().get("sparse_" + i);
                    differences.add(
                            sparse == null || folder.sparse() == null
                                    ? difference
                                    : difference.with(
                                            largest(encoder.result(place, folder.sparse()), Dequantizer.all(sparse))));
                }
                return differences;
            }
        }
    }

    private Difference compare(int input, EncoderModel encoder, int place, EncoderOutput output) {
        float[] hidden = Dequantizer.all(reference.tensor("hidden_" + input));
        String name = (output.isClassifier() ? "logits_" : "embedding_") + input;
        float[] expected = Dequantizer.all(reference.tensor(name));
        float[] states = encoder.states(place);
        float[] result = encoder.result(place, output);
        if (hidden.length != states.length || expected.length != result.length) {
            throw new CheckpointException(reference.source() + ": input " + input + " has " + hidden.length
                    + " hidden numbers and " + expected.length + " of a result, the model has " + states.length
                    + " and " + result.length);
        }
        double cosine = output.isClassifier() ? 1 : cosine(result, expected);
        return new Difference(byToken(states, hidden, inputs.get(input).length()), largest(result, expected), cosine);
    }

    private static List<Double> byToken(float[] ours, float[] theirs, int tokens) {
        var differences = new ArrayList<Double>(tokens);
        int width = ours.length / tokens;
        for (int at = 0; at < ours.length; at += width) {
            differences.add(
                    largest(Arrays.copyOfRange(ours, at, at + width), Arrays.copyOfRange(theirs, at, at + width)));
        }
        return differences;
    }

    private static double largest(float[] ours, float[] theirs) {
        double largest = 0;
        for (int i = 0; i < ours.length; i++) {
            largest = Math.max(largest, Math.abs((double) ours[i] - theirs[i])); // NaN wins
        }
        return largest;
    }

    private static double cosine(float[] a, float[] b) {
        double product = 0;
        double aSquares = 0;
        double bSquares = 0;
        for (int i = 0; i < a.length; i++) {
            product += (double) a[i] * b[i];
            aSquares += (double) a[i] * a[i];
            bSquares += (double) b[i] * b[i];
        }
        return product / Math.sqrt(aSquares * bSquares);
    }

    private static int[] integers(Tensor tensor) {
        float[] numbers = Dequantizer.all(tensor); // ids are far below 2^24
        var integers = new int[numbers.length];
        for (int i = 0; i < integers.length; i++) {
            integers[i] = (int) numbers[i];
        }
        return integers;
    }
}
