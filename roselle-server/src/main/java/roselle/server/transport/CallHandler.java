package roselle.server.transport;

import java.io.IOException;

/** Answers calls, each on a virtual thread of its own. */
@FunctionalInterface
public interface CallHandler {
    /**
     * Answers; it may block.
     *
     * @throws IOException if the peer has gone; the connection, or the stream in HTTP/2, is then broken off
     */
    void handle(Call call) throws IOException;
}
