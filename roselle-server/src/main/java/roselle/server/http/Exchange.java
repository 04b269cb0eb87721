package roselle.server.http;

import io.helidon.common.uri.UriPath;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.SocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One request and its answer, as dialects see them. Used by the request's own thread, but for {@link #whenGone}. */
public final class Exchange {
    private static final String JSON = "application/json";
    private static final int PIECE = 64 << 10;

    private final ServerRequest request;
    private final ServerResponse response;
    private final Presence presence;
    private final long bodyBytes;
    private final BodyRoom.Share room;
    private final String id = RequestIds.next("req_");
    private final String path;
    private final Map<String, Object> notes = new HashMap<>();
    private int restBegin;
    private @Nullable SseWriter events;
    private Consumer<JsonFields> readers = _ -> {};
    private int status;

    Exchange(ServerRequest request, ServerResponse response, Presence presence, long bodyBytes, BodyRoom.Share room) {
        this.room = room;
        this.request = request;
        this.response = response;
        this.presence = presence;
        this.bodyBytes = bodyBytes;
        UriPath uri = request.prologue().uriPath();
        path = uri.rawPath();
        header("x-request-id", id);
    }

    // ---- the request ----

    /** The id of this request, which the answer carries as {@code x-request-id}. */
    public String id() {
        return id;
    }

    public String method() {
        return request.prologue().method().text();
    }

    /** The path as it came, not decoded, without the query. */
    public String path() {
        return path;
    }

    /** What follows the folder that the route was added for, percent-decoded. */
    public String rest() {
        try {
            return URLDecoder.decode(path.substring(restBegin).replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException _) {
            throw ApiException.notFound("the path has a percent sign that encodes nothing");
        }
    }

    void restFrom(int begin) {
        restBegin = begin;
    }

    /** A parameter of the query, decoded. */
    public Optional<String> query(String name) {
        return request.query().first(name).asOptional();
    }

    /** The first value of a header of the request. */
    public Optional<String> requestHeader(String name) {
        return request.headers().first(HeaderNames.create(name));
    }

    /** The request's authority: the header {@code Host}, or HTTP/2's {@code :authority}. */
    public String authority() {
        return String.valueOf(request.authority());
    }

    public SocketAddress peer() {
        return request.remotePeer().address();
    }

    public boolean isSecure() {
        return request.isSecure();
    }

    /** Something that an interceptor found out, such as whose key came with the request, for those that follow. */
    public void note(String name, Object value) {
        notes.put(name, value);
    }

    public Optional<Object> note(String name) {
        return Optional.ofNullable(notes.get(name));
    }

    /** The body, which is a JSON object. */
    public JsonFields json() throws IOException {
        String type = requestHeader("content-type").orElse(JSON);
        String plain = type.split(";", 2)[0].strip();
        if (!plain.equalsIgnoreCase(JSON)) {
            throw new ApiException(
                    415,
                    ApiException.INVALID_REQUEST,
                    "unsupported_media_type",
                    "",
                    "the content type is " + plain + ": it must be " + JSON);
        }
        byte[] body = body();
        room.take(JsonWeight.of(body));
        JsonFields fields = Json.object(body);
        readers.accept(fields);
        return fields;
    }

    /** Hands the fields of the body to {@code action} before their reader reads them. */
    public void whenRead(Consumer<JsonFields> action) {
        readers = action;
    }

    /** The body, within the limit. */
    public byte[] body() throws IOException {
        if (!request.content().hasEntity()) {
            return new byte[0];
        }
        long announced = request.headers().contentLength().orElse(0);
        if (announced > bodyBytes) {
            throw tooLarge();
        }
        presence.awaitsBody();
        byte[] body = announced > 0 ? announced(announced) : unannounced();
        presence.goesOn();
        return body;
    }

    private byte[] announced(long length) throws IOException {
        room.take(length);
        return request.content().inputStream().readNBytes((int) length);
    }

    private byte[] unannounced() throws IOException {
        var body = new ByteArrayOutputStream();
        var stream = request.content().inputStream();
        for (byte[] piece = stream.readNBytes(PIECE); piece.length > 0; piece = stream.readNBytes(PIECE)) {
            if (body.size() + piece.length > bodyBytes) {
                throw tooLarge();
            }
            room.take(piece.length);
            body.writeBytes(piece);
        }
        return body.toByteArray();
    }

    private ApiException tooLarge() {
        return new ApiException(
                413,
                ApiException.INVALID_REQUEST,
                "request_too_large",
                "",
                "the body has more than " + bodyBytes + " bytes, the most that a request may: shorten it");
    }

    // ---- the answer ----

    /** Sets a header of the answer; before anything is sent. */
    public void header(String name, String value) {
        HeaderName header = HeaderNames.create(name);
        response.header(header, value);
    }

    public void sendJson(int code, JsonText body) {
        send(code, JSON, body.toBytes());
    }

    public void send(int code, String contentType, byte[] body) {
        status = code;
        response.status(Status.create(code));
        header("content-type", contentType);
        presence.awaitsTaker();
        if (method().equals("HEAD")) {
            header("content-length", Integer.toString(body.length));
            response.send();
        } else {
            response.send(body);
        }
        presence.goesOn();
    }

    public void sendEmpty(int code) {
        status = code;
        response.status(Status.create(code)).send();
    }

    /** Sends an error, in OpenAI's shape. */
    public void sendError(ApiException error) {
        Duration wait = error.retryAfter();
        if (!wait.isZero()) {
            header("retry-after", Long.toString(Math.max(1, wait.toSeconds())));
        }
        sendJson(error.status(), Errors.body(error));
    }

    /** A stream of events as the answer; nothing leaves before its first event. */
    public SseWriter stream() {
        if (events == null) {
            events = new SseWriter(this::beginStream, presence);
        }
        return events;
    }

    private OutputStream beginStream() {
        status = 200;
        response.status(Status.OK_200);
        header("content-type", "text/event-stream; charset=utf-8");
        header("cache-control", "no-cache");
        header("x-accel-buffering", "no");
        return response.outputStream();
    }

    /** The status that was sent, 0 before that. */
    public int status() {
        return status;
    }

    /** Tells of a failure as well as can be: with a status, or, after events have left, with a last event. */
    void fail(ApiException error) throws IOException {
        if (events != null && events.hasBegun()) {
            events.fail(error);
        } else {
            sendError(error);
        }
    }

    /** Ends the answer. */
    void finish() throws IOException {
        if (events != null) {
            events.close();
        }
    }

    /**
     * Calls {@code action} once, on any thread, as soon as the peer has gone; also when it has gone already. The watch ends with
     * the request.
     */
    public void whenGone(Runnable action) {
        presence.whenGone(action);
    }
}
