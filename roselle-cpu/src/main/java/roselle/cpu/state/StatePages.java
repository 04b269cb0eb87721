package roselle.cpu.state;

import roselle.backend.step.StepInputs;
import roselle.cpu.memory.CpuKvCache;

/** Where pages of states lie, also those that nobody keeps. */
final class StatePages {
    private StatePages() {}

    /**
     * Where a page begins, or the next one that is kept, in whose memory it is computed.
     *
     * @param index of the page in its sequence
     * @param last index of the page of the step's last row, which is kept
     */
    static long begin(StepInputs inputs, CpuKvCache cache, int group, int layer, int sequence, int index, int last) {
        int[] table = inputs.pageTable[group];
        int at = sequence * inputs.maxPages;
        int kept = index;
        while (kept < last && table[at + kept] < 0) {
            kept++;
        }
        if (table[at + kept] < 0) {
            throw new IllegalStateException("page " + kept + " of a state group is where a step ends, but not kept");
        }
        return cache.row(group, layer, table[at + kept], 0);
    }
}
