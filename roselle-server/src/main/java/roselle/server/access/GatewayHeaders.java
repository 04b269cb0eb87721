package roselle.server.access;

import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;
import roselle.server.config.GatewayTrust;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;

/**
 * What a trusted gateway says of a request in headers, under the names that llm-d's endpoint picker reads and sets (the older ones
 * of the gateway API's inference extension, too).
 *
 * @param tenant whose request it is among those of its key; empty for nobody's
 * @param priority its objective's
 * @param firstToken within which time its first token is wanted; zero where nothing was said
 * @param nextToken within which time each further one is, on average; likewise
 */
public record GatewayHeaders(String tenant, Optional<Integer> priority, Duration firstToken, Duration nextToken) {
    /** What a request notes its own under. */
    public static final String NOTE = "gateway headers";

    private static final GatewayHeaders NONE = new GatewayHeaders("", Optional.empty(), Duration.ZERO, Duration.ZERO);
    private static final int LONGEST = 256;
    private static final int MOST_DIGITS = 7;
    private static final long MOST_MILLIS = Duration.ofHours(1).toMillis();

    /**
     * Those of a request; none where the gateway is not trusted.
     *
     * @throws ApiException 400 if one of them is not what it should be
     */
    static GatewayHeaders of(Exchange exchange, GatewayTrust trust) {
        if (!trust.isTrusted()) {
            return NONE;
        }
        var headers = new GatewayHeaders(
                text(exchange, "x-llm-d-inference-fairness-id", "x-gateway-inference-fairness-id")
                        .orElse(""),
                text(exchange, "x-llm-d-inference-objective", "x-gateway-inference-objective")
                        .map(name -> trust.objectives().getOrDefault(name, 0)),
                millis(exchange, "x-llm-d-slo-ttft-ms", "x-slo-ttft-ms"),
                millis(exchange, "x-llm-d-slo-tpot-ms", "x-slo-tpot-ms"));
        exchange.note(NOTE, headers);
        return headers;
    }

    private static Optional<String> text(Exchange exchange, String... names) {
        for (String name : names) {
            Optional<String> value = exchange.requestHeader(name).filter(text -> !text.isBlank());
            if (value.isPresent()) {
                if (value.orElseThrow().length() > LONGEST) {
                    throw refusal(
                            name + " has " + value.orElseThrow().length() + " characters: it may have " + LONGEST);
                }
                return value;
            }
        }
        return Optional.empty();
    }

    private static Duration millis(Exchange exchange, String... names) {
        return Stream.of(names)
                .flatMap(name -> text(exchange, name).map(text -> millis(name, text)).stream())
                .findFirst()
                .orElse(Duration.ZERO);
    }

    private static Duration millis(String name, String text) {
        boolean isNumber = text.length() <= MOST_DIGITS && text.chars().allMatch(digit -> digit >= '0' && digit <= '9');
        long value = isNumber ? Long.parseLong(text) : 0;
        if (value < 1 || value > MOST_MILLIS) {
            throw refusal(
                    name + " is " + text + ": it must be a whole number of milliseconds between 1 and " + MOST_MILLIS);
        }
        return Duration.ofMillis(value);
    }

    private static ApiException refusal(String message) {
        return new ApiException(ErrorKind.INVALID, message);
    }

    /** The share of the engine that the request takes, of those that its key's requests take. */
    String group(String own) {
        return tenant.isEmpty() ? own : own.isEmpty() ? tenant : own + '/' + tenant;
    }
}
