package roselle.server.answer;

import java.util.List;
import roselle.api.GenerationEvent;
import roselle.api.GenerationRequest;
import roselle.server.config.ServedModel;
import roselle.server.http.Exchange;

/** Hears of every generation that dialects ask for; metrics and logs are observers. */
@FunctionalInterface
public interface Observer {
    /** Hears nothing. */
    Observer NONE = (_, _, _, _) -> Listener.NONE;

    /** Tells several observers. */
    static Observer all(List<Observer> observers) {
        List<Observer> all = List.copyOf(observers);
        return (exchange, model, request, promptTokens) -> new Listeners(all.stream()
                .map(observer -> observer.accepted(exchange, model, request, promptTokens))
                .toList());
    }

    /** A request was accepted by the engine; called on the request's thread, as are the listener's methods. */
    Listener accepted(Exchange exchange, ServedModel model, GenerationRequest request, int promptTokens);

    /** Hears what becomes of one generation. */
    interface Listener {
        Listener NONE = _ -> {};

        /** An event is about to be handed to the dialect; per token, so it must be cheap. */
        void event(GenerationEvent event);

        /** The dialect is done with the generation; it has ended, or it is cancelled now. */
        default void closed() {}
    }

    /** Several listeners as one. */
    record Listeners(List<Listener> all) implements Listener {
        @Override
        public void event(GenerationEvent event) {
            for (Listener listener : all) {
                listener.event(event);
            }
        }

        @Override
        public void closed() {
            all.forEach(Listener::closed);
        }
    }
}
