package roselle.server.transport;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.Map;

/** A request's head, the way of its body and of its answer: a connection's, or one within the process. */
public interface Link {
    RequestHead head();

    SocketAddress peer();

    boolean isSecure();

    /**
     * Waits for the next piece of the body; empty at its end.
     *
     * @throws IOException if the peer has gone
     * @throws RefusedException if it is no body
     */
    byte[] read() throws IOException;

    /** A body that is many messages may take so long from here on as one body, or, where none of it is due, as the next request. */
    void expectPiece(boolean isDue);

    /** Nothing of the body is wanted for now. */
    void expectNothing();

    /** Sets a header of the answer; before anything is sent. */
    void header(String name, String value);

    /** Sends a whole answer; of the body of one to {@code HEAD} the length alone. */
    void answer(int status, byte[] content) throws IOException;

    /** Begins an answer whose length is not known yet; its head leaves with the first bytes of the body. */
    void begin(int status) throws IOException;

    /** Sends the first {@code length} bytes of an array, which may be used again; it waits while the peer takes nothing. */
    void write(byte[] bytes, int length) throws IOException;

    /** Ends an answer that was begun, and waits until all of it has been taken. */
    void end() throws IOException;

    /** The same with fields behind the body (trailers). */
    void end(Map<String, String> trailers) throws IOException;

    /** Calls the action once, on any thread, when the peer goes before the answer has ended; at once if it has gone. */
    void whenGone(Runnable action);

    /** Forgets an action of {@link #whenGone}. */
    void unwatch(Runnable action);
}
