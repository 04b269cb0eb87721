package roselle.tokenizer.pattern;

import java.util.Arrays;
import roselle.api.InvalidRequestException;

/** Which states (instruction, place) of a {@link PatternMatcher} are known to fail or, inside look-around, to succeed. */
final class PatternMemory {
    /** A state that was not met before. */
    static final int NEW = 0;

    static final int FAILS = 1;
    static final int SUCCEEDS = 2;

    private static final long MAXIMUM_BITS = 1L << 33; // 1 GiB

    private final long places;
    private final int[] rows; // by instruction: which row of bits, or -1
    private final long[] visited;
    private final long[] succeeded;
    private long[] trail = new long[64]; // states on the way from the beginning to here
    private int trailSize;

    PatternMemory(Pattern pattern, int length) {
        places = length + 1L;
        rows = new int[pattern.size()];
        int count = 0;
        boolean looks = false;
        for (int pc = 0; pc < rows.length; pc++) {
            byte operation = pattern.operations()[pc];
            boolean branches =
                    operation == Pattern.SPLIT || operation == Pattern.STAR || operation == Pattern.POSSESSIVE;
            rows[pc] = branches ? count++ : -1;
            looks |= operation == Pattern.LOOK_AHEAD || operation == Pattern.LOOK_BEHIND;
        }
        long bits = count * places;
        if (bits > MAXIMUM_BITS) {
            throw new InvalidRequestException("a stretch of " + length
                    + " characters without a cut is too long for the tokenizer's pattern: send shorter texts");
        }
        visited = new long[(int) ((bits + 63) >>> 6)];
        succeeded = looks ? new long[visited.length] : new long[0];
    }

    /** What is known about a state; from now on it is known to fail, unless {@link #succeed} takes that back. */
    int visit(int pc, int place) {
        long state = rows[pc] * places + place;
        int word = (int) (state >>> 6);
        long bit = 1L << state;
        if (succeeded.length > 0 && (succeeded[word] & bit) != 0) {
            return SUCCEEDS;
        }
        if ((visited[word] & bit) != 0) {
            return FAILS;
        }
        visited[word] |= bit;
        if (trailSize == trail.length) {
            trail = Arrays.copyOf(trail, trailSize * 2);
        }
        trail[trailSize++] = state;
        return NEW;
    }

    /** Where the trail ends now. */
    int mark() {
        return trailSize;
    }

    /** The trail turned out to fail after {@code mark}. */
    void fail(int mark) {
        trailSize = mark;
    }

    /** The trail after {@code mark} led to a success, which the look-around's later runs may build on. */
    void succeed(int mark, boolean inLook) {
        while (trailSize > mark) {
            long state = trail[--trailSize];
            int word = (int) (state >>> 6);
            visited[word] &= ~(1L << state);
            if (inLook) {
                succeeded[word] |= 1L << state;
            }
        }
    }
}
