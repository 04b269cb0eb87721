package roselle.backend.operation;

/**
 * What chooses the positions that a layer attends to (DeepSeek Sparse Attention, DeepSeek-AI, 2025; MiniMax M3): small queries, and one
 * small key for each position, which lies in pages of its own.
 *
 * @param keys the group of these pages, norm and rotation of the keys and of the queries, and what multiplies a product of both
 * @param localBlocks blocks that end with the row's own and are always chosen; 0 where positions are chosen one by one, or whole blocks
 *     by one key of each, by a sum over all heads, and not as blocks by the highest product of each head
 * @param chosen where the choice goes
 */
public record PositionIndex(AttentionLayer keys, int localBlocks, ChosenPositions chosen) {
    public PositionIndex {
        boolean isOfBlocks = localBlocks > 0;
        if (localBlocks < 0
                || localBlocks > chosen.most() / chosen.block()
                || (isOfBlocks
                        ? chosen.choices() != keys.heads().queryHeads()
                        : (chosen.block() != 1 && !chosen.choosesWhole()) || chosen.choices() != 1)) {
            throw new IllegalArgumentException("an index with " + localBlocks + " local blocks does not make "
                    + chosen.choices() + " choices of blocks of " + chosen.block());
        }
    }
}
