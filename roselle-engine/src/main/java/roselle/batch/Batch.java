package roselle.batch;

import java.util.Arrays;
import roselle.backend.step.SamplingRows;
import roselle.backend.step.StepInputs;
import roselle.kvcache.SequencePages;

/**
 * A ragged step: sequences, how many rows each advances by, and which rows' logits are wanted; reused from step to step.
 *
 * <p>The rows of a sequence are its next known tokens and then its drafts. The logits wanted are always those of its last
 * {@link #outputs} rows; the last {@link #sampledRows} of these are to be sampled, the ones before score the prompt. A generating
 * sequence has more than one known token where some were forced: they are computed together, and the last one's logits sampled.
 *
 * <p>An entry may be planned while the step before is under way. Its rows then are those after the ones that this step computes:
 * the next chunk of a prompt, or the one row of the token that the device samples there, {@link #takesSampled}. Where the sequence
 * turns out to end in that step, the entry {@link #isDropped is dropped}; where more tokens turn out to be forced behind the sampled
 * one, the entry {@link #leaveUnsampled is not sampled}.
 */
public final class Batch {
    private final Running[] running;
    private final int[] rows;
    private final int[] outputs;
    private final int[] appended;
    private final int[] first; // the position of the first row
    private final int[] sampled;
    private final int[] unsampled; // of the outputs: their tokens are known by now
    private final int[] sampledRow; // the row of the step before whose sampled token this row is for, or −1
    private final boolean[] isExpected; // whether the step before has rows of the sequence
    private final boolean[] isSampledOnDevice;
    private int size;
    private int totalRows;
    private int totalOutputs;
    private int dropped;

    public Batch(int maxSequences) {
        running = new Running[maxSequences];
        rows = new int[maxSequences];
        outputs = new int[maxSequences];
        appended = new int[maxSequences];
        first = new int[maxSequences];
        sampled = new int[maxSequences];
        unsampled = new int[maxSequences];
        sampledRow = new int[maxSequences];
        isExpected = new boolean[maxSequences];
        isSampledOnDevice = new boolean[maxSequences];
    }

    /** Sequences in this step. */
    public int size() {
        return size;
    }

    public boolean isEmpty() {
        return size == 0;
    }

    public int totalRows() {
        return totalRows;
    }

    public int totalOutputs() {
        return totalOutputs;
    }

    public Running running(int entry) {
        return running[entry];
    }

    public Sequence sequence(int entry) {
        return running[entry].sequence();
    }

    public int rows(int entry) {
        return rows[entry];
    }

    /** How many of the entry's last rows have their logits wanted. */
    public int outputs(int entry) {
        return outputs[entry];
    }

    /** How many of the entry's last rows are to be sampled: those of its last known token and of its drafts; 0 within a prompt. */
    public int sampledRows(int entry) {
        return sampled[entry];
    }

    /** How many of the entry's rows score the prompt. */
    public int promptOutputs(int entry) {
        return outputs[entry] - sampled[entry] - unsampled[entry];
    }

    /** Samples nothing from the rows of a sequence, if it has any in this step: what follows them became known meanwhile. */
    public void leaveUnsampled(Running sequence) {
        for (int entry = 0; entry < size; entry++) {
            if (running[entry] == sequence) {
                unsampled[entry] += sampled[entry];
                sampled[entry] = 0;
            }
        }
    }

    /** Whether the entry's one row is for a token that the step before samples on the device. */
    public boolean takesSampled(int entry) {
        return sampledRow[entry] >= 0;
    }

    /** Notes that the device samples the entry's one token, so that the next step may take it there. */
    public void recordSampledOnDevice(int entry) {
        isSampledOnDevice[entry] = true;
    }

    public boolean isSampledOnDevice(int entry) {
        return isSampledOnDevice[entry];
    }

    /** The position after the entry's last row: where a token that is sampled from it will stand. */
    public int endPosition(int entry) {
        return first[entry] + rows[entry];
    }

    /** Whether the sequence has ended since this step was planned: what the entry computes is for nothing. */
    public boolean isDropped(int entry) {
        return running[entry].sequence().state() != running[entry];
    }

    /** Tokens that the commit of this step added to the entry's sequence. */
    public int appended(int entry) {
        return appended[entry];
    }

    public void recordAppended(int entry, int tokens) {
        appended[entry] = tokens;
    }

