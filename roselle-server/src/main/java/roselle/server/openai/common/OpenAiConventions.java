package roselle.server.openai.common;

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

/** How OpenAI's API speaks: its error object, keys as bearer tokens, its headers of limits. */
public record OpenAiConventions(StreamFormat streamFormat) implements Conventions {
    /** Streams that end with a mark: those of chat completions and of completions. */
    public static final OpenAiConventions COMPLETIONS = new OpenAiConventions(new SseFormat("", "[DONE]"));

    /** Streams whose last event says that it is the last. */
    public static final OpenAiConventions RESPONSES = new OpenAiConventions(new SseFormat("", ""));

    private static final String INVALID_REQUEST = "invalid_request_error";
    private static final String SERVER_ERROR = "server_error";
    private static final String RATE_LIMIT = "rate_limit_exceeded";
    private static final String HEADER = "x-ratelimit-";

    private static final List<String> QUOTA_HEADERS = Stream.of("requests", "tokens")
            .flatMap(unit -> Stream.of("limit-", "remaining-", "reset-").map(what -> HEADER + what + unit))
            .toList();

    /** An error's {@code type} and {@code code}. */
    private record Words(String type, String code) {}

    @Override
    public ErrorAnswer error(ApiException error, String requestId) {
        Words words = words(error);
        var body = new JsonWriter().object().object("error");
        body.field("message", error.getMessage())
                .field("type", words.type())
                .fieldOrNull("param", error.field())
                .fieldOrNull("code", words.code());
        body.endObject().endObject();
        return new ErrorAnswer(error.status(), words.type(), words.code(), body);
    }

    private static Words words(ApiException error) {
        return switch (error.kind()) {
            case INVALID -> refused("");
            case MISSING_FIELD -> refused("missing_required_parameter");
            case UNKNOWN_FIELD -> refused("unknown_parameter");
            case WRONG_TYPE -> refused("invalid_type");
            case OUT_OF_RANGE -> refused("invalid_value");
            case CONTEXT_LENGTH -> refused("context_length_exceeded");
            case UNKNOWN_KEY -> refused("invalid_api_key");
            case HOST_NOT_ALLOWED -> refused("host_not_allowed");
            case ORIGIN_NOT_ALLOWED -> refused("origin_not_allowed");
            case OPERATOR_ONLY -> refused("operator_only");
            case NOT_FOUND -> refused("not_found");
            case MODEL_NOT_FOUND -> refused("model_not_found");
            case ANSWER_NOT_FOUND -> refused("response_not_found");
            case METHOD_NOT_ALLOWED -> refused("method_not_allowed");
            case BODY_TOO_LARGE -> refused("request_too_large");
            case CONTENT_TYPE -> refused("unsupported_media_type");
            case HTTP_VERSION -> refused("http_version_not_supported");
            case REQUEST_LIMIT -> new Words("requests", RATE_LIMIT);
            case TOKEN_LIMIT -> new Words("tokens", RATE_LIMIT);
            case NOT_SUPPORTED -> refused("not_supported");
            case DEADLINE -> failed("deadline_exceeded");
            case DEFECT -> failed("internal_error");
            case OVERLOADED -> failed("overloaded");
            case ENDING -> failed("ending");
            case ENGINE_UNAVAILABLE -> failed("engine_unavailable");
            case NOT_READY -> failed("not_ready");
            case TRANSPORT -> error.status() < 500 ? refused("") : failed("");
        };
    }

    private static Words refused(String code) {
        return new Words(INVALID_REQUEST, code);
    }

    private static Words failed(String code) {
        return new Words(SERVER_ERROR, code);
    }

    @Override
    public Credentials credentials() {
        return Credentials.BEARER;
    }

    @Override
    public void tell(Exchange exchange, Quota quota) {
        exchange.header(HEADER + "limit-" + quota.unit(), Long.toString(quota.perMinute()));
        exchange.header(HEADER + "remaining-" + quota.unit(), Long.toString(quota.left()));
        exchange.header(HEADER + "reset-" + quota.unit(), quota.untilFull().toMillis() + "ms");
    }

    @Override
    public List<String> quotaHeaders() {
        return QUOTA_HEADERS;
    }
}
