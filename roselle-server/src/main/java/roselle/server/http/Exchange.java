package roselle.server.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import roselle.server.transport.Link;

/** One request and its answer, as dialects see them. Used by the request's own thread, but for {@link #whenGone}. */
public final class Exchange {
    static final String JSON = "application/json";
    private static final String IDENTITY = "identity";
    private static final int PART = 64 << 10;

    private final Link call;
    private final RequestBody body;
    private final Route route;
    private final String id = RequestIds.next("req_");
    private final String path;
    private final Map<String, Object> notes = new HashMap<>();
    private final Set<String> knownQueries = new HashSet<>();
    private @Nullable EventStream events;
    private @Nullable ByteStream bytes;
    private Consumer<JsonFields> readers = _ -> {};
    private int status;

    Exchange(Link call, RequestBody body, Route route) {
        this.call = call;
        this.body = body;
        this.route = route;
        path = call.head().path();
        header(Conventions.REQUEST_ID, id);
        header(conventions().requestIdHeader(), id);
    }

    // ---- the request ----

    /** The id of this request, which the answer carries as {@code x-request-id}. */
    public String id() {
        return id;
    }

    public String method() {
        return call.head().method();
    }

    /** The path as it came, not decoded, without the query. */
    public String path() {
        return path;
    }

    /** What follows the folder that the route was added for, up to the route's tail, percent-decoded. */
    public String rest() {
        return URLDecoder.decode(
                path.substring(route.rest(), path.length() - route.tail()).replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    /** How the dialect of this path speaks; the server's own way where nothing is at the path. */
    public Conventions conventions() {
        return route.conventions();
    }

    Route route() {
        return route;
    }

    /**
     * A parameter of the query, decoded.
     *
     * @throws ApiException 400 if it is there twice
     */
    public Optional<String> query(String name) {
        List<String> values = queries(name);
        if (values.size() > 1) {
            throw ApiException.invalid(
                    name, name + " is in the query " + values.size() + " times: one of them would have no effect");
        }
        return values.stream().findFirst();
    }

    /** All values of a parameter of the query, decoded. */
    public List<String> queries(String name) {
        knownQueries.add(name);
        return parameters()
                .filter(field -> decoded(field[0]).equals(name))
                .map(field -> field.length > 1 ? decoded(field[1]) : "")
                .toList();
    }

    private Stream<String[]> parameters() {
        return Stream.of(call.head().query().split("&"))
                .filter(field -> !field.isEmpty())
                .map(field -> field.split("=", 2));
    }

    /** Parameters of the query that are right to send and change nothing. */
    public void acceptQueries(String... names) {
        knownQueries.addAll(List.of(names));
    }

    /** Takes any parameters: whoever asks on this path is to be answered. */
    public void acceptAnyQuery() {
        parameters().forEach(field -> knownQueries.add(decoded(field[0])));
    }

    /**
     * Refuses parameters of the query that nobody has asked for. A document that is asked for with {@code GET} is not sent without
     * this.
     */
    public void refuseOtherQueries() {
        parameters()
                .map(field -> decoded(field[0]))
                .filter(name -> !knownQueries.contains(name))
                .findFirst()
                .ifPresent(name -> {
                    String shown = name.length() <= 64 ? name : name.substring(0, 64) + "…";
                    throw new ApiException(
                            ErrorKind.UNKNOWN_FIELD,
                            shown,
                            "unknown parameter " + shown + " of the query: it would have no effect, so leave it out");
                });
    }

    /** The transport lets no percent sign through that encodes nothing. */
    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    /** The first value of a header of the request. */
    public Optional<String> requestHeader(String name) {
        return call.head().header(name);
    }

    /** Every header of the request with each of its values. */
    public List<Map.Entry<String, String>> requestHeaders() {
        return call.head().headers();
    }

    /** The path and the query, as they came. */
    public String target() {
        String query = call.head().query();
        return query.isEmpty() ? path : path + '?' + query;
    }

    /** The request's authority: the header {@code Host}, or HTTP/2's {@code :authority}. */
    public String authority() {
        return call.head().authority();
    }

    public SocketAddress peer() {
        return call.peer();
    }

    public boolean isSecure() {
        return call.isSecure();
    }

    /** Something that an interceptor found out, such as whose key came with the request, for those that follow. */
    public void note(String name, Object value) {
        notes.put(name, value);
    }

    /** Charges the memory for the body to someone by name, not to the address that it came from. */
    public void chargeBodyTo(String owner) {
        body.chargeTo(owner);
    }

    public Optional<Object> note(String name) {
        return Optional.ofNullable(notes.get(name));
    }

    /** The body, which is a JSON object. */
    public JsonFields json() throws IOException {
        requireReadable();
        JsonFields fields = body.fields();
        readers.accept(fields);
        return fields;
    }

    /** The same, or nothing where there is no body. */
    public Optional<JsonFields> jsonIfAny() throws IOException {
        requireReadable();
        Optional<JsonFields> fields = body.fieldsIfAny();
        fields.ifPresent(readers);
        return fields;
    }

    /** The body, of which so many bytes are a JSON object and the others follow it. */
    public JsonAndBytes jsonAndBytes(int jsonBytes) throws IOException {
        requireReadable();
        JsonAndBytes both = body.fieldsAndBytes(jsonBytes);
        readers.accept(both.fields());
        return both;
    }

    private void requireReadable() {
        String type = requestHeader("content-type").orElse(JSON);
        String plain = type.split(";", 2)[0].strip();
        if (!plain.equalsIgnoreCase(JSON) && !conventions().readsAnyContentType()) {
            throw new ApiException(ErrorKind.CONTENT_TYPE, "the content type is " + plain + ": it must be " + JSON);
        }
        String coding = requestHeader("content-encoding").orElse(IDENTITY);
        if (!coding.equalsIgnoreCase(IDENTITY)) {
            throw new ApiException(
                    ErrorKind.CONTENT_TYPE, "the content encoding is " + coding + ": send the body as it is");
        }
    }

    /** Hands the fields of the body to {@code action} before their reader reads them. */
    public void whenRead(Consumer<JsonFields> action) {
        readers = action;
    }

    /** The body in pieces, as it comes; the limit, and where the bytes go, are the reader's. */
    public InputStream bodyStream(long limit) {
        return body.stream(limit);
    }

    /** The body, within the limit. */
    public byte[] body() throws IOException {
        return body.read();
    }

    // ---- the answer ----

    /** Sets a header of the answer; before anything is sent. */
    public void header(String name, String value) {
        call.header(name, value);
    }

    public void sendJson(int code, JsonWriter document) {
        if (code == 200 && (method().equals("GET") || method().equals("HEAD"))) {
            refuseOtherQueries();
        }
        send(code, JSON, document.toBytes());
    }

    /**
     * Sends a whole answer, and waits until the peer has taken it.
     *
     * @throws UncheckedIOException if the peer has gone
     */
    public void send(int code, String contentType, byte[] content) {
        header("content-type", contentType);
        send(code, content);
    }

    /** Sends a whole answer, whose content type is among the headers that were set, and waits until the peer has taken it. */
    public void sendWhole(int code, byte[] content) {
        send(code, content);
    }

    /** Sends a whole file as the answer, a part at a time. */
    public void sendFile(Path file, String contentType) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            header("content-type", contentType);
            if (method().equals("HEAD")) {
                sendEmpty(200);
                return;
            }
            status = 200;
            call.begin(status);
            var part = new byte[PART];
            for (int length = in.read(part); length > 0; length = in.read(part)) {
                call.write(part, length);
            }
            call.end();
        }
    }

