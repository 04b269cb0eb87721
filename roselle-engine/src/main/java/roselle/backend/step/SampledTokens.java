package roselle.backend.step;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** What was sampled from the rows of a step, {@link SamplingRows}: arrays of {@code [maxOutputs]}, reused from step to step. */
public final class SampledTokens {
    /** Likeliest tokens that can be reported. */
    public static final int MAX_LOGPROBS = 20;

    /** Why a row has no token. */
    public enum Failure {
        NONE,
        NOT_A_NUMBER,
        INFINITE_LOGIT,
        NO_FINITE_LOGIT,
        NONE_ALLOWED,
        INFINITE_CHANGE
    }

    public final int[] token; // -1 where it failed
    public final Failure[] failure;
    /** Log-probability of the token, where it is wanted. */
    public final float[] chosen;

    public final int[] count; // of the likeliest tokens
    public final int[] ids; // [maxOutputs, MAX_LOGPROBS]
    public final float[] logprobs; // [maxOutputs, MAX_LOGPROBS]
    /** Float32 of [vocabulary] where {@link SamplingRows#returnsLogits}: the device's memory, until it is given these tokens again. */
    public final MemorySegment[] logits;

    public SampledTokens(int maxOutputs) {
        token = new int[maxOutputs];
        failure = new Failure[maxOutputs];
        Arrays.fill(failure, Failure.NONE);
        chosen = new float[maxOutputs];
        count = new int[maxOutputs];
        ids = new int[maxOutputs * MAX_LOGPROBS];
        logprobs = new float[maxOutputs * MAX_LOGPROBS];
        logits = new MemorySegment[maxOutputs];
        Arrays.fill(logits, MemorySegment.NULL);
    }
}
