package roselle.server.http;

import java.io.IOException;
import java.io.OutputStream;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes a stream of JSON documents, each to the socket at once, on a connection that stays open for further requests.
 *
 * <p>Nothing leaves before the first document, so until then the answer can still become an error with a status of its own. A
 * document is one line: {@link JsonWriter} escapes line breaks.
 */
public final class EventStream {
    private final Supplier<OutputStream> opener;
    private final StreamFormat format;
    private final PeerLiveness peer;
    private final Utf8Buffer frame = new Utf8Buffer();
    private final JsonWriter json = new JsonWriter(frame);
    private @Nullable OutputStream out;
    private boolean isOpen;

    EventStream(Supplier<OutputStream> opener, StreamFormat format, PeerLiveness peer) {
        this.opener = opener;
        this.format = format;
        this.peer = peer;
    }

    /** Begins an event; what is written to what it returns is its document, until {@link #end} or {@link #send}. */
    public JsonWriter event() {
        return event("");
    }

    /** Begins an event with a name, such as {@code response.created}. */
    public JsonWriter event(String name) {
        isOpen = true;
        format.begin(frame, name);
        return json.restart();
    }

    /** Ends the event that was begun; it leaves together with the next one that is sent. */
    public void end() {
        json.requireComplete();
        isOpen = false;
        format.end(frame);
    }

    /** Ends the event that was begun, if one was, and writes all that have not left in one piece. */
    public void send() throws IOException {
        if (isOpen) {
            end();
        }
        if (frame.length() > 0) {
            flush();
        }
    }

    /** Ends the stream as its format has it; what has not left does now. */
    public void finish() throws IOException {
        if (isOpen) {
            end();
        }
        format.finish(frame);
        send();
    }

    /** The last event of a stream that failed after it had begun. */
    void fail(ErrorAnswer error) throws IOException {
        frame.clear();
        event(format.errorEvent()).json(error.body().toBytes());
        send();
    }

    /** Whether something has left. */
    boolean hasBegun() {
        return out != null;
    }

    private void flush() throws IOException {
        if (peer.isGone()) {
            throw new IOException("the peer has gone");
        }
        peer.awaitsTaker();
        if (out == null) {
            out = opener.get();
            out.write(frame.array(), 0, frame.length());
            out.flush(); // else the first piece is held back
        } else {
            out.write(frame.array(), 0, frame.length());
        }
        peer.goesOn();
        frame.clear();
    }

    void close() throws IOException {
        if (out != null) {
            peer.awaitsTaker();
            out.close();
            peer.goesOn();
        }
    }
}
