package roselle.server.http;

import java.io.IOException;
import roselle.server.transport.Link;

/**
 * Writes a stream of JSON documents, each to the socket at once, on a connection that stays open for further requests.
 *
 * <p>Nothing leaves before the first document, so until then the answer can still become an error with a status of its own. A
 * document is one line: {@link JsonWriter} escapes line breaks.
 */
public final class EventStream {
    private final Opener opener;
    private final StreamFormat format;
    private final Link call;
    private final Utf8Buffer frame = new Utf8Buffer();
    private final JsonWriter json = new JsonWriter(frame);
    private boolean hasBegun;
    private boolean isOpen;

    /** Sends the head of the answer. */
    interface Opener {
        void open() throws IOException;
    }

    EventStream(Opener opener, StreamFormat format, Link call) {
        this.opener = opener;
        this.format = format;
        this.call = call;
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

    /** Sends a text that clients leave out, and before the first one the head; does nothing in a format that has no such thing. */
    public void comment(String text) throws IOException {
        if (format.comment(frame, text)) {
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
        return hasBegun;
    }

    private void flush() throws IOException {
        if (!hasBegun) {
            hasBegun = true;
            opener.open();
        }
        call.write(frame.array(), frame.length());
        frame.clear();
    }

    void close() throws IOException {
        if (hasBegun) {
            call.end();
        }
    }
}
