package roselle.engine;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.api.GenerationRequest;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.api.Prompt;
import roselle.api.ResponseFormat;
import roselle.api.Usage;
import roselle.api.type.PartialValue;
import roselle.api.type.TypedAnswer;
import roselle.api.type.TypedEvent;
import roselle.structured.type.AnswerReader;
import roselle.structured.type.AnswerType;
import roselle.structured.type.UnreadableException;

/**
 * The answer to one request as a value of a Java type: its fields as they are written, and what it comes to.
 *
 * <p>As of a {@link Generation}, one thread reads and any may {@link #close}. Who wants the value alone asks for {@link #value}.
 *
 * @param <T> the type
 */
public final class TypedGeneration<T> implements Iterable<TypedEvent>, AutoCloseable {
    private final Generation generation;
    private final ArrayDeque<TypedEvent> pending = new ArrayDeque<>();
    private final AnswerReader<T> reader;
    private final StringBuilder text = new StringBuilder();
    private FinishReason reason = FinishReason.CANCELLED;
    private @Nullable TypedAnswer<T> answer;

    TypedGeneration(Generation generation, AnswerType<T> type) {
        this.generation = generation;
        reader = type.reader(pending::add);
    }

    /** The request with the type as its format; refused where it asks for what an answer of a type does not have. */
    static GenerationRequest held(GenerationRequest request, AnswerType<?> type) {
        if (!(request.format() instanceof ResponseFormat.Text)) {
            throw refusal("response_format", "the request has a format of its own beside the type: leave it out");
        }
        if (request.output().choices() != 1) {
            throw refusal("n", "n is " + request.output().choices() + ": an answer of a type is one");
        }
        if (request.output().logprobs() || request.output().promptLogprobs()) {
            throw refusal("logprobs", "an answer of a type has no log-probabilities: ask for its schema as format");
        }
        if (!request.stop().stopStrings().isEmpty()
                || !request.stop().stopTokenIds().isEmpty()) {
            throw refusal("stop", "an answer of a type ends where its value does: leave stop strings and tokens out");
        }
        if (request.prompt() instanceof Prompt.Chat chat && !chat.callable().isEmpty()) {
            throw refusal("tools", "an answer of a type calls no tools: leave them out, or ask for ToolUse NONE");
        }
        return request.with(type.format());
    }

    private static InvalidRequestException refusal(String field, String message) {
        return new InvalidRequestException(Reason.INVALID, field, message);
    }

    /** Tokens of the prompt, special tokens and template included. */
    public int promptTokens() {
        return generation.promptTokens();
    }

    /** Waits until there is more to read; false once the answer has come to its end. */
    public boolean hasNext() {
        while (pending.isEmpty() && answer == null) {
            read();
        }
        return !pending.isEmpty();
    }

    /**
     * Waits for the next event.
     *
     * @throws NoSuchElementException after the last one
     * @throws java.util.concurrent.CancellationException if the thread is interrupted
     */
    public TypedEvent next() {
        if (!hasNext()) {
            throw new NoSuchElementException("the answer has ended");
        }
        return pending.remove();
    }

    /** The events; there is only one iteration, which ends with the answer. */
    @Override
    public Iterator<TypedEvent> iterator() {
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return TypedGeneration.this.hasNext();
            }

            @Override
            public TypedEvent next() {
                return TypedGeneration.this.next();
            }
        };
    }

    /** What is known of the value when the events so far have been read; takes time in proportion to it. */
    public PartialValue partial() {
        return reader.partial();
    }

    /** Waits for the end and returns what it came to; events that were not read are dropped. */
    public TypedAnswer<T> answer() {
        TypedAnswer<T> known = answer;
        while (known == null) {
            read();
            known = answer;
        }
        pending.clear();
        return known;
    }

    /**
     * Waits for the end and returns the value.
     *
     * @throws InvalidRequestException if there is none, because {@code max_tokens} came first, or because a constructor
     *     refused it; or if the request was at fault
     * @throws java.util.concurrent.CancellationException if the generation was closed first
     * @throws roselle.api.CapacityException if there was not enough room, or not in time
     * @throws roselle.api.DeviceException if the engine failed
     */
    public T value() {
        return answer().value();
    }

    /** Ends what is not finished, as {@link Generation#close} does. */
    @Override
    public void close() {
        generation.close();
    }

    private void read() {
        switch (generation.next()) {
            case TokenGenerated token -> read(token.text());
            case ChoiceEnded end -> end(end);
            case Reasoning thought -> pending.add(new TypedEvent.Thought(thought.text()));
            case Finished finished -> answer = answer(finished.usage());
            case Failed failed -> answer = new TypedAnswer.Failed<>(failed.kind(), failed.message());
            case PromptScored _, ToolCallStarted _, ToolCallDelta _, ToolCall _ ->
                throw new AssertionError("not asked for");
        }
    }

    private void read(String piece) {
        text.append(piece);
        try {
            reader.accept(piece);
        } catch (UnreadableException refused) {
            refuse(refused);
        }
    }

    private void end(ChoiceEnded end) {
        read(end.text());
        reason = end.reason();
        if (answer == null && reason == FinishReason.STOP) {
            try {
                reader.finish();
            } catch (UnreadableException refused) {
                refuse(refused);
            }
        }
    }

    private void refuse(UnreadableException refused) {
        answer = new TypedAnswer.Refused<>(refused.path(), refused.reason(), text.toString());
        generation.close();
    }

    private TypedAnswer<T> answer(Usage usage) {
        return reader.isComplete()
                ? new TypedAnswer.Complete<>(reader.value(), usage)
                : new TypedAnswer.Cut<>(reason, reader.path(), reader.partial(), text.toString(), usage);
    }
}
