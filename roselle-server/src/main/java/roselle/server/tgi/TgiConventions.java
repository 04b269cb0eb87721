package roselle.server.tgi;

import java.util.List;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Credentials;
import roselle.server.http.ErrorAnswer;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.JsonWriter;
import roselle.server.http.Quota;
import roselle.server.http.SseFormat;
import roselle.server.http.StreamFormat;

/** How Text Generation Inference speaks: an error is a text with a type, and what cannot be honoured has the status 422. */
record TgiConventions() implements Conventions {
    static final TgiConventions INSTANCE = new TgiConventions();

    private static final SseFormat STREAM = new SseFormat("", "");

    @Override
    public ErrorAnswer error(ApiException error, String requestId) {
        String type = type(error.kind());
        var body = new JsonWriter().object().field("error", error.getMessage()).field("error_type", type);
        return new ErrorAnswer(status(error), type, "", body.endObject());
    }

    private static int status(ApiException error) {
        if (error.kind() == ErrorKind.OVERLOADED) {
            return 429;
        }
        return error.status() == 400 ? 422 : error.status();
    }

    private static String type(ErrorKind kind) {
        return switch (kind) {
            case INVALID,
                    MISSING_FIELD,
                    UNKNOWN_FIELD,
                    WRONG_TYPE,
                    OUT_OF_RANGE,
                    CONTEXT_LENGTH,
                    NOT_SUPPORTED,
                    METHOD_NOT_ALLOWED,
                    BODY_TOO_LARGE,
                    CONTENT_TYPE,
                    HTTP_VERSION,
                    TRANSPORT -> "validation";
            case UNKNOWN_KEY -> "authentication";
            case HOST_NOT_ALLOWED, ORIGIN_NOT_ALLOWED, OPERATOR_ONLY -> "permission";
            case NOT_FOUND, MODEL_NOT_FOUND, ANSWER_NOT_FOUND -> "not_found";
            case REQUEST_LIMIT, TOKEN_LIMIT -> "rate_limit";
            case OVERLOADED -> "overloaded";
            case ENDING, ENGINE_UNAVAILABLE, NOT_READY -> "healthcheck";
            case DEADLINE, DEFECT -> "generation";
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
    public void tell(Exchange exchange, Quota quota) {} // its clients read no such headers

    @Override
    public List<String> quotaHeaders() {
        return List.of();
    }
}
