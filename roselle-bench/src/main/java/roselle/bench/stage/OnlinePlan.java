package roselle.bench.stage;

import java.util.List;
import roselle.api.InvalidRequestException;
import roselle.bench.backend.Sampling;
import roselle.bench.load.LoadOptions;
import roselle.bench.metric.Objective;
import roselle.bench.trace.PromptMode;
import roselle.bench.trace.Trace;

/**
 * What an online run replays.
 *
 * @param trace with its lengths cut already
 * @param scales that arrival times are multiplied with: smaller is heavier, 0 sends all at once
 * @param repeats of each scale
 * @param keepsPrompts whether all scales and repeats have the same prompts: fair only where prefix caches are off
 * @param seed of the prompts
 * @param warmUp requests before the first scale, with prompts of their own
 */
public record OnlinePlan(
        Trace trace,
        List<Double> scales,
        int repeats,
        PromptMode mode,
        boolean keepsPrompts,
        Sampling sampling,
        long seed,
        int warmUp,
        LoadOptions load,
        Objective objective) {
    public OnlinePlan {
        scales = List.copyOf(scales);
        if (scales.isEmpty() || repeats < 1 || warmUp < 0) {
            throw new InvalidRequestException("a run needs a scale, a repeat, and 0 or more requests to warm up");
        }
        if (mode == PromptMode.TRACE && !trace.hasBlocks()) {
            throw new InvalidRequestException("the prompt mode is trace, but " + trace.name()
                    + " does not say which prompts share a beginning: choose independent or shared-base");
        }
        for (double scale : scales) {
            if (!(scale >= 0 && scale <= 1e6)) {
                throw new InvalidRequestException("a scale is " + scale + ": it must be from 0 to 1000000");
            }
        }
    }

    /** Different for each scale and repeat, so that no run finds an earlier one's prompts in a cache. */
    long seed(int scale, int repeat) {
        return keepsPrompts ? seed : seed + 1 + scale * 1000L + repeat;
    }
}
