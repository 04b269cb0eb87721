package roselle.cpu;

import roselle.backend.StepInputs;

/** The current step, with each row's sequence looked up once. */
final class Step {
    private StepInputs inputs;
    private int[] sequence; // [maxRows]

    Step(StepInputs inputs) {
        this.inputs = inputs;
        sequence = new int[inputs.tokenIds.length];
        begin(inputs);
    }

    void begin(StepInputs next) {
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

    StepInputs inputs() {
        return inputs;
    }

    int rows() {
        return inputs.rows;
    }

    int sequence(int row) {
        return sequence[row];
    }

    int position(int row) {
        return inputs.positions[row];
    }

    /** Where in its page a row's token lies. */
    int pageToken(int row) {
        return inputs.positions[row] % inputs.pageTokens;
    }

    /** The page that takes a row's token. */
    int page(int group, int row) {
        return page(group, sequence[row], inputs.positions[row]);
    }

    /** The page of a position of a sequence. */
    int page(int group, int sequenceIndex, int position) {
        return inputs.pageTable[group][sequenceIndex * inputs.maxPages + position / inputs.pageTokens];
    }
}
