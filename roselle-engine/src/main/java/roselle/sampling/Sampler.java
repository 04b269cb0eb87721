package roselle.sampling;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import roselle.backend.step.SampledTokens;
import roselle.backend.step.SamplingRows;

/**
 * Turns rows of logits into tokens on the host.
 *
 * <p>In this order: a check for NaN, log-probabilities of the raw logits, repetition, frequency and presence penalties,
 * logit bias, mask and forbidden tokens, and then either the likeliest token (temperature 0; of equal ones
 * the lowest id) or temperature, top-k, top-p, min-p, typical and a draw by noise that depends on seed, position and token only.
 *
 * <p>One thread uses it; all its memory is taken when it is made.
 */
public final class Sampler {
    /** Returned in place of a token; {@link #failure} says why. */
    public static final int FAILED = -1;

    private final int vocabulary;
    private final float[] logits; // [vocabulary] this row, as it is changed
    private final Penalties penalties;
    private final Candidates candidates;
    private final ExponentialRace race;
    private final LogprobReport report = new LogprobReport();
    private double logSum; // of the raw logits
    private SampledTokens.Failure failure = SampledTokens.Failure.NONE; // of the last call
    private int failedPosition;

    public Sampler(int vocabulary) {
        this.vocabulary = vocabulary;
        logits = new float[vocabulary];
        penalties = new Penalties(vocabulary);
        candidates = new Candidates(vocabulary);
        race = new ExponentialRace(vocabulary);
    }

    /** Why the last call failed; it names the position, not the request. */
    public String failure() {
        return failure(failure, failedPosition);
    }

    /** The log-probabilities of the last position, valid until the next call. */
    public LogprobReport report() {
        return report;
    }

    /** What the last call drew from, as a row says. */
    Candidates candidates(SamplingRows rows, int row) {
        candidates.fill(logits, max(), rows, row);
        return candidates;
    }

    /**
     * Samples a token as a row of {@code rows} says, into the same row of {@code tokens}, with log-probabilities where they are wanted.
     *
     * @param logits float32 of [any, vocabulary]
     * @param at which of them
     * @return the token, or {@link #FAILED}
     */
    public int sample(MemorySegment logits, long at, SamplingRows rows, int row, SampledTokens tokens) {
        int token = FAILED;
        if (load(logits, at, rows.position[row])) {
            boolean reports = rows.topLogprobs[row] != SamplingRows.NO_LOGPROBS;
            if (reports) {
                gather(rows.topLogprobs[row]);
            }
            change(rows, row);
            token = choose(rows, row);
            if (token != FAILED && reports) {
                report.choose(token, logits.getAtIndex(ValueLayout.JAVA_FLOAT, at * vocabulary + token), logSum);
                report.copyTo(tokens, row);
            }
        }
        tokens.token[row] = token;
        tokens.failure[row] = failure;
        return token;
    }

    /**
     * Makes {@link #report} that of a token that is known, for scoring a prompt.
     *
     * @param position where {@code token} stands
     * @return false where the row is broken; {@link #failure} says how
     */
    public boolean score(MemorySegment rows, long row, int position, int token, int top) {
        if (!load(rows, row, position)) {
            return false;
        }
        gather(top);
        report.choose(token, logits[token], logSum);
        return true;
    }

    /** Why a row has no token for its position, in words. */
    public static String failure(SampledTokens.Failure failure, int position) {
        return switch (failure) {
            case NONE -> "";
            case NOT_A_NUMBER -> produced("NaN", position);
            case INFINITE_LOGIT -> produced("an infinite logit", position);
            case NO_FINITE_LOGIT -> produced("no finite logit", position);
            case NONE_ALLOWED ->
                "no token is allowed at position " + position + ": mask, bias and min_tokens forbid all of them";
            case INFINITE_CHANGE ->
                "penalties or bias made a logit infinite at position " + position + ": use smaller ones";
        };
    }

