package roselle.embedding;

/**
 * What an engine did and has to do, for metrics.
 *
 * @param waiting texts that wait for a step
 * @param steps that were run
 * @param texts that were computed
 * @param tokens of these texts
 * @param expired texts whose deadline passed before they were computed
 * @param stepNanos how long all steps took
 * @param turnNanos how long the step under way has lasted; 0 between steps
 * @param isAlive whether texts are taken
 * @param failure why the engine ended by itself; empty where it did not
 */
public record EmbeddingStatus(
        int waiting,
        long steps,
        long texts,
        long tokens,
        long expired,
        long stepNanos,
        long turnNanos,
        boolean isAlive,
        String failure) {}
