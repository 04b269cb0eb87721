package roselle.engine.request;

import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;
import roselle.api.FailureKind;
import roselle.api.FinishReason;
import roselle.batch.Outcome;
import roselle.batch.Sequence;
import roselle.batch.Waiting;
import roselle.execution.PromptEmbedding;
import roselle.execution.PromptScores;

/**
 * One request on the engine's thread: its sequences, one per choice, and the channel to its reader.
 *
 * <p>The first choice runs alone until its prompt is read; the others then find it in the prefix cache.
 */
public final class ActiveRequest {
    /** The entry that says that its detail is a {@link Signal}. */
    private static final long SIGNAL = -1;

    private final Waiting[] choices;
    private final TokenChannel channel;
    private final long submittedNanos;
    private final Runnable whenBegun;
    private final Runnable whenEnded;
    private int started;
    private int endedChoices;
    private int outputTokens;
    private long firstTokenNanos;
    private boolean isOver;
    private @Nullable PromptScores promptScores;
    private @Nullable PromptEmbedding promptEmbedding;

    public ActiveRequest(Waiting[] choices, TokenChannel channel, long submittedNanos, Runnable whenEnded) {
        this(choices, channel, submittedNanos, () -> {}, whenEnded);
    }

    /** The same with who wants to know of the first token. */
    public ActiveRequest(
            Waiting[] choices, TokenChannel channel, long submittedNanos, Runnable whenBegun, Runnable whenEnded) {
        this.whenBegun = whenBegun;
        this.choices = choices;
        this.channel = channel;
        this.submittedNanos = submittedNanos;
        this.whenEnded = whenEnded;
        Sequence first = choices[0].sequence();
        if (first.plan().scoresPrompt && !first.plan().embedsPrompt) {
            promptScores = new PromptScores(first.ids(), first.promptLength());
        }
    }

    public int choiceCount() {
        return choices.length;
    }

    public Sequence sequence(int choice) {
        return choices[choice].sequence();
    }

    public boolean hasMoreToStart() {
        skipCancelled();
        return !isOver && started < choices.length;
    }

    public int nextChoice() {
        return started;
    }

    /** The next choice to be scheduled. */
    public Waiting startNext() {
        return choices[started++];
    }

    private void skipCancelled() {
        while (started < choices.length && !(choices[started].sequence().state() instanceof Waiting)) {
            started++;
        }
    }

    public boolean isStarted(int choice) {
        return choice < started;
    }

    boolean isOver() {
        return isOver;
    }

    /** What the prompt's rows scored so far. */
    public PromptScores promptScores() {
        if (promptScores == null) {
            throw new IllegalStateException("sequence " + sequence(0).id() + " scores a prompt that was told");
        }
        return promptScores;
    }

    /** The sum of the prompt's hidden states so far; made when first asked for. */
    public PromptEmbedding promptEmbedding(int width) {
        if (promptEmbedding == null) {
            promptEmbedding = new PromptEmbedding(width);
        }
        return promptEmbedding;
    }

    /** Tells what the prompt's rows were wanted for; they have all been computed. */
    public void tellPrompt() {
        if (promptScores != null) {
            channel.offer(SIGNAL, new Signal.Scored(promptScores));
            promptScores = null;
        }
        if (promptEmbedding != null) {
            channel.offer(SIGNAL, new Signal.Embedded(promptEmbedding));
            promptEmbedding = null;
        }
    }

    public void tellToken(int choice, int id, @Nullable Object scores, long now) {
        if (firstTokenNanos == 0) {
            firstTokenNanos = now - submittedNanos;
            whenBegun.run();
        }
        outputTokens++;
        channel.offer((long) choice << 32 | id, scores);
    }

    /** Takes note that a choice has ended; the last one completes the request. */
    public void tellEnd(int choice, Outcome outcome, long now) {
        if (isOver) {
            return;
        }
        switch (outcome) {
            case Outcome.Stopped _, Outcome.Completed _ -> tellEnd(choice, FinishReason.STOP, now);
            case Outcome.LengthReached _ -> tellEnd(choice, FinishReason.LENGTH, now);
            case Outcome.Cancelled _ -> tellEnd(choice, FinishReason.CANCELLED, now);
            case Outcome.Failed failed -> fail(failed.kind(), failed.message());
        }
    }

    /** Ends a choice that was not scheduled yet; it never will be. */
    public void cancelUnstarted(int choice, long now) {
        if (!isOver && choices[choice].sequence().state() instanceof Waiting waiting) {
            waiting.finish(new Outcome.Cancelled());
            tellEnd(choice, FinishReason.CANCELLED, now);
        }
    }

    private void tellEnd(int choice, FinishReason reason, long now) {
        channel.offer(SIGNAL, new Signal.Ended(choice, reason));
        endedChoices++;
        if (endedChoices == choices.length) {
            isOver = true;
            record(reason.name(), now);
            whenEnded.run(); // first: who reads the end finds the room it leaves
            channel.offerLast(SIGNAL, completed(now));
        }
    }

    private Signal.Completed completed(long now) {
        Sequence first = sequence(0);
        return new Signal.Completed(
                first.promptLength(), first.cachedTokens(), queuedNanos(now), firstTokenNanos, now - submittedNanos);
    }

    private long queuedNanos(long now) {
        long admitted = sequence(0).admittedNanos();
        return (admitted == 0 ? now : admitted) - submittedNanos;
    }

    /** Tells the flight recorder, where it wants to know. */
    private void record(String reason, long now) {
        if (!FlightRecorder.isInitialized()) {
            return; // the first event takes a cold JVM 80 ms
        }
        var event = new RequestEvent();
        if (!event.shouldCommit()) {
            return;
        }
        Sequence first = sequence(0);
        event.id = first.id();
        event.choices = choices.length;
        event.promptTokens = first.promptLength();
        event.cachedTokens = first.cachedTokens();
        event.outputTokens = outputTokens;
        event.queueNanos = queuedNanos(now);
        event.firstTokenNanos = firstTokenNanos;
        event.totalNanos = now - submittedNanos;
        event.reason = reason;
        event.commit();
    }

    /** Ends the request as failed; what its other choices still do is nobody's concern. */
    public void fail(FailureKind kind, String message) {
        if (!isOver) {
            isOver = true;
            record(kind.name(), System.nanoTime());
            whenEnded.run();
            channel.offerLast(SIGNAL, new Signal.Broken(kind, message));
        }
    }
}
