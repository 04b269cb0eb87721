package roselle.batch;

import roselle.backend.StepInputs;
import roselle.kvcache.SequencePages;

/**
 * A ragged step: sequences, how many rows each advances by, and which rows' logits are wanted; reused from step to step.
 *
 * <p>The rows of a sequence are its next known tokens and then its drafts. The logits wanted are always those of its last
 * {@link #outputs} rows; the last {@link #sampledRows} of these are to be sampled, the ones before score the prompt.
 */
public final class Batch {
    private final Running[] running;
    private final int[] rows;
    private final int[] outputs;
    private final int[] appended;
    private int size;
    private int totalRows;
    private int totalOutputs;

    public Batch(int maxSequences) {
        running = new Running[maxSequences];
        rows = new int[maxSequences];
        outputs = new int[maxSequences];
        appended = new int[maxSequences];
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

    /** How many of the entry's last rows are to be sampled: those of its last known token and of its drafts; 0 within a prompt. Ask before the commit. */
    public int sampledRows(int entry) {
        return Math.max(
                0,
                running[entry].computed()
                        + rows[entry]
                        - running[entry].sequence().length()
                        + 1);
    }

    /** Tokens that the commit of this step added to the entry's sequence. */
    public int appended(int entry) {
        return appended[entry];
    }

    public void recordAppended(int entry, int tokens) {
        appended[entry] = tokens;
    }

    public void clear() {
        for (int entry = 0; entry < size; entry++) {
            appended[entry] = 0;
        }
        size = 0;
        totalRows = 0;
        totalOutputs = 0;
    }

    public void add(Running sequence, int rowCount, int outputCount) {
        running[size] = sequence;
        rows[size] = rowCount;
        outputs[size] = outputCount;
        appended[size] = 0;
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
    }

    public boolean contains(Running sequence) {
        for (int entry = 0; entry < size; entry++) {
            if (running[entry] == sequence) {
                return true;
            }
        }
        return false;
    }

    /** Writes this step in the form that a device reads; the copies of {@link SequencePages#needsCopy} are ordered apart. */
    public void fill(StepInputs inputs) {
        inputs.sequences = size;
        inputs.rows = totalRows;
        inputs.outputs = totalOutputs;
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
        sequence.copyRows(rows[entry], inputs.tokenIds, row);
        int computed = sequence.computed();
        inputs.contextLength[entry] = computed;
        for (int i = 0; i < rows[entry]; i++) {
            inputs.positions[row + i] = computed + i;
        }
        for (int group = 0; group < inputs.pageTable.length; group++) {
            sequence.pages().copyTable(group, inputs.pageTable[group], entry * inputs.maxPages);
        }
    }
}
