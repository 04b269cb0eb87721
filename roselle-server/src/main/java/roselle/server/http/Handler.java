package roselle.server.http;

import java.io.IOException;

/** Answers one request, on a virtual thread of its own; it may block. */
@FunctionalInterface
public interface Handler {
    /**
     * Answers; whatever is thrown becomes an error in {@link Errors}'s shape.
     *
     * @throws IOException if the peer has gone
     */
    void handle(Exchange exchange) throws IOException;
}
