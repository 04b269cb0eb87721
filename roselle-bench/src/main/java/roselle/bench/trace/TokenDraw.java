package roselle.bench.trace;

import java.util.SplittableRandom;

/** Draws token ids for prompts. */
@FunctionalInterface
public interface TokenDraw {
    int next();

    /** Draws of a seed from a list of ids. */
    static TokenDraw of(int[] ids, long seed) {
        var random = new SplittableRandom(seed);
        return () -> ids[random.nextInt(ids.length)];
    }

    /** The next ids of a draw. */
    default int[] take(int count) {
        var ids = new int[count];
        for (int i = 0; i < count; i++) {
            ids[i] = next();
        }
        return ids;
    }
}
