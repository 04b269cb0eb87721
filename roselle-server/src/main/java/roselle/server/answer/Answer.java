package roselle.server.answer;

import java.util.function.BooleanSupplier;
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
import roselle.api.Usage;
import roselle.engine.Generation;
import roselle.server.http.Errors;

/** The events of one generation, on their way to a dialect; closing it cancels what is not finished. */
public final class Answer implements AutoCloseable {
    private final Generation generation;
    private final Observer.Listener listener;
    private final Admission.Ticket ticket;
    private final BooleanSupplier isBrokenOff;
    private int tokens;
    private boolean isPaid;

    Answer(Generation generation, Observer.Listener listener, Admission.Ticket ticket, BooleanSupplier isBrokenOff) {
        this.generation = generation;
        this.listener = listener;
        this.ticket = ticket;
        this.isBrokenOff = isBrokenOff;
    }

    public int promptTokens() {
        return generation.promptTokens();
    }

    /** The prompt's tokens, special tokens and template included. */
    public int[] promptIds() {
        return generation.promptIds();
    }

    public boolean hasNext() {
        return generation.hasNext();
    }

    /**
     * Waits for the next event, which is never a {@link Failed}.
     *
     * @throws roselle.server.http.ApiException if the generation failed, or was broken off because the server ends
     */
    public GenerationEvent next() {
        GenerationEvent event = generation.next();
        listener.event(event);
        switch (event) {
            case TokenGenerated _ -> tokens++;
            case Finished finished -> pay(finished.usage());
            case PromptScored _,
                    Reasoning _,
                    ToolCallStarted _,
                    ToolCallDelta _,
                    ToolCall _,
                    ChoiceEnded _,
                    Failed _ -> {}
        }
        if (event instanceof Failed failed) {
            throw Errors.of(failed);
        }
        if (isBrokenOff.getAsBoolean()) {
            throw Errors.ending();
        }
        return event;
    }

    private void pay(Usage usage) {
        if (!isPaid) {
            isPaid = true;
            ticket.spend(usage);
        }
    }

    @Override
    public void close() {
        generation.close();
        pay(new Usage(promptTokens(), 0, tokens, 0, 0, 0, 0)); // what was broken off is paid for all the same
        listener.closed();
    }
}
