package roselle.server.llamacpp;

import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Credentials;
import roselle.server.http.ErrorAnswer;
import roselle.server.http.JsonWriter;
import roselle.server.http.SseFormat;
import roselle.server.http.StreamFormat;

/** How llama.cpp's server speaks: an error has its status as a code, and a stream ends with its last event. */
record LlamaCppConventions() implements Conventions {
    static final LlamaCppConventions INSTANCE = new LlamaCppConventions();

    private static final SseFormat STREAM = new SseFormat("", "");

    @Override
    public ErrorAnswer error(ApiException error, String requestId) {
        String type = type(error);
        var body = new JsonWriter().object().object("error");
        body.field("code", error.status()).field("message", error.getMessage()).field("type", type);
        return new ErrorAnswer(error.status(), type, "", body.endObject().endObject());
    }

    private static String type(ApiException error) {
        return switch (error.kind()) {
            case UNKNOWN_KEY -> "authentication_error";
            case HOST_NOT_ALLOWED, ORIGIN_NOT_ALLOWED, OPERATOR_ONLY -> "permission_error";
            case NOT_FOUND, MODEL_NOT_FOUND, ANSWER_NOT_FOUND -> "not_found_error";
            case CONTEXT_LENGTH -> "exceed_context_size_error";
            case NOT_SUPPORTED -> "not_supported_error";
            case OVERLOADED, ENDING, ENGINE_UNAVAILABLE, NOT_READY -> "unavailable_error";
            case DEFECT -> "server_error";
            case INVALID,
                    MISSING_FIELD,
                    UNKNOWN_FIELD,
                    WRONG_TYPE,
                    OUT_OF_RANGE,
                    METHOD_NOT_ALLOWED,
                    DEADLINE,
                    BODY_TOO_LARGE,
                    CONTENT_TYPE,
                    REQUEST_LIMIT,
                    TOKEN_LIMIT,
                    HTTP_VERSION,
                    TRANSPORT -> "invalid_request_error";
        };
    }

    @Override
    public Credentials credentials() {
        return Credentials.BEARER;
    }

    @Override
    public StreamFormat streamFormat() {
        return STREAM;
    }

    @Override
    public boolean readsAnyContentType() {
        return true;
    }
}
