package roselle.backend.operation;

/**
 * What chooses the positions that a layer attends to (DeepSeek Sparse Attention; DeepSeek-AI, 2025): small queries, and one small key
 * for each position, which lies in pages of its own.
 *
 * @param keys the group of these pages, norm and rotation of the keys, rotation of the queries, and what multiplies a product of both
 * @param chosen where the choice goes
 */
public record PositionIndex(AttentionLayer keys, ChosenPositions chosen) {}
