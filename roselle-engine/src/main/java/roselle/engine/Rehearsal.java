package roselle.engine;

import java.util.concurrent.CountDownLatch;
import roselle.api.GenerationRequest;
import roselle.batch.Placement;
import roselle.batch.SamplingPlan;
import roselle.batch.Sequence;
import roselle.batch.Waiting;
import roselle.kvcache.PrefixScope;

/**
 * The engine before it is open: a loop with a scheduler, a page cache and numbers of its own over the engine's executor.
 *
 * <p>It answers one request that it makes up, and those that others submit meanwhile. When it is over, its scheduler and cache
 * are forgotten, and with them whatever they knew: the pages that were written to are as free to the engine's own cache as those
 * that nobody has written to.
 *
 * <p>Its own request is as short as can be. What the first step of a JVM takes is per row, since kernels are not compiled yet;
 * longer ones made the start later by as much as the first true request became shorter. A model that takes seconds for a step is
 * ready a few steps later, which its first request need not wait for.
 */
final class Rehearsal {
    private static final int PROMPT_TOKENS = 2;
    private static final int NEW_TOKENS = 2;

    private final EngineLoop loop;
    private final int vocabulary;
    private final CountDownLatch answered = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);

    /** A rehearsal in {@code loop}, for a model of so many tokens and an engine with room for so many at a time. */
    Rehearsal(EngineLoop loop, int vocabulary, int longest) {
        this.loop = loop;
        this.vocabulary = vocabulary;
        if (longest < PROMPT_TOKENS + NEW_TOKENS) {
            answered.countDown();
        } else {
            loop.post(new EngineLoop.Command.Submit(request()));
        }
    }

    /** Takes requests until {@link #end}; on the thread of the engine that will follow, which a failure concerns, too. */
    void run() {
        try {
            loop.rehearse();
        } finally {
            answered.countDown();
            over.countDown();
        }
    }

    /** Ends it when it has answered its own request, and waits for that. */
    void end() {
        await(answered);
        loop.end();
        await(over);
    }

    /** Tells it to end, whatever it does. */
    void breakOff() {
        loop.end();
    }

    private static void await(CountDownLatch latch) {
        boolean interrupted = false;
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException interruption) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private ActiveRequest request() {
        int[] prompt = new int[PROMPT_TOKENS];
        for (int i = 0; i < prompt.length; i++) {
            prompt[i] = i % vocabulary;
        }
        long now = System.nanoTime();
        var sampling =
                SamplingPlan.of(GenerationRequest.builder().tokens(prompt).build(), new int[0], vocabulary, 0, 0);
        var placement = new Placement(new PrefixScope("", ""), 0, "", now, Placement.NO_DEADLINE);
        var sequence = Sequence.begin(0, prompt, prompt.length + NEW_TOKENS, sampling, placement);
        return new ActiveRequest(new Waiting[] {sequence}, new TokenChannel(), now, answered::countDown, false);
    }
}
