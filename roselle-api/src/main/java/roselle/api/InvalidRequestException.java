package roselle.api;

import java.io.Serial;

/**
 * A request or an input that cannot be honoured as it stands; the caller can mend it.
 *
 * <p>Its message is one line for people. Programs read {@link #reason} and {@link #field} instead, whatever the message says.
 */
public final class InvalidRequestException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 2L;

    /** What is wrong, for programs. */
    public enum Reason {
        /** It contradicts itself, or is no such thing at all; the message says what. */
        INVALID,
        /** The prompt, or the prompt with its answer, is longer than the context. */
        CONTEXT_LENGTH,
        /** A value is not among those that can be. */
        OUT_OF_RANGE,
        /** This model cannot do it; another one might. */
        UNSUPPORTED
    }

    private final Reason reason;
    private final String field;

    public InvalidRequestException(String message) {
        this(Reason.INVALID, "", message);
    }

    public InvalidRequestException(String message, Throwable cause) {
        this(message);
        initCause(cause);
    }

    /**
     * A refusal that programs can tell from others.
     *
     * @param field the property of the request that is at fault, such as {@code max_tokens}, or empty
     */
    public InvalidRequestException(Reason reason, String field, String message) {
        super(OneLine.of(message));
        this.reason = reason;
        this.field = field;
    }

    public Reason reason() {
        return reason;
    }

    /** The property of the request that is at fault, as the library names it; empty where no single one is. */
    public String field() {
        return field;
    }
}
