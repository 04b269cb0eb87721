package roselle.execution;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import roselle.api.CheckpointException;
import roselle.backend.Device;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.model.adapter.AdapterFiles;
import roselle.model.architecture.Architectures;
import roselle.tensor.Dequantizer;
import roselle.tensor.Tensor;

/**
 * Compares a decoder with what another implementation computed from the same checkpoint.
 *
 * <p>A reference is a safetensors file with, for {@code i} from 0, {@code input_i} (token ids), {@code logits_i}
 * {@code [tokens, vocabulary]} and {@code greedy_i} (the tokens that greedy decoding appends).
 */
public final class Verification {
    /** What rounding to 16 bits may move a logit by, both ways, as a part of the largest. */
    public static final double CLEAR_MARGIN = 0.04;

    /** How much farther off than all together a token may be: PyTorch's own bfloat16 has 3.2 % at one, and 1.3 % together. */
    public static final double WORST_TOKEN = 2;

    private final List<Expected> expected;

    private Verification(List<Expected> expected) {
        this.expected = List.copyOf(expected);
    }

    /** One input and what it should give. */
    private record Expected(Tensor input, Tensor logits, Tensor greedy) {}

    /**
     * How far the logits of a token are from the reference's.
     *
     * @param squares of the differences, together
     * @param norm of the reference's logits: their squares, together
     */
    public record Deviation(double squares, double norm) {
        /** The norm of the differences as a part of the norm of the reference's logits. */
        double part() {
            return norm == 0 ? squares : Math.sqrt(squares / norm);
        }
    }

    /**
     * What one input gave.
     *
     * @param largest largest absolute difference of a logit; NaN if any is NaN
     * @param mean mean absolute difference
     * @param deviations of each token
     * @param tops how the likeliest tokens compare
     * @param mayTurn tokens that rounding may send to other experts than the reference: one in sixteen, where there are experts
     * @param agreeing greedy tokens that agree, up to the first that does not
     * @param loss of the input's tokens but the first, each given those before it: the sum of {@code -ln p}
     */
    public record Difference(
            int tokens,
            double largest,
            double mean,
            List<Deviation> deviations,
            Tops tops,
            int mayTurn,
            int agreeing,
            int greedy,
            double loss) {
        public Difference {
            deviations = List.copyOf(deviations);
        }

        /** All tokens but those that may turn, which are the worst. */
        private List<Deviation> counted() {
            List<Deviation> ascending = deviations.stream()
                    .sorted(Comparator.comparingDouble(Deviation::part))
                    .toList();
            return ascending.subList(0, Math.max(1, ascending.size() - mayTurn));
        }

        /** The norm of all differences as a part of the norm of all the reference's logits, but for tokens that may turn. */
        public double part() {
            double squares = 0;
            double norm = 0;
            for (Deviation token : counted()) {
                squares += token.squares;
                norm += token.norm;
            }
            return new Deviation(squares, norm).part();
        }

        /** The largest part of a token, but for those that may turn. */
        public double worstPart() {
            return counted().getLast().part();
        }

        /** The perplexity of some inputs together; 1 where none has a second token. */
        public static double perplexity(List<Difference> inputs) {
            double loss = 0;
            int predicted = 0;
            for (Difference input : inputs) {
                loss += input.loss;
                predicted += input.tokens - 1;
            }
            return predicted == 0 ? 1 : Math.exp(loss / predicted);
        }

        /** Whether a decoder that computes in float32 passes. */
        public boolean isWithin(double tolerance) {
            return largest <= tolerance && agreeing == greedy;
        }

        /**
         * Whether a decoder that rounds to 16 bits passes: all logits within a part of the reference's norm, those of each token
         * within twice that, and with its clear tops.
         */
        public boolean isWithinPart(double part) {
            return !Double.isNaN(largest)
                    && part() <= part
                    && worstPart() <= WORST_TOKEN * part
                    && tops.agreeing >= tops.clear - mayTurn;
        }
    }

    /**
     * The likeliest token after each token, where the reference is clear: where its margin to the second is more than
     * {@link #CLEAR_MARGIN} of its largest logit.
     */
    public record Tops(int clear, int agreeing) {}

    /** Reads a reference, whose tensors lie in the given checkpoint. */
    public static Verification of(Checkpoint reference) {
        var expected = new ArrayList<Expected>();
        while (reference.tensors().containsKey("input_" + expected.size())) {
            int i = expected.size();
            expected.add(new Expected(
                    tensor(reference, "input_" + i),
                    tensor(reference, "logits_" + i),
                    tensor(reference, "greedy_" + i)));
        }
        if (expected.isEmpty()) {
            throw new CheckpointException(reference.source() + " has no tensor input_0; it is not a reference");
        }
        return new Verification(expected);
    }

    /** Runs every input through a model, {@code chunk} tokens at a time; 0 for the whole input at once. */
    public List<Difference> run(Path model, Device device, int chunk) {
        return run(model, Optional.empty(), device, chunk);
    }