    public void sendEmpty(int code) {
        send(code, new byte[0]);
    }

    private void send(int code, byte[] content) {
        status = code;
        try {
            call.answer(code, content);
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }

    /** Sends an error in the words of the dialect. */
    private void sendError(ApiException error) {
        Duration wait = error.retryAfter();
        if (!wait.isZero()) {
            header("retry-after", Long.toString(Math.max(1, wait.toSeconds())));
        }
        ErrorAnswer answer = conventions().error(error, id);
        sendJson(answer.status(), answer.body());
    }

    /** Begins an answer that another server makes, whose headers were set: {@link #relay(byte[])} and {@link #endRelay} follow. */
    public void beginRelay(int code) throws IOException {
        status = code;
        call.begin(code);
    }

    /** Sends the next piece of it at once; waits while the peer takes nothing. */
    public void relay(byte[] piece) throws IOException {
        call.write(piece, piece.length);
    }

    /** Ends it, and waits until all of it has been taken. */
    public void endRelay() throws IOException {
        call.end();
    }

    /** A stream as the answer, in the format of the dialect; nothing leaves before its first event. */
    public EventStream stream() {
        if (events == null) {
            events = new EventStream(this::beginStream, conventions().streamFormat(), call);
        }
        return events;
    }

    /** The body and the answer as bytes, of APIs that have messages in the place of documents. */
    public ByteStream bytes() {
        if (bytes == null) {
            bytes = new ByteStream(this::beginStream, body, call);
        }
        return bytes;
    }

    private void beginStream() throws IOException {
        status = 200;
        header("content-type", conventions().streamFormat().contentType());
        header("cache-control", "no-cache");
        header("x-accel-buffering", "no");
        call.begin(status);
    }

    /** The status that was sent, 0 before that. */
    public int status() {
        return status;
    }

    /** Tells of a failure as well as can be: with a status, or, after events have left, with a last event. */
    void fail(ApiException error) throws IOException {
        Map<String, String> trailers = conventions().trailers(error);
        if (!trailers.isEmpty() && !method().equals("HEAD")) { // whose answer ends with its head
            bytes().end(trailers);
        } else if (events != null && events.hasBegun()) {
            events.fail(conventions().error(error, id));
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
        call.whenGone(action);
    }

    /** Forgets an action of {@link #whenGone}, where it has become pointless before the request is over. */
    public void unwatch(Runnable action) {
        call.unwatch(action);
    }
}
