package roselle.sampling;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import roselle.backend.LogitChanges;
import roselle.backend.TokenDraws;
import roselle.batch.SamplingPlan;

/**
 * Turns rows of logits into tokens on the host.
 *
 * <p>In this order: a check for NaN, log-probabilities of the raw logits, repetition, frequency and presence penalties,
 * logit bias, mask and stop tokens that come too early, and then either the likeliest token (temperature 0; of equal ones
 * the lowest id) or temperature, top-k, top-p, min-p, typical and one draw that depends on seed and position only.
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
    private final LogprobReport report = new LogprobReport();
    private final Filters filters = new Filters();
    private final TokenHistory said = new TokenHistory(); // of a row of draws
    private double logSum; // of the raw logits
    private TokenDraws.Failure failure = TokenDraws.Failure.NONE; // of the last call
    private int failedPosition;

    public Sampler(int vocabulary) {
        this.vocabulary = vocabulary;
        logits = new float[vocabulary];
        penalties = new Penalties(vocabulary);
        candidates = new Candidates(vocabulary);
    }

    /** Why the last call failed; it names the position, not the request. */
    public String failure() {
        return failure(failure, failedPosition);
    }

    /** The log-probabilities of the last position, valid until the next call. */
    public LogprobReport report() {
        return report;
    }

    Candidates candidates() {
        return candidates;
    }

    /**
     * Samples the token that follows {@code history} from row {@code row} of {@code rows}, float32 of [rows, vocabulary];
     * {@link #report} has its log-probabilities where the plan asks for them.
     *
     * @return the token, or {@link #FAILED}
     */
    public int sample(MemorySegment rows, long row, SamplingPlan plan, TokenHistory history, TokenMask mask) {
        int position = history.length();
        if (!load(rows, row, position)) {
            return FAILED;
        }
        boolean reports = plan.topLogprobs != SamplingPlan.NO_LOGPROBS;
        if (reports) {
            gather(plan.topLogprobs);
        }
        change(plan, history, mask);
        int token = choose(filters.of(plan), position);
        if (token != FAILED && reports) {
            report.choose(token, rows.getAtIndex(ValueLayout.JAVA_FLOAT, row * vocabulary + token), logSum);
        }
        return token;
    }

    /** Draws the token of a row of draws from the first row of {@code rows}, as {@link #sample} does. */
    public void draw(MemorySegment rows, TokenDraws draws, int row) {
        int position = draws.position[row];
        int token = FAILED;
        if (load(rows, 0, position)) {
            boolean reports = draws.topLogprobs[row] != TokenDraws.NO_LOGPROBS;
            if (reports) {
                gather(draws.topLogprobs[row]);
            }
            change(draws.changes, row);
            token = choose(filters.of(draws, row), position);
            if (token != FAILED && reports) {
                report.choose(token, rows.getAtIndex(ValueLayout.JAVA_FLOAT, token), logSum);
                report.copyTo(draws, row);
            }
        }
        draws.token[row] = token;
        draws.failure[row] = failure;
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

    /** Why a device drew no token for a position, in the words that this sampler has for it. */
    public static String failure(TokenDraws.Failure failure, int position) {
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
        failure = TokenDraws.Failure.NONE;
        long start = row * vocabulary * Float.BYTES;
        MemorySegment.copy(rows, ValueLayout.JAVA_FLOAT_UNALIGNED, start, logits, 0, vocabulary);
        float max = Float.NEGATIVE_INFINITY;
        for (int id = 0; id < vocabulary; id++) {
            logits[id] += 0f; // makes -0 into 0, which must tie
            max = Math.max(max, logits[id]);
        }
        if (Float.isNaN(max) || Float.isInfinite(max)) {
            TokenDraws.Failure infinite =
                    max > 0 ? TokenDraws.Failure.INFINITE_LOGIT : TokenDraws.Failure.NO_FINITE_LOGIT;
            fail(Float.isNaN(max) ? TokenDraws.Failure.NOT_A_NUMBER : infinite, position);
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

    private void change(SamplingPlan plan, TokenHistory history, TokenMask mask) {
        if (plan.hasPenalties()) {
            penalties.apply(logits, plan, history);
        }
        for (int i = 0; i < plan.biasIds.length; i++) {
            logits[plan.biasIds[i]] += plan.biases[i];
        }
        if (!mask.isEverything()) {
            forbid(mask);
        }
        if (history.generated() < plan.minTokens) {
            for (int id : plan.stopIds) {
                logits[id] = Float.NEGATIVE_INFINITY;
            }
        }
    }

    private void change(LogitChanges changes, int row) {
        int[] numbers = changes.numbers;
        if (changes.punishes(row)) {
            said.show(numbers, changes.historyAt[row], changes.promptLength[row], changes.historyLength[row]);
            penalties.apply(logits, changes.repetition[row], changes.presence[row], changes.frequency[row], said);
        }
        int biases = changes.biasCount[row];
        for (int i = changes.biasAt[row]; i < changes.biasAt[row] + biases; i++) {
            logits[numbers[i]] += Float.intBitsToFloat(numbers[i + biases]);
        }
        if (changes.maskAt[row] != LogitChanges.NO_MASK) {
            for (int id = 0; id < vocabulary; id++) {
                boolean isAllowed = (numbers[changes.maskAt[row] + (id >> 5)] >>> id & 1) != 0;
                logits[id] = isAllowed ? logits[id] : Float.NEGATIVE_INFINITY;
            }
        }
        for (int i = 0; i < changes.stopCount[row]; i++) {
            logits[numbers[changes.stopAt[row] + i]] = Float.NEGATIVE_INFINITY;
        }
    }

    private void forbid(TokenMask mask) {
        for (int id = 0; id < vocabulary; id++) {
            boolean isAllowed = (mask.words[id >> 6] >>> id & 1) != 0;
            logits[id] = isAllowed ? logits[id] : Float.NEGATIVE_INFINITY;
        }
    }

    private int fail(TokenDraws.Failure kind, int position) {
        failure = kind;
        failedPosition = position;
        return FAILED;
    }

    private int choose(Filters by, int position) {
        float max = max();
        if (max == Float.NEGATIVE_INFINITY) {
            return fail(TokenDraws.Failure.NONE_ALLOWED, position);
        }
        if (max == Float.POSITIVE_INFINITY) {
            return fail(TokenDraws.Failure.INFINITE_CHANGE, position);
        }
        if (by.temperature == 0) {
            return first(max);
        }
        candidates.fill(logits, max, by);
        return candidates.draw(CounterRandom.uniform(by.seed, position));
    }

    private int first(float value) {
        int id = 0;
        while (logits[id] != value) {
            id++;
        }
        return id;
    }
}
