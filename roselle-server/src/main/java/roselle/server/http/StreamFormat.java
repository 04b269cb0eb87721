package roselle.server.http;

/** How the JSON documents of a stream are framed. An open interface: server-sent events are one way, a document a line another. */
public interface StreamFormat {
    String contentType();

    /** Writes what stands before a document; {@code event} is what it tells of, or empty. */
    void begin(Utf8Buffer out, String event);

    /** Writes what clients leave out, as a sign of life; false where the format has no such thing. */
    default boolean comment(Utf8Buffer out, String text) {
        return false;
    }

    /** Writes what stands after a document. */
    void end(Utf8Buffer out);

    /** The event whose document is an error, or empty. */
    String errorEvent();

    /** Writes what follows the last document of a stream that did not fail. */
    void finish(Utf8Buffer out);
}
