package roselle.execution;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import roselle.backend.Device;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.checkpoint.Checkpoint;
import roselle.model.Decoder;
import roselle.model.KvPages;
import roselle.model.adapter.AdapterFiles;
import roselle.model.weights.Blueprint;

/**
 * One sequence on a decoder, without a scheduler: what verification and measurements need.
 *
 * <p>Its pages are its own for as long as it lives; of states it has those alone that it goes on from.
 */
public final class SingleSequence implements AutoCloseable {
    private static final int PAGE_TOKENS = 16;

    private final Checkpoint checkpoint;
    private final Device device;
    private final Decoder decoder;
    private final StepInputs inputs;
    private final OwnPages pages;
    private final Arena arena;
    private final MemorySegment row; // [vocabulary]
    private final int maxRows;
    private final int maxContext;
    private int length;

    private SingleSequence(Checkpoint checkpoint, Blueprint blueprint, Device device, StepLimits limits, KvType kv) {
        this.checkpoint = checkpoint;
        this.device = device;
        maxRows = limits.maxRows();
        maxContext = limits.maxContext();
        List<KvGroup> groups = blueprint.spec().kvGroups();
        inputs = new StepInputs(limits, groups.size());
        pages = new OwnPages(groups, limits, inputs);
        decoder = Decoder.open(checkpoint, blueprint, device, limits, new KvPages(kv, pages.counts()));
        arena = Arena.ofShared();
        row = arena.allocate(ValueLayout.JAVA_FLOAT, blueprint.spec().vocabulary());
    }

    /** A sequence of up to {@code maxContext} tokens that advances by up to {@code maxRows} of them at once. */
    public static SingleSequence open(
            Checkpoint checkpoint, Blueprint blueprint, Device device, int maxRows, int maxContext) {
        return open(checkpoint, blueprint, device, maxRows, maxContext, KvType.of(device.activationType()));
    }

    /** The same with keys and values of a type. */
    public static SingleSequence open(
            Checkpoint checkpoint, Blueprint blueprint, Device device, int maxRows, int maxContext, KvType kv) {
        var limits = new StepLimits(maxRows, 1, maxRows, maxContext, PAGE_TOKENS);
        return new SingleSequence(checkpoint, blueprint, device, limits, kv);
    }

    /** Tokens so far. */
    public int length() {
        return length;
    }

    public int vocabulary() {
        return decoder.spec().vocabulary();
    }

    /** Whether tokens are routed to experts: a choice that the smallest difference can turn where two are nearly equal. */
    public boolean routesTokens() {
        return decoder.spec().routesTokens();
    }

    /** Has an adapter add to all tokens from here on. */
    public void adapt(AdapterFiles files) {
        inputs.adapter[0] = files.allocate(checkpoint, decoder.adaptable(), device);
        inputs.adapts = true;
    }

    /** Forgets all tokens. */
    public void restart() {
        length = 0;
    }

    /** Appends tokens, {@code chunk} at a time, whose logits nobody wants. */
    public void append(int[] tokens, int chunk) {
        for (int from = 0; from < tokens.length; from += chunk) {
            advance(Arrays.copyOfRange(tokens, from, Math.min(from + chunk, tokens.length)), false);
        }
    }

    /** Appends tokens, {@code chunk} at a time, and returns the logits of each, {@code [tokens][vocabulary]}. */
    public float[][] logits(int[] tokens, int chunk) {
        var logits = new float[tokens.length][];
        for (int from = 0; from < tokens.length; from += chunk) {
            int end = Math.min(from + chunk, tokens.length);
            advance(Arrays.copyOfRange(tokens, from, end), true);
            for (int i = from; i < end; i++) {
                logits[i] = read(i - from);
            }
        }
        return logits;
    }

    /** Appends tokens, {@code chunk} at a time, then continues greedily and returns what was chosen. */
    public int[] greedy(int[] tokens, int chunk, int count) {
        append(tokens, chunk);
        var chosen = new int[count];
        for (int i = 0; i < count; i++) {
            chosen[i] = largest(read(0));
            if (i + 1 < count) {
                advance(new int[] {chosen[i]}, false);
            }
        }
        return chosen;
    }

    private void advance(int[] tokens, boolean allOutputs) {
        int rows = tokens.length;
        if (rows > maxRows || length + rows > maxContext) {
            throw new IllegalArgumentException(rows + " tokens after " + length + " exceed the limits " + maxRows
                    + " per step and " + maxContext + " in all");
        }
        for (int i = 0; i < rows; i++) {
            inputs.tokenIds[i] = tokens[i];
            inputs.positions[i] = length + i;
            inputs.outputRow[i] = i;
        }
        inputs.rows = rows;
        inputs.sequences = 1;
        inputs.rowStart[0] = 0;
        inputs.rowStart[1] = rows;
        inputs.contextLength[0] = length;
        inputs.outputs = allOutputs ? rows : 1;
        if (!allOutputs) {
            inputs.outputRow[0] = rows - 1;
        }
        pages.prepare();
        device.submit(inputs, decoder);
        length += rows;
    }

    private float[] read(int output) {
        device.read(decoder.logits(), output, 1, row);
        return row.toArray(ValueLayout.JAVA_FLOAT);
    }

    private static int largest(float[] numbers) {
        int best = 0;
        for (int i = 1; i < numbers.length; i++) {
            if (numbers[i] > numbers[best]) {
                best = i;
            }
        }
        return best;
    }

    @Override
    public void close() {
        decoder.close();
        arena.close();
    }
}