    /** The same with an adapter, a folder or a GGUF file. */
    public List<Difference> run(Path model, Optional<Path> adapter, Device device, int chunk) {
        int longest = 1;
        for (Expected one : expected) {
            long tokens = one.input.shape().elements() + one.greedy.shape().elements();
            longest = Math.max(longest, Math.toIntExact(tokens));
        }
        try (Checkpoint checkpoint = Checkpoints.open(model);
                var sequence =
                        SingleSequence.open(checkpoint, Architectures.read(checkpoint), device, longest, longest)) {
            adapter.ifPresent(path -> adapt(sequence, path));
            var differences = new ArrayList<Difference>();
            for (Expected one : expected) {
                differences.add(compare(one, sequence, chunk == 0 ? longest : chunk));
            }
            return differences;
        }
    }

    private static void adapt(SingleSequence sequence, Path adapter) {
        try (var files = AdapterFiles.open(adapter)) {
            sequence.adapt(files);
        }
    }

    private static Difference compare(Expected one, SingleSequence sequence, int chunk) {
        int[] input = integers(one.input);
        int[] expectedGreedy = integers(one.greedy);
        requireVocabulary(input, one.logits, sequence.vocabulary());
        sequence.restart();
        float[][] logits = sequence.logits(input, chunk);
        sequence.restart();
        int[] greedy = sequence.greedy(input, chunk, expectedGreedy.length);
        double largest = 0;
        var deviations = new ArrayList<Deviation>();
        double sum = 0;
        int clear = 0;
        int agreeingTops = 0;
        var reference = new float[sequence.vocabulary()];
        for (int token = 0; token < logits.length; token++) {
            Dequantizer.row(one.logits, token, reference, 0);
            double squares = 0;
            double norm = 0;
            for (int i = 0; i < reference.length; i++) {
                double difference = Math.abs((double) logits[token][i] - reference[i]);
                largest = Math.max(largest, difference); // NaN wins
                sum += difference;
                squares += difference * difference;
                norm += (double) reference[i] * reference[i];
            }
            deviations.add(new Deviation(squares, norm));
            if (isClear(reference)) {
                clear++;
                agreeingTops += top(logits[token]) == top(reference) ? 1 : 0;
            }
        }
        double mean = sum / ((double) logits.length * reference.length);
        int agreeing = agreeing(greedy, expectedGreedy);
        var tops = new Tops(clear, agreeingTops);
        int mayTurn = sequence.routesTokens() ? (logits.length + 15) / 16 : 0;
        double loss = loss(input, logits);
        return new Difference(logits.length, largest, mean, deviations, tops, mayTurn, agreeing, greedy.length, loss);
    }

    private static boolean isClear(float[] logits) {
        double first = Double.NEGATIVE_INFINITY;
        double second = Double.NEGATIVE_INFINITY;
        double largest = 0;
        for (float logit : logits) {
            second = Math.max(second, Math.min(first, logit));
            first = Math.max(first, logit);
            largest = Math.max(largest, Math.abs(logit));
        }
        return first - second > CLEAR_MARGIN * largest;
    }

    private static int top(float[] logits) {
        int top = 0;
        for (int i = 1; i < logits.length; i++) {
            top = logits[i] > logits[top] ? i : top;
        }
        return top;
    }

    private static double loss(int[] input, float[][] logits) {
        double loss = 0;
        for (int token = 1; token < input.length; token++) {
            float[] row = logits[token - 1];
            double largest = Double.NEGATIVE_INFINITY;
            for (float logit : row) {
                largest = Math.max(largest, logit);
            }
            double sum = 0;
            for (float logit : row) {
                sum += Math.exp(logit - largest);
            }
            loss += Math.log(sum) + largest - row[input[token]];
        }
        return loss;
    }

    private static void requireVocabulary(int[] input, Tensor logits, int vocabulary) {
        if (logits.shape().columns() != vocabulary || logits.shape().rows() != input.length) {
            throw new CheckpointException("the reference's " + logits.name() + " has shape " + logits.shape()
                    + ", expected [" + input.length + ", " + vocabulary + "]");
        }
        for (int token : input) {
            if (token < 0 || token >= vocabulary) {
                throw new CheckpointException(
                        "the reference has token " + token + ", the model only " + vocabulary + " tokens");
            }
        }
    }

    private static int agreeing(int[] tokens, int[] reference) {
        int agreeing = 0;
        while (agreeing < tokens.length && tokens[agreeing] == reference[agreeing]) {
            agreeing++;
        }
        return agreeing;
    }

    private static Tensor tensor(Checkpoint reference, String name) {
        Tensor tensor = reference.tensors().get(name);
        if (tensor == null) {
            throw new CheckpointException(reference.source() + " has no tensor " + name);
        }
        return tensor;
    }

    private static int[] integers(Tensor tensor) {
        float[] numbers = Dequantizer.all(tensor); // token ids are far below 2^24
        var integers = new int[numbers.length];
        for (int i = 0; i < integers.length; i++) {
            integers[i] = (int) numbers[i];
        }
        return integers;
    }
}
