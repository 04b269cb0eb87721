package roselle.hub.request;

import java.io.Serial;

/** A model that could not be found, fetched or kept; the message says what, which value, and what to do. */
public final class HubException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** What a caller can do about it. */
    public enum Kind {
        /** No such model, revision or file. */
        NOT_FOUND,
        /** A token or the acceptance of a licence is missing. */
        NOT_AUTHORISED,
        /** The network or the hub failed; the same again goes on where this ended. */
        TRY_AGAIN,
        /** The hub sent what cannot be used. */
        BAD_DATA,
        /** The cache cannot be written. */
        DISK
    }

    private final Kind kind;

    public HubException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    public HubException(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }
}
