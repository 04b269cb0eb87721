package roselle.bench.load;

/** An answer that is not what HTTP or a stream of events looks like. */
final class ProtocolException extends RuntimeException {
    private static final long serialVersionUID = 1;

    ProtocolException(String message) {
        super(message);
    }
}
