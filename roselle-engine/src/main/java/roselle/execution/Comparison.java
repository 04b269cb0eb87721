package roselle.execution;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import roselle.api.InvalidRequestException;
import roselle.backend.Device;
import roselle.backend.memory.KvType;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.model.architecture.Architectures;

/**
 * Two models on the same text, window by window: the second half of each window is compared, where both know enough of the text, as
 * {@code llama-perplexity} does.
 */
public final class Comparison {
    private static final int ROWS = 128; // of a step

    private Comparison() {}

    /**
     * A model that is compared.
     *
     * @param tensorBytes that its files have
     * @param tokens that it computed
     * @param seconds that this took
     */
    public record Side(long tensorBytes, long tokens, double seconds) {
        public double tokensPerSecond() {
            return tokens / seconds;
        }
    }

    /** What came of it. */
    public record Outcome(Side reference, Side model, Divergence divergence, int windows) {}

    /** A model at work. */
    private static final class Runner implements AutoCloseable {
        private final Checkpoint checkpoint;
        private final SingleSequence sequence;
        private long tokens;
        private long nanos;

        Runner(Path model, Device device, int context, KvType kv) {
            checkpoint = Checkpoints.open(model);
            boolean isOpen = false;
            try {
                sequence = SingleSequence.open(
                        checkpoint, Architectures.read(checkpoint), device, Math.min(ROWS, context), context, kv);
                isOpen = true;
            } finally {
                if (!isOpen) {
                    checkpoint.close();
                }
            }
        }

        /** The logits of the second half of a window but its last token, behind which nothing is known. */
        float[][] logits(int[] window) {
            int first = window.length / 2;
            int rows = Math.min(ROWS, window.length);
            long start = System.nanoTime();
            sequence.restart();
            sequence.append(Arrays.copyOf(window, first), rows);
            float[][] logits = sequence.logits(Arrays.copyOfRange(window, first, window.length - 1), rows);
            nanos += System.nanoTime() - start;
            tokens += window.length - 1;
            return logits;
        }

        Side side() {
            return new Side(checkpoint.tensorBytes(), tokens, nanos / 1e9);
        }

        @Override
        public void close() {
            sequence.close();
            checkpoint.close();
        }
    }

    /** Compares a model that keeps keys and values as a type with a reference that keeps them as rows are; {@code done} hears how many windows were compared. */
    public static Outcome run(
            Path reference, Path model, KvType kv, Device device, List<int[]> windows, IntConsumer done) {
        int context = windows.getFirst().length;
        var divergence = new Divergence();
        try (var first = new Runner(reference, device, context, KvType.of(device.activationType()));
                var second = new Runner(model, device, context, kv)) {
            if (first.sequence.vocabulary() != second.sequence.vocabulary()) {
                throw new InvalidRequestException("the models have vocabularies of " + first.sequence.vocabulary()
                        + " and " + second.sequence.vocabulary() + " tokens; only models of one vocabulary compare");
            }
            for (int i = 0; i < windows.size(); i++) {
                int[] window = windows.get(i);
                float[][] expected = first.logits(window);
                float[][] actual = second.logits(window);
                for (int row = 0; row < expected.length; row++) {
                    divergence.add(expected[row], actual[row], window[window.length / 2 + row + 1]);
                }
                done.accept(i + 1);
            }
            return new Outcome(first.side(), second.side(), divergence, windows.size());
        }
    }
}
