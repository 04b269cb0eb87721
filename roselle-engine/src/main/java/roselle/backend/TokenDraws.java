package roselle.backend;

import java.util.Arrays;

/**
 * Rows of logits from which a device draws tokens, and what it drew; arrays of {@code [maxOutputs]}, reused from step to step.
 *
 * <p>The meaning of each number, the order of filters, ties and random numbers are those of the host's sampler.
 */
public final class TokenDraws {
    /** Likeliest tokens that can be reported. */
    public static final int MOST_LOGPROBS = 20;

    /** What {@link #topLogprobs} is where none are wanted. */
    public static final int NO_LOGPROBS = -1;

    /** How a row failed. */
    public enum Failure {
        NONE,
        NOT_A_NUMBER,
        INFINITE_LOGIT,
        NO_FINITE_LOGIT,
        NONE_ALLOWED,
        INFINITE_CHANGE
    }

    /** Rows from which a token is wanted; the others are left alone. */
    public final boolean[] wanted;

    public final double[] temperature;
    public final double[] topP; // 1 keeps all
    public final double[] minP; // 0 keeps all
    public final int[] topK; // 0 keeps all
    public final long[] seed;
    /** Where the token will stand in its sequence. */
    public final int[] position;

    public final int[] topLogprobs;

    /** What changes the rows' logits before their tokens are drawn. */
    public final LogitChanges changes;

    public final int[] token; // -1 where it failed
    public final Failure[] failure;
    /** Log-probability of the token, where it is wanted. */
    public final float[] chosen;

    public final int[] count; // of the likeliest tokens
    public final int[] ids; // [maxOutputs, MOST_LOGPROBS]
    public final float[] logprobs; // [maxOutputs, MOST_LOGPROBS]

    /** Draws from steps within limits. */
    public TokenDraws(StepLimits limits) {
        this(limits.maxOutputs(), LogitChanges.room(limits));
    }

    /** Draws from up to so many rows, with room for so many numbers of changes. */
    public TokenDraws(int maxOutputs, int room) {
        changes = new LogitChanges(maxOutputs, room);
        wanted = new boolean[maxOutputs];
        temperature = new double[maxOutputs];
        topP = new double[maxOutputs];
        minP = new double[maxOutputs];
        topK = new int[maxOutputs];
        seed = new long[maxOutputs];
        position = new int[maxOutputs];
        topLogprobs = new int[maxOutputs];
        token = new int[maxOutputs];
        failure = new Failure[maxOutputs];
        Arrays.fill(failure, Failure.NONE);
        chosen = new float[maxOutputs];
        count = new int[maxOutputs];
        ids = new int[maxOutputs * MOST_LOGPROBS];
        logprobs = new float[maxOutputs * MOST_LOGPROBS];
    }
}
