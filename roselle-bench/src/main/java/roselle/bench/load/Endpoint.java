package roselle.bench.load;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import roselle.api.InvalidRequestException;

/**
 * Where requests go: plain HTTP, as benchmarks do without the cost of encryption.
 *
 * @param uri of the path that answers, such as {@code http://127.0.0.1:8000/v1/completions}
 * @param headers beside those of the protocol, such as {@code Authorization}
 */
public record Endpoint(URI uri, Map<String, String> headers) {
    public Endpoint {
        headers = Map.copyOf(headers);
        if (!"http".equals(uri.getScheme()) || uri.getHost() == null) {
            throw new InvalidRequestException("the endpoint is " + uri
                    + ": it must be http://host:port; put a proxy or a tunnel in front of one that speaks https");
        }
        headers.forEach((name, value) -> {
            if ((name + value).chars().anyMatch(character -> character < ' ')) {
                throw new InvalidRequestException("the header " + name.strip() + " has a control character");
            }
        });
    }

    /** The first address of the host, looked up anew at each call. */
    InetSocketAddress address() throws UnknownHostException {
        InetAddress first = InetAddress.getAllByName(uri.getHost())[0];
        return new InetSocketAddress(first, uri.getPort() < 0 ? 80 : uri.getPort());
    }

    /** A whole request with this body. */
    byte[] request(byte[] body) {
        var head = new StringBuilder()
                .append("POST ")
                .append(uri.getRawPath())
                .append(" HTTP/1.1\r\nHost: ")
                .append(uri.getRawAuthority())
                .append("\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: ")
                .append(body.length)
                .append("\r\n");
        headers.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        byte[] start = head.append("\r\n").toString().getBytes(StandardCharsets.UTF_8);
        byte[] whole = new byte[start.length + body.length];
        System.arraycopy(start, 0, whole, 0, start.length);
        System.arraycopy(body, 0, whole, start.length, body.length);
        return whole;
    }
}
