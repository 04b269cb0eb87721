package roselle.engine;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.api.InvalidRequestException;
import roselle.api.Usage;
import roselle.engine.answer.Choice;
import roselle.engine.answer.NamedLogprobs;
import roselle.engine.request.Signal;
import roselle.engine.request.TokenChannel;
import roselle.execution.TokenScores;

/**
 * The events of one request as they happen; ends with exactly one {@link Finished} or {@link Failed}.
 *
 * <p>Reading waits for the engine; the engine never waits for the reader. Ids become text, stop strings are looked for, and thoughts and calls are
 * taken out of the answers to chats, on the reading thread. One thread reads; any thread may {@link #close}, which cancels what is not finished.
 */
public final class Generation implements Iterable<GenerationEvent>, AutoCloseable {
    private final TokenChannel channel;
    private final NamedLogprobs names;
    private final Canceller canceller;
    private final int[] prompt;
    private final Choice[] choices;
    private final ArrayDeque<GenerationEvent> pending = new ArrayDeque<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    private int completionTokens;
    private boolean ended;
    private float @Nullable [] embedding;

    /** Asks the engine to end one choice of a request, or all with {@link #ALL}. */
    interface Canceller {
        int ALL = -1;

        void cancel(int choice);
    }

    Generation(TokenChannel channel, NamedLogprobs names, int[] prompt, Choice[] choices, Canceller canceller) {
        this.channel = channel;
        this.names = names;
        this.prompt = prompt;
        this.choices = choices;
        this.canceller = canceller;
    }

    /** Tokens of the prompt, special tokens and template included. */
    public int promptTokens() {
        return prompt.length;
    }

    /** The prompt's tokens, special tokens and template included. */
    public int[] promptIds() {
        return prompt.clone();
    }

    /** Whether {@link #next} has more to give; false after {@link Finished} or {@link Failed}. */
    public boolean hasNext() {
        return !ended;
    }

    /**
     * Waits for the next event.
     *
     * @throws NoSuchElementException after the last event
     * @throws java.util.concurrent.CancellationException if the thread is interrupted
     */
    public GenerationEvent next() {
        if (ended) {
            throw new NoSuchElementException("the generation has ended");
        }
        while (pending.isEmpty()) {
            channel.await();
            long entry = channel.peek();
            read(entry, channel.takeDetail());
        }
        GenerationEvent event = pending.remove();
        ended = event instanceof Finished || event instanceof Failed;
        return event;
    }

    /**
     * Waits until all has been generated, for who wants nothing sooner: the reader is woken once, and not for each token. Returns at once
     * where the answer's own text can end it, by a stop string or the one call that is allowed: that is seen by reading.
     *
     * @throws java.util.concurrent.CancellationException if the thread is interrupted
     */
    public void awaitWhole() {
        if (!ended && Arrays.stream(choices).noneMatch(Choice::mayStop)) {
            channel.awaitLast();
        }
    }

    /** The events; there is only one iteration, which ends after {@link Finished} or {@link Failed}. */
    @Override
    public Iterator<GenerationEvent> iterator() {
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return Generation.this.hasNext();
            }

            @Override
            public GenerationEvent next() {
                return Generation.this.next();
            }
        };
    }

    /**
     * Waits for the end and returns the text of the first choice; of a chat, without thoughts and calls.
     *
     * @throws CapacityException if there was not enough room, or not in time
     * @throws InvalidRequestException if the request was at fault
     * @throws DeviceException if the engine failed
     */
    public String text() {
        awaitWhole();
        var text = new StringBuilder();
        while (!ended) {
            switch (next()) {
                case TokenGenerated token when token.choice() == 0 -> text.append(token.text());
                case ChoiceEnded end when end.choice() == 0 -> text.append(end.text());
                case Failed failed -> throw failed.exception();
                case TokenGenerated _, ChoiceEnded _, Reasoning _, PromptScored _, Finished _ -> {}
                case ToolCallStarted _, ToolCallDelta _, ToolCall _ -> {}
            }
        }
        return text.toString();
    }

    /** The mean of the prompt's hidden states, which comes before the first token; null where it was not asked for. */
    float @Nullable [] embedding() {
        return embedding;
    }

    /** Ends what is not finished; returns at once, and the engine frees the request's pages within a step. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            canceller.cancel(Canceller.ALL);
        }
    }

    private void read(long entry, @Nullable Object detail) {
        if (entry >= 0) {
            token((int) (entry >>> 32), (int) entry, detail);
            return;
        }
        switch ((Signal) detail) {
            case Signal.Scored scored -> pending.add(names.of(scored.scores()));
            case Signal.Embedded embedded -> embedding = embedded.states().mean();
            case Signal.Ended end -> end(end.choice(), end.reason());
            case Signal.Completed completed -> pending.add(finished(completed));
            case Signal.Broken broken -> pending.add(new Failed(broken.kind(), broken.message()));
            case null -> throw new IllegalStateException("a signal entry without its signal");
        }
    }

    private void token(int number, int id, @Nullable Object detail) {
        Choice choice = choices[number];
        if (choice.hasEnded()) {
            return; // generated before the engine heard of the stop string
        }
        completionTokens++;
        choice.token(id, detail instanceof TokenScores scores ? names.of(scores) : List.of(), pending);
        if (choice.hasStopped()) {
            choice.end(FinishReason.STOP, pending);
            canceller.cancel(number);
        }
    }

    private void end(int number, FinishReason reason) {
        if (!choices[number].hasEnded()) {
            choices[number].end(reason, pending);
        }
    }

    private Finished finished(Signal.Completed completed) {
        return new Finished(
                Arrays.stream(choices).map(Choice::reason).toList(),
                new Usage(
                        completed.promptTokens(),
                        completed.cachedTokens(),
                        completionTokens,
                        Arrays.stream(choices).mapToInt(Choice::reasoningTokens).sum(),
                        completed.queueNanos(),
                        completed.firstTokenNanos(),
                        completed.totalNanos()));
    }
}
