package roselle.engine;

/**
 * What an engine is doing, as of its last step.
 *
 * @param isAlive whether it takes requests
 * @param waiting answers that have not run yet
 * @param preempted answers that have run, lost their pages to others, and wait to go on
 * @param running answers that are being generated
 * @param usedPages pages that answers in the making hold, of all groups
 * @param cachedPages pages that only the prefix cache holds; they are given up when others need them
 * @param totalPages pages there are, but for those whose memory is given back
 * @param cacheBytes what these take
 * @param totals what it has done since it was opened
 * @param lastStepNanos how long the last step took
 * @param turnNanos how long ago the engine's loop began the turn that is under way; 0 while it rests, for want of work
 * @param device what runs it, and how, and why so
 * @param failure what made an answer fail within a step since the last token that was generated, or why the engine ended; empty for
 *     nothing
 */
public record EngineStatus(
        boolean isAlive,
        int waiting,
        int preempted,
        int running,
        int usedPages,
        int cachedPages,
        int totalPages,
        long cacheBytes,
        EngineTotals totals,
        long lastStepNanos,
        long turnNanos,
        String device,
        String failure) {}
