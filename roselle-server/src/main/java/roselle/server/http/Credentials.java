package roselle.server.http;

import java.util.List;

/**
 * How clients present an API key.
 *
 * @param header the header that has it
 * @param scheme the word before it, or empty where the header has nothing but the key
 * @param others by which it may come where that header is not there
 */
public record Credentials(String header, String scheme, List<Credentials> others) {
    /** As RFC 6750 has it. */
    public static final Credentials BEARER = new Credentials("Authorization", "Bearer");

    public Credentials {
        others = List.copyOf(others);
    }

    public Credentials(String header, String scheme) {
        this(header, scheme, List.of());
    }

    /**
     * The key that came with a request.
     *
     * @throws ApiException if none did
     */
    public String key(Exchange exchange) {
        for (Credentials other : others) {
            if (exchange.requestHeader(header).isEmpty()
                    && exchange.requestHeader(other.header).isPresent()) {
                return other.key(exchange);
            }
        }
        String text = exchange.requestHeader(header)
                .orElseThrow(() -> refusal(exchange, "an API key is needed: send it as " + form()));
        if (scheme.isEmpty()) {
            return text.strip();
        }
        String before = scheme + " ";
        if (!text.regionMatches(true, 0, before, 0, before.length())) {
            throw refusal(exchange, "the header " + header + " has no API key: send it as " + form());
        }
        return text.substring(before.length()).strip();
    }

    private String form() {
        return header + ": " + (scheme.isEmpty() ? "" : scheme + " ") + "KEY";
    }

    /** Refuses a request, and says by which scheme of HTTP it would get in, if that has a name. */
    public ApiException refusal(Exchange exchange, String message) {
        if (!scheme.isEmpty()) {
            exchange.header("www-authenticate", scheme);
        }
        return new ApiException(ErrorKind.UNKNOWN_KEY, message);
    }
}
