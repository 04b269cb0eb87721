package roselle.offline;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.api.FailureKind;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent;
import roselle.api.GenerationRequest;
import roselle.api.InvalidRequestException;
import roselle.engine.Engine;
import roselle.engine.Generation;

/**
 * Answers rows with an engine. What a row is to blame for, and what it had no room or time for, is its answer; a device that fails
 * fails the caller.
 */
public final class RowGenerator {
    private final Engine engine;

    public RowGenerator(Engine engine) {
        this.engine = engine;
    }

    /**
     * Waits for the first choice of a request.
     *
     * @throws DeviceException if the engine has failed or is closed
     * @throws CancellationException if the thread is interrupted; the engine then stops working on it
     */
    public Answer answer(GenerationRequest request) {
        try (Generation generation = engine.submit(request)) {
            generation.awaitWhole();
            return read(generation);
        } catch (InvalidRequestException refused) {
            return new Answer.Failed(FailureKind.INVALID_REQUEST, String.valueOf(refused.getMessage()));
        } catch (CapacityException full) {
            return new Answer.Failed(FailureKind.CAPACITY, String.valueOf(full.getMessage()));
        }
    }

    private static Answer read(Generation generation) {
        var text = new StringBuilder();
        var thoughts = new StringBuilder();
        List<Integer> tokens = new ArrayList<>();
        @Nullable Answer end = null;
        for (var event : generation) {
            switch (event) {
                case GenerationEvent.TokenGenerated token -> {
                    tokens.add(token.id());
                    text.append(token.text());
                }
                case GenerationEvent.Reasoning thought -> thoughts.append(thought.text());
                case GenerationEvent.ChoiceEnded choice -> text.append(choice.text());
                case GenerationEvent.Finished finished
                when finished.reasons().getFirst() == FinishReason.CANCELLED ->
                    throw new DeviceException("the engine was closed while a row was being answered");
                case GenerationEvent.Finished finished ->
                    end = new Answer.Generated(
                            text.toString(),
                            thoughts.toString(),
                            tokens,
                            finished.reasons().getFirst(),
                            finished.usage());
                case GenerationEvent.Failed failed
                when failed.kind() == FailureKind.INTERNAL -> throw failed.exception();
                case GenerationEvent.Failed failed -> end = new Answer.Failed(failed.kind(), failed.message());
                case GenerationEvent.PromptScored _, GenerationEvent.ToolCall _ -> {}
                case GenerationEvent.ToolCallStarted _, GenerationEvent.ToolCallDelta _ -> {}
            }
        }
        if (end == null) {
            throw new IllegalStateException("a generation ended without its last event");
        }
        return end;
    }
}
