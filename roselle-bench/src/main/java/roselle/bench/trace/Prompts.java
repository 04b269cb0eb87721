package roselle.bench.trace;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import roselle.api.InvalidRequestException;

/** Makes the token ids of a trace's prompts, each of exactly the length that the trace tells. */
public final class Prompts {
    private final int[] ids;
    private final long seed;

    /**
     * Prompts that are drawn from a vocabulary.
     *
     * @param ids the tokens that a prompt may have
     * @param seed the same seed gives the same prompts
     */
    public Prompts(int[] ids, long seed) {
        if (ids.length == 0) {
            throw new InvalidRequestException("the vocabulary has no token for prompts");
        }
        this.ids = ids.clone();
        this.seed = seed;
    }

    /** One prompt for each request of the trace. */
    public List<int[]> of(Trace trace, PromptMode mode) {
        return switch (mode) {
            case INDEPENDENT -> independent(trace);
            case SHARED_BASE -> sharedBase(trace);
            case TRACE -> ofBlocks(trace);
        };
    }

    private List<int[]> independent(Trace trace) {
        TokenDraw draw = TokenDraw.of(ids, seed);
        return trace.entries().stream()
                .map(entry -> draw.take(entry.inputTokens()))
                .toList();
    }

    private List<int[]> sharedBase(Trace trace) {
        int longest =
                trace.entries().stream().mapToInt(TraceEntry::inputTokens).max().orElseThrow();
        int[] base = TokenDraw.of(ids, seed).take(longest);
        return trace.entries().stream()
                .map(entry -> java.util.Arrays.copyOf(base, entry.inputTokens()))
                .toList();
    }

    private List<int[]> ofBlocks(Trace trace) {
        if (!trace.hasBlocks()) {
            throw new InvalidRequestException("the prompt mode is trace, but " + trace.name()
                    + " does not say which prompts share a beginning: choose independent or shared-base");
        }
        Map<Long, int[]> blocks = new HashMap<>();
        var prompts = new ArrayList<int[]>();
        for (TraceEntry entry : trace.entries()) {
            prompts.add(ofBlocks(entry, trace.blockTokens(), blocks));
        }
        return prompts;
    }

    private int[] ofBlocks(TraceEntry entry, int blockTokens, Map<Long, int[]> known) {
        var prompt = new int[entry.inputTokens()];
        for (int start = 0; start < prompt.length; start += blockTokens) {
            int number = start / blockTokens;
            if (number >= entry.blocks().size()) {
                throw new InvalidRequestException("a request of " + entry.inputTokens() + " tokens names "
                        + entry.blocks().size() + " blocks of " + blockTokens + ": they do not cover it");
            }
            int[] block = known.computeIfAbsent(entry.blocks().get(number), name -> block(name, blockTokens));
            System.arraycopy(block, 0, prompt, start, Math.min(blockTokens, prompt.length - start));
        }
        return prompt;
    }

    /** The text of a name depends on the name and the seed alone, not on the order of the requests. */
    private int[] block(long name, int tokens) {
        long mixed = new SplittableRandom(seed).nextLong() ^ new SplittableRandom(name).nextLong();
        return TokenDraw.of(ids, mixed).take(tokens);
    }
}
