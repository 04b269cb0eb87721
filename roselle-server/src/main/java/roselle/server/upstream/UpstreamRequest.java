package roselle.server.upstream;

import java.util.List;
import java.util.Map;

/**
 * A request as another server is to have it.
 *
 * @param target the path and the query, as they came
 * @param headers but for {@code Host} and those that say how long the body is
 * @param body all of it, so that it can be sent again; whoever has it leaves it as it is
 */
@SuppressWarnings("ArrayRecordComponent") // large, and nobody compares requests
public record UpstreamRequest(String method, String target, List<Map.Entry<String, String>> headers, byte[] body) {
    public UpstreamRequest {
        headers = List.copyOf(headers);
    }

    /** One without headers and body. */
    public static UpstreamRequest get(String target, List<Map.Entry<String, String>> headers) {
        return new UpstreamRequest("GET", target, headers, new byte[0]);
    }
}
