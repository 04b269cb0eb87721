package roselle.bench.stage;

import java.util.List;
import java.util.Optional;
import roselle.bench.environment.Energy;
import roselle.bench.environment.ProcessorUse;

/**
 * Repeats of the offline work by one engine.
 *
 * @param path in process, http, or driver: how the engine was reached
 * @param seconds of each repeat, from the first prompt in to the last token out
 * @param promptTokens of one repeat
 * @param outputTokens of one repeat, as the engine counts them
 * @param processors busy meanwhile, on average over the repeats; empty for a process that was not watched
 * @param energy of all repeats together, by each meter of the machine; empty where there is none
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
        Optional<ProcessorUse> processors,
        List<Energy> energy,
        double readySeconds,
        String note) {
    public OfflineRun {
        seconds = List.copyOf(seconds);
        energy = List.copyOf(energy);
    }
}
