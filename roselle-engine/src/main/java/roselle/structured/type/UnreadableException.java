package roselle.structured.type;

import java.io.Serial;

/** What was written is no value of the type: it is not as the schema says, or a record's constructor refuses it. */
public final class UnreadableException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String path;

    UnreadableException(String path, RuntimeException cause) {
        super(cause.getMessage(), cause);
        this.path = path;
    }

    UnreadableException(String path, String message) {
        this(path, new IllegalArgumentException(message));
    }

    /** The field. */
    public String path() {
        return path;
    }

    /** Why. */
    public RuntimeException reason() {
        return (RuntimeException) java.util.Objects.requireNonNull(getCause());
    }
}
