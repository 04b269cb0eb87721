package roselle.backend.step;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Adapter;

/**
 * What one step works on: a ragged batch as flat arrays, reused from step to step.
 *
 * <p>Rows are tokens. The rows of sequence {@code s} are {@code rowStart[s]} until {@code rowStart[s + 1]}, at consecutive
 * positions that begin at {@code contextLength[s]}, the number of tokens whose keys and values the cache already has. A
 * prompt chunk, a decode step and the check of draft tokens differ in nothing but the number of rows. The page of position
 * {@code p} in KV group {@code g} is {@code pageTable[g][s * maxPages + p / pageTokens]}; −1 stands for a page behind a
 * sliding window, which is never read, or for one of a state group that nobody goes on from.
 */
public final class StepInputs {
    /** Tokens that share a page. */
    public final int pageTokens;
    /** Stride of a sequence in {@link #pageTable}, in pages. */
    public final int maxPages;

    public int rows;
    public int sequences;
    /** Rows whose logits are wanted: their number, and their indices in {@link #outputRow}. */
    public int outputs;

    /** Whether some rows take the token that was sampled last and lies on the device, see {@link #sampledRow}. */
    public boolean takesSampled;

    /** Whether some rows have an adapter, see {@link #adapter}. */
    public boolean adapts;

    public final int[] tokenIds; // [maxRows]
    /** Where {@link #takesSampled}: the row of logits whose sampled token a row takes in place of its token id; −1 for none. */
    public final int[] sampledRow; // [maxRows]

    public final int[] positions; // [maxRows]
    /** Which text of a pair each row is of, for {@link roselle.backend.operation.Operations#addTypes}; zeros but for encoders. */
    public final int[] types; // [maxRows]

    public final int[] outputRow; // [maxOutputs], ascending
    /**
     * For each row of logits the tokens whose logits are read, as {@link SamplingRows#mask}; the others may be −∞. What the host knows
     * only while the device computes, it does not say: all are wanted then.
     */
    public final long[][] wanted; // [maxOutputs]

    public final int[] rowStart; // [maxSequences + 1]
    public final int[] contextLength; // [maxSequences]
    /** Where {@link #adapts}: what is added to the products of a sequence's rows; null for nothing. */
    public final @Nullable Adapter[] adapter; // [maxSequences]

    public final int[][] pageTable; // [groups][maxSequences * maxPages]

    public StepInputs(StepLimits limits, int groups) {
        pageTokens = limits.pageTokens();
        maxPages = limits.maxPages();
        tokenIds = new int[limits.maxRows()];
        sampledRow = new int[limits.maxRows()];
        positions = new int[limits.maxRows()];
        types = new int[limits.maxRows()];
        outputRow = new int[limits.maxOutputs()];
        wanted = allWanted(limits.maxOutputs());
        rowStart = new int[limits.maxSequences() + 1];
        contextLength = new int[limits.maxSequences()];
        adapter = new Adapter[limits.maxSequences()];
        pageTable = new int[groups][limits.maxSequences() * limits.maxPages()];
    }

    private StepInputs(StepInputs sizes) {
        pageTokens = sizes.pageTokens;
        maxPages = sizes.maxPages;
        tokenIds = new int[sizes.tokenIds.length];
        sampledRow = new int[sizes.sampledRow.length];
        positions = new int[sizes.positions.length];
        types = new int[sizes.types.length];
        outputRow = new int[sizes.outputRow.length];
        wanted = allWanted(sizes.outputRow.length);
        rowStart = new int[sizes.rowStart.length];
        contextLength = new int[sizes.contextLength.length];
        adapter = new Adapter[sizes.adapter.length];
        pageTable = new int[sizes.pageTable.length][];
        for (int group = 0; group < pageTable.length; group++) {
            pageTable[group] = new int[sizes.pageTable[group].length];
        }
    }

    private static long[][] allWanted(int outputs) {
        var wanted = new long[outputs][];
        Arrays.fill(wanted, SamplingRows.ALL);
        return wanted;
    }

    /** Empty ones of the same sizes. */
    public StepInputs ofSameSizes() {
        return new StepInputs(this);
    }

    /** Becomes a copy of a step of the same sizes. */
    public void copyFrom(StepInputs step) {
        rows = step.rows;
        sequences = step.sequences;
        outputs = step.outputs;
        takesSampled = step.takesSampled;
        adapts = step.adapts;
        System.arraycopy(step.tokenIds, 0, tokenIds, 0, rows);
        System.arraycopy(step.sampledRow, 0, sampledRow, 0, rows);
        System.arraycopy(step.positions, 0, positions, 0, rows);
        System.arraycopy(step.types, 0, types, 0, rows);
        System.arraycopy(step.outputRow, 0, outputRow, 0, outputs);
        System.arraycopy(step.wanted, 0, wanted, 0, outputs);
        System.arraycopy(step.rowStart, 0, rowStart, 0, sequences + 1);
        System.arraycopy(step.contextLength, 0, contextLength, 0, sequences);
        if (adapts) {
            System.arraycopy(step.adapter, 0, adapter, 0, sequences);
        }
        for (int group = 0; group < pageTable.length; group++) {
            System.arraycopy(step.pageTable[group], 0, pageTable[group], 0, sequences * maxPages);
        }
    }
}