    /** Entries that were dropped when the step was committed. */
    public int dropped() {
        return dropped;
    }

    public void recordDropped(int entries) {
        dropped = entries;
    }

    public void clear() {
        dropped = 0;
        for (int entry = 0; entry < size; entry++) {
            appended[entry] = 0;
        }
        size = 0;
        totalRows = 0;
        totalOutputs = 0;
    }

    /** Adds the next rows of a sequence. */
    public void add(Running sequence, int rowCount, int outputCount) {
        running[size] = sequence;
        rows[size] = rowCount;
        outputs[size] = outputCount;
        appended[size] = 0;
        first[size] = sequence.expectedComputed();
        sampled[size] = Math.max(0, rowCount - sequence.remaining() + 1);
        unsampled[size] = 0;
        sampledRow[size] = sequence.expectedFrom();
        isExpected[size] = sequence.isExpected();
        isSampledOnDevice[size] = false;
        size++;
        totalRows += rowCount;
        totalOutputs += outputCount;
    }

    /** Takes a sequence out of the step being planned, where it is in it. */
    public void remove(Running sequence) {
        for (int entry = 0; entry < size; entry++) {
            if (running[entry] == sequence) {
                removeEntry(entry);
                return;
            }
        }
    }

    private void removeEntry(int entry) {
        totalRows -= rows[entry];
        totalOutputs -= outputs[entry];
        size--;
        System.arraycopy(running, entry + 1, running, entry, size - entry);
        System.arraycopy(rows, entry + 1, rows, entry, size - entry);
        System.arraycopy(outputs, entry + 1, outputs, entry, size - entry);
        System.arraycopy(first, entry + 1, first, entry, size - entry);
        System.arraycopy(sampled, entry + 1, sampled, entry, size - entry);
        System.arraycopy(unsampled, entry + 1, unsampled, entry, size - entry);
        System.arraycopy(sampledRow, entry + 1, sampledRow, entry, size - entry);
        System.arraycopy(isExpected, entry + 1, isExpected, entry, size - entry);
        System.arraycopy(isSampledOnDevice, entry + 1, isSampledOnDevice, entry, size - entry);
    }

    public boolean contains(Running sequence) {
        for (int entry = 0; entry < size; entry++) {
            if (running[entry] == sequence) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether the entry's pages must be copied before its rows are computed ({@link SequencePages#needsCopy}); where the step before
     * has rows of the sequence, it has done that.
     */
    public boolean needsCopy(int entry) {
        return !isExpected[entry] && running[entry].pages().needsCopy();
    }

    /** Writes this step in the form that a device reads; the copies of {@link #needsCopy} are ordered apart. */
    public void fill(StepInputs inputs) {
        inputs.takesSampled = false;
        inputs.adapts = false;
        inputs.sequences = size;
        inputs.rows = totalRows;
        inputs.outputs = totalOutputs;
        Arrays.fill(inputs.wanted, 0, totalOutputs, SamplingRows.ALL);
        int row = 0;
        int output = 0;
        for (int entry = 0; entry < size; entry++) {
            inputs.rowStart[entry] = row;
            fillEntry(inputs, entry, row);
            row += rows[entry];
            for (int i = outputs[entry]; i > 0; i--) {
                inputs.outputRow[output++] = row - i;
            }
        }
        inputs.rowStart[size] = row;
    }

    private void fillEntry(StepInputs inputs, int entry, int row) {
        Running sequence = running[entry];
        fillTokens(inputs, entry, row);
        inputs.contextLength[entry] = first[entry];
        inputs.adapter[entry] = sequence.sequence().adapter();
        inputs.adapts |= inputs.adapter[entry] != null;
        for (int i = 0; i < rows[entry]; i++) {
            inputs.positions[row + i] = first[entry] + i;
        }
        for (int group = 0; group < inputs.pageTable.length; group++) {
            sequence.pages().copyTable(group, inputs.pageTable[group], entry * inputs.maxPages);
        }
    }

    private void fillTokens(StepInputs inputs, int entry, int row) {
        Arrays.fill(inputs.sampledRow, row, row + rows[entry], sampledRow[entry]);
        if (sampledRow[entry] < 0) {
            running[entry].copyRows(first[entry], rows[entry], inputs.tokenIds, row);
        } else {
            inputs.tokenIds[row] = 0;
            inputs.takesSampled = true;
        }
    }
}
