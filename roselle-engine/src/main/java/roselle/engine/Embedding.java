package roselle.engine;

import roselle.api.DeviceException;
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

/** A text's vector in the making; closing it cancels what is not finished. One thread waits, any thread may close. */
public final class Embedding implements AutoCloseable {
    private final Generation generation;

    Embedding(Generation generation) {
        this.generation = generation;
    }

    /** Tokens of the text. */
    public int tokens() {
        return generation.promptTokens();
    }

    /**
     * Waits for the mean over all tokens of the decoder's last hidden states, after its last norm; as long as the decoder is
     * wide, and not normalised to a length of 1.
     *
     * @throws roselle.api.CapacityException if there was not enough room, or not in time
     * @throws DeviceException if the engine failed, or it was closed before
     */
    public float[] vector() {
        while (generation.hasNext()) {
            GenerationEvent event = generation.next();
            switch (event) {
                case Failed failed -> throw failed.exception();
                case TokenGenerated _, ChoiceEnded _, Reasoning _, PromptScored _, Finished _ -> {}
                case ToolCallStarted _, ToolCallDelta _, ToolCall _ -> {}
            }
        }
        float[] vector = generation.embedding();
        if (vector == null) {
            throw new DeviceException("the embedding was cancelled");
        }
        return vector;
    }

    @Override
    public void close() {
        generation.close();
    }
}
