package roselle.server.config;

import java.util.List;

/**
 * Who may ask.
 *
 * @param keys one of which every request has to bring; none lets everyone in
 * @param allowsAnyone whether a server without keys may listen where other machines reach it
 * @param opensMetrics whether {@code /metrics} is answered without a key
 * @param hosts names by which clients may call the server, beside those that {@code HostCheck} lists
 * @param origins of the pages of other servers whose scripts may ask; {@code *} for all
 */
public record AccessOptions(
        List<ApiKey> keys, boolean allowsAnyone, boolean opensMetrics, List<String> hosts, List<String> origins) {
    public static final AccessOptions DEFAULT = new AccessOptions(List.of(), false, false, List.of(), List.of());

    public AccessOptions {
        keys = List.copyOf(keys);
        hosts = List.copyOf(hosts);
        origins = List.copyOf(origins);
    }

    public AccessOptions with(List<ApiKey> value) {
        return new AccessOptions(value, allowsAnyone, opensMetrics, hosts, origins);
    }
}
