package roselle.model.spec;

import org.jspecify.annotations.Nullable;

/**
 * What chooses positions ({@link roselle.backend.operation.PositionIndex}).
 *
 * @param heads of its queries
 * @param size numbers of a query and of a key
 * @param block positions that are chosen together; 1 for one by one
 * @param localBlocks blocks up to the row's own that are always chosen, where each head chooses blocks; 0 where all heads choose
 *     positions together, or whole blocks by a key that is made of each (GLM 5.3)
 * @param chosen positions at most
 * @param rope of the first numbers of queries and keys, or the last
 * @param epsilon of the norm of its keys
 * @param isOwn whether the layer chooses; else it attends to what the last layer that did has chosen
 * @param turnsEnds whether the last numbers turn (Hunyuan 4)
 */
public record IndexSpec(
        int heads,
        int size,
        int block,
        int localBlocks,
        int chosen,
        @Nullable RopeSpec rope,
        float epsilon,
        boolean isOwn,
        boolean turnsEnds) {
    /** Whose first numbers turn. */
    public IndexSpec(
            int heads,
            int size,
            int block,
            int localBlocks,
            int chosen,
            @Nullable RopeSpec rope,
            float epsilon,
            boolean isOwn) {
        this(heads, size, block, localBlocks, chosen, rope, epsilon, isOwn, false);
    }

    public IndexSpec {
        AttentionSpec.requireSize(size);
        if (heads < 1
                || chosen < 1
                || block < 1
                || chosen % block != 0
                || localBlocks < 0
                || localBlocks > chosen / block
                || (rope != null && rope.dimensions() > size)) {
            throw new IllegalArgumentException("impossible index: " + heads + " heads of " + size + ", " + localBlocks
                    + " local blocks of " + block + ", " + chosen + " positions");
        }
    }

    /** Whether blocks are chosen, by each head by itself. */
    public boolean isOfBlocks() {
        return localBlocks > 0;
    }

    /** Whether all heads choose whole blocks together, each by one key that is made of its tokens. */
    public boolean isPooled() {
        return block > 1 && localBlocks == 0;
    }

    /** Positions for which a choice has room: those chosen, and those behind the last whole block. */
    public int room() {
        return isPooled() ? chosen + block - 1 : chosen;
    }

    /** Choices of a row. */
    public int choices() {
        return isOfBlocks() ? heads : 1;
    }

    /** Numbers of a row: queries, a key and weights; and where keys are made of several tokens a gate, and room for such a key. */
    public int products() {
        int pooled = isPooled() ? 2 * size : 0;
        return isOwn ? heads * size + size + (isOfBlocks() ? 0 : heads) + pooled : 0;
    }
}
