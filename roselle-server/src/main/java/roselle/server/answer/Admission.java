package roselle.server.answer;

import java.time.Duration;
import roselle.api.Usage;
import roselle.server.http.Exchange;

/** Decides, before any work, whether a request may be served: limits of its key, room in the server. */
public interface Admission {
    /** Under this name an exchange from within the server has a {@link Ticket}, and asks for no other. */
    String BROUGHT = "ticket";

    /** Lets everyone in; the engine's own queue is bounded all the same. */
    Admission OPEN = _ -> Ticket.FREE;

    /**
     * Admits a request or throws.
     *
     * @throws roselle.server.http.ApiException 429 for a limit of the key, 503 for a full server, both with a time to wait
     */
    Ticket admit(Exchange exchange);

    /** A place in the server; given back by {@link #close}, whatever became of the request. */
    interface Ticket extends AutoCloseable {
        Ticket FREE = new Ticket() {};

        /** Whose request it is; empty for nobody's. */
        default String key() {
            return "";
        }

        /** Whose share of the engine and whose cached prefixes it takes: the key's own, or its group's. */
        default String group() {
            return key();
        }

        /** Its place among the others of its key, where it asks for this one. */
        default int priority(int asked) {
            return asked;
        }

        /** How soon its first token is wanted; zero where nobody has said so. */
        default Duration firstTokenWithin() {
            return Duration.ZERO;
        }

        /** What the request took; before {@link #close}, at most once for each of its generations. */
        default void spend(Usage usage) {}

        @Override
        default void close() {}
    }
}
