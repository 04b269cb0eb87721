package roselle.embedding;

/**
 * What an engine did and has to do, for metrics.
 *
 * @param waiting texts that wait for a step
 * @param steps that were run
 * @param texts that were computed
 * @param tokens of these texts
 * @param expired texts whose deadline passed before they were computed
 */
public record EmbeddingStatus(int waiting, long steps, long texts, long tokens, long expired) {}
