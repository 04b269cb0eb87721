package roselle.model.spec;

import org.jspecify.annotations.Nullable;

/**
 * What chooses positions ({@link roselle.backend.operation.PositionIndex}).
 *
 * @param heads of its queries
 * @param size numbers of a query and of a key
 * @param block positions that are chosen together; 1 for one by one, by all heads
 * @param localBlocks blocks up to the row's own that are always chosen; 0 where positions are chosen one by one
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
                || (block > 1 && localBlocks == 0)
                || (rope != null && rope.dimensions() > size)) {
            throw new IllegalArgumentException("impossible index: " + heads + " heads of " + size + ", " + localBlocks
                    + " local blocks of " + block + ", " + chosen + " positions");
        }
    }

    /** Whether blocks are chosen, by each head by itself. */
    public boolean isOfBlocks() {
        return localBlocks > 0;
    }

    /** Choices of a row. */
    public int choices() {
        return isOfBlocks() ? heads : 1;
    }

    /** Numbers of a row: queries, a key and weights. */
    public int products() {
        return isOwn ? heads * size + size + (isOfBlocks() ? 0 : heads) : 0;
    }
}
