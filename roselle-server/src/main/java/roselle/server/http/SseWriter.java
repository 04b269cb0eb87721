package roselle.server.http;

import java.io.IOException;
import java.io.OutputStream;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes server-sent events, each to the socket at once, on a connection that stays open for further requests.
 *
 * <p>Nothing leaves before the first event, so until then the answer can still become an error with a status of its own. An
 * event's data is one line of JSON: {@link JsonText} escapes line breaks.
 */
public final class SseWriter {
    private static final String DATA = "data: ";
    private static final String END = "\n\n";

    private final Supplier<OutputStream> opener;
    private final Presence presence;
    private final JsonText frame = new JsonText();
    private @Nullable OutputStream out;
    private boolean isOpen;

    SseWriter(Supplier<OutputStream> opener, Presence presence) {
        this.opener = opener;
        this.presence = presence;
    }

    /** Begins an event; what is added to the text that it returns is its data, until {@link #end} or {@link #send}. */
    public JsonText event() {
        isOpen = true;
        return frame.raw(DATA);
    }

    /** Begins an event with a name, such as {@code response.created}. */
    public JsonText event(String name) {
        isOpen = true;
        return frame.raw("event: ").raw(name).raw("\n").raw(DATA);
    }

    /** The event that was begun, to go on with. */
    public JsonText more() {
        return frame;
    }

    /** Ends the event that was begun; it leaves together with the next one that is sent. */
    public SseWriter end() {
        isOpen = false;
        frame.raw(END);
        return this;
    }

    /** Ends the event that was begun, if one was, and writes all that have not left in one piece. */
    public void send() throws IOException {
        if (isOpen) {
            end();
        }
        flush();
    }

    /** A line that clients skip; it keeps proxies from closing a silent connection. */
    public void comment() throws IOException {
        frame.raw(": \n\n");
        flush();
    }

    /** The last event of a stream that failed after it had begun. */
    void fail(ApiException error) throws IOException {
        frame.clear();
        event().raw(Errors.body(error).toBytes());
        send();
    }

    /** Whether something has left. */
    boolean hasBegun() {
        return out != null;
    }

    private void flush() throws IOException {
        if (presence.isGone()) {
            throw new IOException("the peer has gone");
        }
        presence.awaitsTaker();
        if (out == null) {
            out = opener.get();
            out.write(frame.array(), 0, frame.length());
            out.flush(); // else the first piece is held back
        } else {
            out.write(frame.array(), 0, frame.length());
        }
        presence.goesOn();
        frame.clear();
    }

    void close() throws IOException {
        if (out != null) {
            presence.awaitsTaker();
            out.close();
            presence.goesOn();
        }
    }
}
