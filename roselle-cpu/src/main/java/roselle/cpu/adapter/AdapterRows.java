package roselle.cpu.adapter;

import roselle.backend.step.StepInputs;

/** Rows of a step that have an adapter, those of one behind each other. */
final class AdapterRows {
    private CpuAdapter[] adapters = new CpuAdapter[0]; // each once
    private int[] end = new int[0]; // [adapters], in rows
    private int[] rows = new int[0];
    private int groups;

    /** The rows of all sequences. */
    void group(StepInputs step) {
        find(step, step.rows);
        int count = 0;
        for (int group = 0; group < groups; group++) {
            for (int s = 0; s < step.sequences; s++) {
                if (adapters[group].equals(step.adapter[s])) {
                    for (int r = step.rowStart[s]; r < step.rowStart[s + 1]; r++) {
                        rows[count++] = r;
                    }
                }
            }
            end[group] = count;
        }
    }

    /** The rows whose logits are wanted, by their numbers among these. */
    void groupOutputs(StepInputs step) {
        find(step, step.outputs);
        int count = 0;
        for (int group = 0; group < groups; group++) {
            int s = 0;
            for (int i = 0; i < step.outputs; i++) {
                while (step.rowStart[s + 1] <= step.outputRow[i]) {
                    s++;
                }
                if (adapters[group].equals(step.adapter[s])) {
                    rows[count++] = i;
                }
            }
            end[group] = count;
        }
    }

    private void find(StepInputs step, int most) {
        if (adapters.length < step.adapter.length) {
            adapters = new CpuAdapter[step.adapter.length];
            end = new int[step.adapter.length];
        }
        if (rows.length < most) {
            rows = new int[Math.max(most, step.tokenIds.length)];
        }
        groups = 0;
        for (int s = 0; s < step.sequences; s++) {
            if (step.adapter[s] instanceof CpuAdapter adapter && !isKnown(adapter)) {
                adapters[groups++] = adapter;
            }
        }
    }

    private boolean isKnown(CpuAdapter adapter) {
        for (int group = 0; group < groups; group++) {
            if (adapters[group].equals(adapter)) {
                return true;
            }
        }
        return false;
    }

    int groups() {
        return groups;
    }

    CpuAdapter adapter(int group) {
        return adapters[group];
    }

    /** The first of a group's rows in {@link #rows}; that of the group behind the last is the end of all. */
    int first(int group) {
        return group == 0 ? 0 : end[group - 1];
    }

    int end(int group) {
        return end[group];
    }

    int row(int index) {
        return rows[index];
    }
}
