package roselle.backend.step;

import java.util.List;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.operation.HeadShape;

/**
 * What a device must know of a decoder to take, before the first step, all the memory that steps will need beside rows, weights
 * and pages.
 *
 * @param cacheType of keys and values
 * @param groups kinds of layers with a page table each
 * @param attentions what attends to these groups, each combination once
 * @param width numbers of a hidden state
 * @param columns of the widest weight
 * @param vocabulary logits of a row; 0 where there are none
 * @param experts from which routers choose at most; 0 for none
 * @param chosen of them for a row at most
 * @param oddColumns columns of the widest rows where some rows or views of them do not begin at multiples of 8 numbers; else 0
 * @param special what the decoder has that not every device has kernels for, in words by which such a device refuses it
 */
public record StepDemands(
        StepLimits limits,
        KvType cacheType,
        int groups,
        List<Attention> attentions,
        int width,
        int columns,
        int vocabulary,
        int experts,
        int chosen,
        int oddColumns,
        List<String> special) {
    /** A decoder with nothing special. */
    public StepDemands(
            StepLimits limits,
            KvType cacheType,
            int groups,
            List<Attention> attentions,
            int width,
            int columns,
            int vocabulary,
            int experts,
            int chosen,
            int oddColumns) {
        this(limits, cacheType, groups, attentions, width, columns, vocabulary, experts, chosen, oddColumns, List.of());
    }

    /**
     * Heads that attend to a group.
     *
     * @param bothWays whether rows see what is behind them, too
     */
    public record Attention(HeadShape heads, KvGroup group, boolean bothWays) {
        /** Of rows that see what was before them. */
        public Attention(HeadShape heads, KvGroup group) {
            this(heads, group, false);
        }
    }

    public StepDemands {
        attentions = List.copyOf(attentions);
        special = List.copyOf(special);
    }
}
