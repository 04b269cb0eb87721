package roselle.cpu.memory;

import roselle.backend.step.StepInputs;

/** The current step, with each row's sequence looked up once. */
public final class Step {
    private StepInputs inputs;
    private int[] sequence; // [maxRows]

    public Step(StepInputs inputs) {
        this.inputs = inputs;
        sequence = new int[inputs.tokenIds.length];
        begin(inputs);
    }

    public void begin(StepInputs next) {
        inputs = next;
        if (sequence.length < next.tokenIds.length) {
            sequence = new int[next.tokenIds.length];
        }
        for (int s = 0; s < next.sequences; s++) {
            for (int r = next.rowStart[s]; r < next.rowStart[s + 1]; r++) {
                sequence[r] = s;
            }
        }
    }

    public StepInputs inputs() {
        return inputs;
    }

    public int rows() {
        return inputs.rows;
    }

    public int sequence(int row) {
        return sequence[row];
    }

    public int position(int row) {
        return inputs.positions[row];
    }

    /** The position behind the last one of a row's sequence. */
    public int end(int row) {
        int s = sequence[row];
        return inputs.contextLength[s] + inputs.rowStart[s + 1] - inputs.rowStart[s];
    }

    /** Where in its page a row's token lies. */
    public int pageToken(int row) {
        return inputs.positions[row] % inputs.pageTokens;
    }

    /** The page that takes a row's token. */
    public int page(int group, int row) {
        return page(group, sequence[row], inputs.positions[row]);
    }

    /** The page of a position of a sequence. */
    public int page(int group, int sequenceIndex, int position) {
        return inputs.pageTable[group][sequenceIndex * inputs.maxPages + position / inputs.pageTokens];
    }
}