    private static String produced(String what, int position) {
        return "the model produced " + what + " at position " + position;
    }

    /** Copies a row, and refuses one that says nothing: NaN or +∞ anywhere, or −∞ everywhere. */
    private boolean load(MemorySegment rows, long row, int position) {
        failure = SampledTokens.Failure.NONE;
        long start = row * vocabulary * Float.BYTES;
        MemorySegment.copy(rows, ValueLayout.JAVA_FLOAT_UNALIGNED, start, logits, 0, vocabulary);
        float max = Float.NEGATIVE_INFINITY;
        for (int id = 0; id < vocabulary; id++) {
            logits[id] += 0f; // makes -0 into 0, which must tie
            max = Math.max(max, logits[id]);
        }
        if (Float.isNaN(max) || Float.isInfinite(max)) {
            SampledTokens.Failure infinite =
                    max > 0 ? SampledTokens.Failure.INFINITE_LOGIT : SampledTokens.Failure.NO_FINITE_LOGIT;
            fail(Float.isNaN(max) ? SampledTokens.Failure.NOT_A_NUMBER : infinite, position);
            return false;
        }
        return true;
    }

    private void gather(int top) {
        report.gather(logits, vocabulary, top);
        float max = max();
        double sum = 0;
        for (int id = 0; id < vocabulary; id++) {
            sum += logits[id] == Float.NEGATIVE_INFINITY ? 0 : Exponential.of((double) logits[id] - max);
        }
        logSum = max + StrictMath.log(sum);
        report.normalize(logSum);
    }

    private float max() {
        float max = Float.NEGATIVE_INFINITY;
        for (int id = 0; id < vocabulary; id++) {
            max = Math.max(max, logits[id]);
        }
        return max;
    }

    private void change(SamplingRows rows, int row) {
        if (rows.hasPenalties(row)) {
            penalties.apply(logits, rows, row);
        }
        int[] biasIds = rows.biasIds[row];
        for (int i = 0; i < biasIds.length; i++) {
            logits[biasIds[i]] += rows.biases[row][i];
        }
        if (rows.mask[row].length > 0) {
            forbidOthers(rows.mask[row]);
        }
        for (int id : rows.forbidden[row]) {
            logits[id] = Float.NEGATIVE_INFINITY;
        }
    }

    /** Most words of masks allow all or nothing. */
    private void forbidOthers(long[] mask) {
        for (int first = 0; first < vocabulary; first += Long.SIZE) {
            int end = Math.min(vocabulary, first + Long.SIZE);
            long forbidden = ~mask[first >> 6];
            if (forbidden == -1) {
                Arrays.fill(logits, first, end, Float.NEGATIVE_INFINITY);
                continue;
            }
            for (; forbidden != 0; forbidden &= forbidden - 1) {
                int id = first + Long.numberOfTrailingZeros(forbidden);
                if (id < end) {
                    logits[id] = Float.NEGATIVE_INFINITY;
                }
            }
        }
    }

    private int fail(SampledTokens.Failure kind, int position) {
        failure = kind;
        failedPosition = position;
        return FAILED;
    }

    private int choose(SamplingRows rows, int row) {
        int position = rows.position[row];
        float max = max();
        if (max == Float.NEGATIVE_INFINITY) {
            return fail(SampledTokens.Failure.NONE_ALLOWED, position);
        }
        if (max == Float.POSITIVE_INFINITY) {
            return fail(SampledTokens.Failure.INFINITE_CHANGE, position);
        }
        if (rows.temperature[row] == 0) {
            return first(max);
        }
        race.start(rows.seed[row], position);
        if (Candidates.isFiltered(rows, row)) {
            candidates.fill(logits, max, rows, row);
            candidates.enter(race);
        } else {
            race.enterAll(logits, max, rows.temperature[row]);
        }
        return race.winner();
    }

    private int first(float value) {
        int id = 0;
        while (logits[id] != value) {
            id++;
        }
        return id;
    }
}
