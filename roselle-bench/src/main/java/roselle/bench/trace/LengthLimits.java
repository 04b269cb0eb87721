package roselle.bench.trace;

import roselle.api.InvalidRequestException;

/**
 * What a trace's lengths are cut to.
 *
 * @param maxInput tokens of a prompt at most
 * @param minOutput tokens of an answer at least; 2 where every answer shall have a time per output token
 * @param maxOutput tokens of an answer at most
 */
public record LengthLimits(int maxInput, int minOutput, int maxOutput) {
    public LengthLimits {
        if (maxInput < 1 || minOutput < 1 || maxOutput < minOutput) {
            throw new InvalidRequestException("lengths of at most " + maxInput + " in and " + minOutput + " to "
                    + maxOutput + " out are not possible: each is at least 1, and the least is not above the most");
        }
    }

    int input(int tokens) {
        return Math.min(tokens, maxInput);
    }

    int output(int tokens) {
        return Math.max(minOutput, Math.min(tokens, maxOutput));
    }
}
