package roselle.server.http;

/** What can be wrong with a request or with its answer; each dialect has words of its own for it. */
public enum ErrorKind {
    /** The body, or one field of it, cannot be honoured as it stands. */
    INVALID(400),
    MISSING_FIELD(400),
    UNKNOWN_FIELD(400),
    WRONG_TYPE(400),
    OUT_OF_RANGE(400),
    /** The prompt, or the prompt with its answer, is longer than the context. */
    CONTEXT_LENGTH(400),
    /** No API key came, or one that is not known. */
    UNKNOWN_KEY(401),
    HOST_NOT_ALLOWED(403),
    ORIGIN_NOT_ALLOWED(403),
    /** The key may ask, but not for what concerns all keys. */
    OPERATOR_ONLY(403),
    NOT_FOUND(404),
    MODEL_NOT_FOUND(404),
    /** No answer is kept under this id. */
    ANSWER_NOT_FOUND(404),
    METHOD_NOT_ALLOWED(405),
    DEADLINE(408),
    BODY_TOO_LARGE(413),
    CONTENT_TYPE(415),
    /** The key has used up its requests. */
    REQUEST_LIMIT(429),
    /** The key has used up its tokens. */
    TOKEN_LIMIT(429),
    /** A defect of ours. */
    DEFECT(500),
    /** The API has it, this server does not; trying again does not help, so it is no failure of the server's. */
    NOT_SUPPORTED(400),
    /** There is no room at this moment, in the server or in the engine. */
    OVERLOADED(503),
    /** The server is going away. */
    ENDING(503),
    ENGINE_UNAVAILABLE(503),
    NOT_READY(503),
    HTTP_VERSION(505),
    /** The bytes are no HTTP as it may be sent, or too many; the transport says with which status. */
    TRANSPORT(400);

    private final int status;

    ErrorKind(int status) {
        this.status = status;
    }

    /** The status of HTTP that says the same, unless a dialect has another. */
    public int status() {
        return status;
    }
}
