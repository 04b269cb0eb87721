package roselle.server.transport;

/** What peers are told of bytes that never become a call. */
@FunctionalInterface
public interface Refusals {
    /** The answer with a status. */
    Text text(int status);

    /** A content type and a body. */
    record Text(String contentType, String body) {}
}
