package roselle.execution;

import java.util.Arrays;
import java.util.List;
import roselle.backend.memory.KvGroup;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;

/**
 * The pages of sequences that share nothing and give nothing back: what verification and measurements run without a cache.
 *
 * <p>Where layers attend, a sequence's pages follow each other. Where they keep states, it has the few that somebody goes on
 * from: of what was there before a step the last full page and the one being filled, and the same of what is there behind it.
 */
public final class OwnPages {
    private static final int STATE_PAGES = 4;
    private static final int FREE = -1;

    private final List<KvGroup> groups;
    private final StepInputs inputs;
    private final int maxSequences;
    private final int[][] held; // [maxSequences][STATE_PAGES]: which page of its sequence each one is

    /** The pages of all sequences that {@code inputs} may have. */
    public OwnPages(List<KvGroup> groups, StepLimits limits, StepInputs inputs) {
        this.groups = List.copyOf(groups);
        this.inputs = inputs;
        maxSequences = limits.maxSequences();
        held = new int[maxSequences][STATE_PAGES];
        for (int[] pages : held) {
            Arrays.fill(pages, FREE);
        }
        for (int group = 0; group < groups.size(); group++) {
            int[] table = inputs.pageTable[group];
            boolean isState = groups.get(group).isState();
            Arrays.setAll(table, page -> isState ? FREE : page);
        }
    }

    /** How many pages each group needs. */
    public List<Integer> counts() {
        return groups.stream()
                .map(group -> maxSequences * (group.isState() ? STATE_PAGES : inputs.maxPages))
                .toList();
    }

    /** Brings the page tables to the step that the inputs describe: its sequences, their lengths, their rows. */
    public void prepare() {
        if (groups.stream().noneMatch(KvGroup::isState)) {
            return;
        }
        for (int sequence = 0; sequence < inputs.sequences; sequence++) {
            prepare(sequence);
        }
    }

    private void prepare(int sequence) {
        int pageTokens = inputs.pageTokens;
        int before = inputs.contextLength[sequence];
        int behind = before + inputs.rowStart[sequence + 1] - inputs.rowStart[sequence];
        int[] wanted = {
            before / pageTokens - 1,
            before % pageTokens == 0 ? FREE : before / pageTokens,
            behind / pageTokens - 1,
            (behind - 1) / pageTokens
        };
        int[] pages = held[sequence];
        for (int i = 0; i < STATE_PAGES; i++) {
            if (pages[i] != FREE && indexOf(wanted, pages[i]) < 0) {
                place(sequence, pages[i], FREE);
                pages[i] = FREE;
            }
        }
        for (int page : wanted) {
            if (page >= 0 && indexOf(pages, page) < 0) {
                int free = indexOf(pages, FREE);
                pages[free] = page;
                place(sequence, page, sequence * STATE_PAGES + free);
            }
        }
    }

    private void place(int sequence, int page, int at) {
        for (int group = 0; group < groups.size(); group++) {
            if (groups.get(group).isState()) {
                inputs.pageTable[group][sequence * inputs.maxPages + page] = at;
            }
        }
    }

    private static int indexOf(int[] numbers, int wanted) {
        for (int i = 0; i < numbers.length; i++) {
            if (numbers[i] == wanted) {
                return i;
            }
        }
        return -1;
    }
}
