package roselle.batch;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Adapter;

/**
 * One answer in the making: its token ids, what was asked of it, and where it is in its life.
 *
 * <p>Ids grow from the prompt to {@code maxLength} at most. Only the engine's thread touches it.
 */
public final class Sequence {
    /** Generated tokens that fit before the ids first grow. */
    private static final int FIRST_ROOM = 256;

    private final long id;
    private final int promptLength;
    private final int maxLength;
    private final SamplingPlan plan;
    private final Scheduling scheduling;
    private final TokenConstraint constraint;
    private final @Nullable Adapter adapter;
    private int[] ids;
    private int length;
    private int scored;
    private int charged;
    private int cachedTokens;
    private int preemptions;
    private long admittedNanos;
    private boolean wasAdmitted;
    private SequenceState state;

    private Sequence(
            long id,
            int[] prompt,
            int maxLength,
            SamplingPlan plan,
            Scheduling scheduling,
            TokenConstraint constraint,
            @Nullable Adapter adapter) {
        if (prompt.length == 0 || maxLength <= prompt.length) {
            throw new IllegalArgumentException(
                    "a prompt of " + prompt.length + " tokens in a sequence of at most " + maxLength);
        }
        this.id = id;
        this.maxLength = maxLength;
        this.plan = plan;
        this.scheduling = scheduling;
        this.constraint = constraint;
        this.adapter = adapter;
        promptLength = prompt.length;
        length = prompt.length;
        ids = Arrays.copyOf(prompt, (int) Math.min(maxLength, (long) prompt.length + FIRST_ROOM));
        state = new Waiting(this);
    }

    /**
     * A new sequence, waiting.
     *
     * @param id distinguishes it in messages and breaks ties: of two that arrive at once the lower ranks higher
     * @param prompt at least one token
     * @param maxLength tokens of prompt and answer together
     */
    public static Waiting begin(long id, int[] prompt, int maxLength, SamplingPlan plan, Scheduling scheduling) {
        return begin(id, prompt, maxLength, plan, scheduling, TokenConstraint.NONE);
    }

    /** The same with a say in which tokens may come. */
    public static Waiting begin(
            long id,
            int[] prompt,
            int maxLength,
            SamplingPlan plan,
            Scheduling scheduling,
            TokenConstraint constraint) {
        return begin(id, prompt, maxLength, plan, scheduling, constraint, null);
    }

    /** The same with what is added to the products of its rows; the scope of its prefixes must know of it. */
    public static Waiting begin(
            long id,
            int[] prompt,
            int maxLength,
            SamplingPlan plan,
            Scheduling scheduling,
            TokenConstraint constraint,
            @Nullable Adapter adapter) {
        var sequence = new Sequence(id, prompt, maxLength, plan, scheduling, constraint, adapter);
        return (Waiting) sequence.state;
    }

    public long id() {
        return id;
    }

    /** The ids, of which the first {@link #length} count; the array changes when it grows. */
    public int[] ids() {
        return ids;
    }

    /** Tokens of the prompt and generated ones. */
    public int length() {
        return length;
    }

    public int promptLength() {
        return promptLength;
    }

    public int maxLength() {
        return maxLength;
    }

    /** Tokens generated so far. */
    public int generated() {
        return length - promptLength;
    }

    public SamplingPlan plan() {
        return plan;
    }

    public Scheduling scheduling() {
        return scheduling;
    }

    /** What is added to the products of its rows; null for nothing. */
    public @Nullable Adapter adapter() {
        return adapter;
    }

    public TokenConstraint constraint() {
        return constraint;
    }

    /**
     * The token that comes next whatever its logits are, or {@link TokenConstraint#NOT_FORCED}; the constraint was told of all tokens
     * before it.
     */
    public int forcedToken() {
        int token = constraint.forcedAfter(ids, length);
        boolean isForced = token != TokenConstraint.NOT_FORCED && plan.takesForced(token, generated());
        return isForced ? token : TokenConstraint.NOT_FORCED;
    }

    /** Whether its next token cannot be sampled before all those before it are known, whatever their keys and values say. */
    public boolean samplesByHistory() {
        return plan.hasPenalties() || !constraint.equals(TokenConstraint.NONE);
    }

    public SequenceState state() {
        return state;
    }

    /** Adds a generated token. */
    public void append(int token) {
        if (length == ids.length) {
            ids = Arrays.copyOf(ids, (int) Math.min(maxLength, ids.length + (ids.length >> 1) + 1L));
        }
        ids[length++] = token;
    }

    /** Prompt positions whose logits were delivered, of {@code promptLength - 1}; counts only where the prompt is scored. */
    public int scored() {
        return scored;
    }

    public void scoredTo(int position) {
        scored = Math.max(scored, position);
    }

    /** Whether rows of the prompt are still to be delivered. */
    public boolean scoresPrompt() {
        return plan.scoresPrompt && scored < promptLength - 1;
    }

    /** Returns how many of {@code tokens} were never charged to the key before, and remembers that they are now. */
    public int chargeUpTo(int tokens) {
        int fresh = Math.max(0, tokens - charged);
        charged += fresh;
        return fresh;
    }

    /** Records when it ran, and how much of its prompt was cached then, if this is the first time; returns whether it is. */
    public boolean admitted(long now, int cached) {
        if (wasAdmitted) {
            return false;
        }
        wasAdmitted = true;
        admittedNanos = now;
        cachedTokens = Math.min(cached, promptLength);
        return true;
    }

    /** Prompt tokens that came from the cache when it first ran. */
    public int cachedTokens() {
        return cachedTokens;
    }

    /** When it first ran; 0 where it has not. */
    public long admittedNanos() {
        return admittedNanos;
    }

    /** How often it lost its pages. */
    public int preemptions() {
        return preemptions;
    }

    /** Whether this sequence goes before {@code other} of its key: by priority, then arrival. */
    public boolean ranksAbove(Sequence other) {
        if (scheduling.priority() != other.scheduling.priority()) {
            return scheduling.priority() > other.scheduling.priority();
        }
        return arrivedBefore(other);
    }

    /** Whether this sequence came before {@code other}, of whatever key; of two that came at once, the lower id. */
    public boolean arrivedBefore(Sequence other) {
        if (scheduling.arrivalNanos() != other.scheduling.arrivalNanos()) {
            return scheduling.arrivalNanos() < other.scheduling.arrivalNanos();
        }
        return id < other.id;
    }

    /** Whether this sequence's first token is wanted before that of {@code other}; of two that are due at once, who came before. */
    public boolean isDueBefore(Sequence other) {
        if (scheduling.dueNanos() != other.scheduling.dueNanos()) {
            return scheduling.dueNanos() < other.scheduling.dueNanos();
        }
        return arrivedBefore(other);
    }

    <S extends SequenceState> S change(SequenceState from, S to) {
        if (state != from) {
            throw new IllegalStateException(
                    "sequence " + id + " is " + state.getClass().getSimpleName() + " by now: the transition from "
                            + from.getClass().getSimpleName() + " came too late");
        }
        if (to instanceof Preempted) {
            preemptions++;
        }
        state = to;
        return to;
    }
}
