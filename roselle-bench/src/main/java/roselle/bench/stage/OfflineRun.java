package roselle.bench.stage;

import java.util.List;

/**
 * Repeats of the offline work by one engine.
 *
 * @param path in process, http, or driver: how the engine was reached
 * @param seconds of each repeat, from the first prompt in to the last token out
 * @param promptTokens of one repeat
 * @param outputTokens of one repeat, as the engine counts them
 * @param readySeconds from the engine's start until it was ready; 0 where it ran already
 */
public record OfflineRun(
        String backend,
        String path,
        String version,
        List<Double> seconds,
        int requests,
        long promptTokens,
        long outputTokens,
        double readySeconds,
        String note) {
    public OfflineRun {
        seconds = List.copyOf(seconds);
    }
}
