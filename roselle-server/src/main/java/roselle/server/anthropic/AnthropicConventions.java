package roselle.server.anthropic;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Stream;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Credentials;
import roselle.server.http.ErrorAnswer;
import roselle.server.http.Exchange;
import roselle.server.http.JsonWriter;
import roselle.server.http.Quota;
import roselle.server.http.SseFormat;
import roselle.server.http.StreamFormat;

/** How Anthropic's API speaks: its error object with the request's id, keys in {@code x-api-key} or as bearer tokens. */
record AnthropicConventions() implements Conventions {
    static final AnthropicConventions INSTANCE = new AnthropicConventions();

    private static final SseFormat STREAM = new SseFormat("error", "");
    private static final Credentials KEY = new Credentials("x-api-key", "", List.of(Credentials.BEARER));
    private static final String HEADER = "anthropic-ratelimit-";

    /** The status that says to try again elsewhere or later. */
    private static final int OVERLOADED = 529;

    private static final List<String> QUOTA_HEADERS = Stream.of("requests", "tokens")
            .flatMap(unit -> Stream.of("-limit", "-remaining", "-reset").map(what -> HEADER + unit + what))
            .toList();

    /** The field by which clients have a server keep a conversation between turns. */
    static final String THREAD = "thread";

    /** An error's {@code type} and its status. */
    private record Words(String type, int status) {}

    @Override
    public ErrorAnswer error(ApiException error, String requestId) {
        Words words = words(error);
        var body = new JsonWriter().object().field("type", "error").object("error");
        body.field("type", words.type()).field("message", error.getMessage());
        if (error.field().equals(THREAD)) {
            tellThatNoneIsKept(body);
        }
        body.endObject();
        body.fieldOrNull("request_id", requestId).endObject();
        return new ErrorAnswer(words.status(), words.type(), "", body);
    }

    /** What official clients look for to send the whole conversation instead: their tool runners begin with a thread. */
    private static void tellThatNoneIsKept(JsonWriter body) {
        body.object("details").field("error_code", "thread_unsupported_request");
        body.array("unsupported").value(THREAD).endArray().endObject();
    }

    private static Words words(ApiException error) {
        return switch (error.kind()) {
            case INVALID,
                    MISSING_FIELD,
                    UNKNOWN_FIELD,
                    WRONG_TYPE,
                    OUT_OF_RANGE,
                    CONTEXT_LENGTH,
                    METHOD_NOT_ALLOWED,
                    NOT_SUPPORTED,
                    CONTENT_TYPE,
                    HTTP_VERSION -> new Words("invalid_request_error", error.status());
            case UNKNOWN_KEY -> new Words("authentication_error", error.status());
            case HOST_NOT_ALLOWED, ORIGIN_NOT_ALLOWED, OPERATOR_ONLY -> new Words("permission_error", error.status());
            case NOT_FOUND, MODEL_NOT_FOUND, ANSWER_NOT_FOUND -> new Words("not_found_error", error.status());
            case BODY_TOO_LARGE -> new Words("request_too_large", error.status());
            case REQUEST_LIMIT, TOKEN_LIMIT -> new Words("rate_limit_error", error.status());
            case DEADLINE -> new Words("timeout_error", 504);
            case OVERLOADED -> new Words("overloaded_error", OVERLOADED);
            case DEFECT, ENDING, ENGINE_UNAVAILABLE, NOT_READY -> new Words("api_error", error.status());
            case TRANSPORT -> new Words(error.status() < 500 ? "invalid_request_error" : "api_error", error.status());
        };
    }

    @Override
    public Credentials credentials() {
        return KEY;
    }

    @Override
    public StreamFormat streamFormat() {
        return STREAM;
    }

    @Override
    public String requestIdHeader() {
        return "request-id";
    }

    @Override
    public void tell(Exchange exchange, Quota quota) {
        String about = HEADER + quota.unit();
        exchange.header(about + "-limit", Long.toString(quota.perMinute()));
        exchange.header(about + "-remaining", Long.toString(quota.left()));
        Instant full = Instant.now().plus(quota.untilFull()).truncatedTo(ChronoUnit.SECONDS);
        exchange.header(about + "-reset", full.toString());
    }

    @Override
    public List<String> quotaHeaders() {
        return QUOTA_HEADERS;
    }
}
