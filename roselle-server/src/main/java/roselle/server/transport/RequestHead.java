package roselle.server.transport;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The line and the headers of a request that is HTTP as it may be sent. */
public final class RequestHead {
    /** What a header counts beside its bytes (RFC 9113, section 6.5.2): as objects it takes as much. */
    private static final int HEADER_OVERHEAD = 32;

    private static final int MAX_LENGTH_DIGITS = 18;
    private static final BitSet TOKEN = new BitSet(128);

    static {
        "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                .chars()
                .forEach(TOKEN::set);
    }

    private final String method;
    private final RequestTarget target;
    private final String authority;
    private final HttpHeaders headers;

    private RequestHead(String method, RequestTarget target, String authority, HttpHeaders headers) {
        this.method = method;
        this.target = target;
        this.authority = authority;
        this.headers = headers;
    }

    /**
     * Reads what came in HTTP/1.1.
     *
     * @throws RefusedException if it is not HTTP, or more than it may be
     */
    static RequestHead ofHttp1(HttpRequest request, int maxBytes) {
        requireDecoded(request);
        if (!request.protocolVersion().equals(HttpVersion.HTTP_1_1)) {
            throw new RefusedException(505, "the version of HTTP is not 1.1");
        }
        requireFraming(request.headers());
        if (request.headers().getAll(HttpHeaderNames.HOST).size() != 1) {
            throw new RefusedException(400, "there must be one Host");
        }
        return of(request, maxBytes);
    }

    /** Reads what came on a stream of HTTP/2, whose authority is in {@code Host} by now. */
    static RequestHead ofHttp2(HttpRequest request, int maxBytes) {
        requireDecoded(request);
        List<String> hosts = request.headers().getAll(HttpHeaderNames.HOST);
        if (hosts.stream().distinct().count() != 1) {
            throw new RefusedException(400, "there must be one authority");
        }
        return of(request, maxBytes);
    }

    /** The head of a request that comes from within the process; {@code announced} bytes are its body. */
    public static RequestHead within(String method, String path, long announced) {
        var headers = new DefaultHttpHeaders();
        headers.set(HttpHeaderNames.CONTENT_LENGTH, Long.toString(announced));
        return new RequestHead(method, RequestTarget.of(path), "", headers);
    }

    private static RequestHead of(HttpRequest request, int maxBytes) {
        requireSize(request.headers(), maxBytes);
        String method = request.method().name();
        if (method.isEmpty() || !method.chars().allMatch(TOKEN::get)) {
            throw new RefusedException(400, "the method is not a word");
        }
        RequestTarget target = RequestTarget.of(request.uri());
        String host = RequestTarget.authority(request.headers().get(HttpHeaderNames.HOST));
        return new RequestHead(
                method, target, target.authority().isEmpty() ? host : target.authority(), request.headers());
    }

    private static void requireDecoded(HttpRequest request) {
        if (request.decoderResult().isFailure()) {
            throw refusal(request.decoderResult().cause());
        }
    }

    /** The same of bytes of a body, whose lines are of chunks and whose headers are trailers. */
    static RefusedException refusalOfBody(Throwable cause) {
        return cause instanceof TooLongHttpLineException
                ? new RefusedException(400, "a chunk's first line is too long")
                : refusal(cause);
    }

    /** What is said of bytes that could not be decoded. */
    static RefusedException refusal(Throwable cause) {
        return switch (cause) {
            case RefusedException known -> known;
            case TooLongHttpHeaderException _ -> new RefusedException(431, "the headers are too long");
            case TooLongHttpLineException _ -> new RefusedException(414, "the first line is too long");
            default -> new RefusedException(400, "this is not HTTP");
        };
    }

    /** One way to tell where the body ends, and one that everybody on the way understands alike. */
    private static void requireFraming(HttpHeaders headers) {
        List<String> codings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
        List<String> lengths = headers.getAll(HttpHeaderNames.CONTENT_LENGTH);
        if ((!codings.isEmpty() && !lengths.isEmpty()) || lengths.size() > 1) {
            throw new RefusedException(400, "the length of the body is told twice");
        }
        if (!codings.isEmpty() && !(codings.size() == 1 && isChunked(codings.getFirst()))) {
            throw new RefusedException(501, "the body may be chunked, and nothing else");
        }
        if (!lengths.isEmpty() && !isLength(lengths.getFirst())) {
            throw new RefusedException(400, "the length of the body is no number");
        }
    }

    private static boolean isChunked(String coding) {
        return HttpHeaderValues.CHUNKED.contentEqualsIgnoreCase(coding);
    }

    private static boolean isLength(String text) {
        return !text.isEmpty()
                && text.length() <= MAX_LENGTH_DIGITS
                && text.chars().allMatch(digit -> digit >= '0' && digit <= '9');
    }

    private static void requireSize(HttpHeaders headers, int maxBytes) {
        long bytes = 0;
        for (Map.Entry<String, String> header : headers) {
            bytes += header.getKey().length() + header.getValue().length() + HEADER_OVERHEAD;
        }
        if (bytes > maxBytes) {
            throw new RefusedException(431, "the headers are too long");
        }
    }

    public String method() {
        return method;
    }

    /** The path as it came, not decoded, without the query. */
    public String path() {
        return target.path();
    }

    /** What follows the question mark, as it came. */
    public String query() {
        return target.query();
    }

    /** The host that is asked, with its port if one was given. */
    public String authority() {
        return authority;
    }

    /** The first value of a header. */
    public Optional<String> header(String name) {
        return Optional.ofNullable(headers.get(name));
    }

    /** Every header with each of its values. */
    public List<Map.Entry<String, String>> headers() {
        return headers.entries();
    }

    /** How many bytes of a body were announced; -1 where none were. */
    public long announced() {
        String length = headers.get(HttpHeaderNames.CONTENT_LENGTH);
        return length == null || !isLength(length) ? -1 : Long.parseLong(length);
    }

    /** Whether the peer sends nothing more on this connection. */
    boolean isLast() {
        return headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE, true);
    }

    /** Whether the peer waits to be told that it may send the body. */
    boolean expectsContinue() {
        return headers.contains(HttpHeaderNames.EXPECT);
    }
}
