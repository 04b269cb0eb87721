package roselle.server.answer;

import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.engine.Generation;
import roselle.server.http.Errors;

/** The events of one generation, on their way to a dialect; closing it cancels what is not finished. */
public final class Answer implements AutoCloseable {
    private final Generation generation;
    private final Observer.Listener listener;
    private final Admission.Ticket ticket;

    Answer(Generation generation, Observer.Listener listener, Admission.Ticket ticket) {
        this.generation = generation;
        this.listener = listener;
        this.ticket = ticket;
    }

    public int promptTokens() {
        return generation.promptTokens();
    }

    public int[] promptIds() {
        return generation.promptIds();
    }

    public boolean hasNext() {
        return generation.hasNext();
    }

    /**
     * Waits for the next event, which is never a {@link Failed}.
     *
     * @throws roselle.server.http.ApiException if the generation failed
     */
    public GenerationEvent next() {
        GenerationEvent event = generation.next();
        listener.event(event);
        if (event instanceof Finished finished) {
            ticket.spend(finished.usage());
        }
        if (event instanceof Failed failed) {
            throw Errors.of(failed);
        }
        return event;
    }

    @Override
    public void close() {
        generation.close();
        listener.closed();
    }
}
