package roselle.bench.backend;

/** An engine that did not start, or did not become ready. */
public final class BackendException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public BackendException(String message) {
        super(message);
    }

    public BackendException(String message, Throwable cause) {
        super(message, cause);
    }
}
