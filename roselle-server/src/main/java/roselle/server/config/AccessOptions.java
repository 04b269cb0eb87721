package roselle.server.config;

import java.util.List;
import roselle.api.InvalidRequestException;

/**
 * Who may ask.
 *
 * @param keys one of which every request has to bring; none lets everyone in
 * @param allowsAnyone whether a server without keys may listen where other machines reach it
 * @param opensMetrics whether {@code /metrics} is answered without a key
 * @param hosts names by which clients may call the server, beside those that are its own
 * @param origins of pages of other servers whose scripts may ask, such as {@code https://chat.example}; {@code *} for all
 * @param gateway what is believed of a gateway in front
 */
public record AccessOptions(
        List<ApiKey> keys,
        boolean allowsAnyone,
        boolean opensMetrics,
        List<String> hosts,
        List<String> origins,
        GatewayTrust gateway) {
    /** In the place of an origin: all of them. */
    public static final String ANY = "*";

    public static final AccessOptions DEFAULT =
            new AccessOptions(List.of(), false, false, List.of(), List.of(), GatewayTrust.NONE);

    public AccessOptions {
        keys = List.copyOf(keys);
        hosts = List.copyOf(hosts);
        origins = List.copyOf(origins);
        hosts.forEach(AccessOptions::requireName);
        origins.forEach(AccessOptions::requireOrigin);
    }

    /** Where no gateway is in front, or none is believed. */
    public AccessOptions(
            List<ApiKey> keys, boolean allowsAnyone, boolean opensMetrics, List<String> hosts, List<String> origins) {
        this(keys, allowsAnyone, opensMetrics, hosts, origins, GatewayTrust.NONE);
    }

    private static void requireName(String host) {
        if (host.isBlank() || !host.chars().allMatch(letter -> letter < 128 && isOfAName((char) letter))) {
            throw new InvalidRequestException("the allowed host '" + host
                    + "' is not one: write a name or an address alone, without scheme, port or path");
        }
    }

    private static boolean isOfAName(char letter) {
        return Character.isLetterOrDigit(letter) || letter == '.' || letter == '-' || letter == '_';
    }

    private static void requireOrigin(String origin) {
        int scheme = origin.indexOf("://");
        boolean isOrigin = scheme > 0 && scheme + 3 < origin.length() && origin.indexOf('/', scheme + 3) < 0;
        if (!isOrigin && !origin.equals(ANY)) {
            throw new InvalidRequestException("the allowed origin '" + origin
                    + "' is not one: write SCHEME://HOST or SCHEME://HOST:PORT without a path, or * for all");
        }
    }

    public AccessOptions withHosts(List<String> value) {
        return new AccessOptions(keys, allowsAnyone, opensMetrics, value, origins, gateway);
    }

    public AccessOptions withOrigins(List<String> value) {
        return new AccessOptions(keys, allowsAnyone, opensMetrics, hosts, value, gateway);
    }

    public AccessOptions withKeys(List<ApiKey> value) {
        return new AccessOptions(value, allowsAnyone, opensMetrics, hosts, origins, gateway);
    }

    public AccessOptions withGateway(GatewayTrust value) {
        return new AccessOptions(keys, allowsAnyone, opensMetrics, hosts, origins, value);
    }
}
