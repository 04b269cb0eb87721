package roselle.scheduler;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import roselle.api.GenerationRequest;
import roselle.api.OutputOptions;
import roselle.api.Prompt;
import roselle.api.SamplingParameters;
import roselle.api.SchedulingOptions;
import roselle.api.StopConditions;
import roselle.backend.memory.KvGroup;
import roselle.batch.SamplingPlan;
import roselle.batch.Scheduling;
import roselle.batch.Sequence;
import roselle.batch.Waiting;
import roselle.kvcache.PageCache;
import roselle.kvcache.PageLayout;

/** Greedy requests of some tokens, and a cache of few pages, that a test can follow by hand. */
final class SmallRequests {
    /** The token that ends an answer. */
    static final int END = 9;

    static final int PAGE_TOKENS = 4;
    private static final SamplingPlan PLAN = SamplingPlan.of(
            new GenerationRequest(
                    Prompt.Tokens.of(0),
                    SamplingParameters.GREEDY,
                    new StopConditions(100, 0, List.of(), Set.of(), false),
                    OutputOptions.DEFAULT,
                    new SchedulingOptions(0, "", "", Duration.ZERO)),
            new int[] {END},
            10_000,
            1,
            0);

    private SmallRequests() {}

    static PageCache cache(int pages) {
        var group = new KvGroup("full", 1, 1, 1, 1, 0);
        return new PageCache(new PageLayout(List.of(group), List.of(pages), PAGE_TOKENS), 3);
    }

    /** A request whose prompt has no prefix in common with that of another number. */
    static Waiting waiting(long id, int prompt, int answer, Scheduling scheduling) {
        int[] ids = new int[prompt];
        Arrays.fill(ids, 1000 + (int) id);
        return Sequence.begin(id, ids, prompt + answer, PLAN, scheduling);
    }
}
