package roselle.testing;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/** A hub on loopback that speaks as the Hugging Face hub does, and misbehaves where a test asks it to. */
public final class LoopbackHub implements AutoCloseable {
    public static final String REPOSITORY = "org/name";
    /** Files larger than this are listed as large ones, with a SHA-256. */
    private static final int SMALL = 1000;

    private final HttpServer server;
    private final Map<String, byte[]> files = new LinkedHashMap<>();
    private final List<Request> requests = Collections.synchronizedList(new ArrayList<>());
    private final AtomicLong bodyBytes = new AtomicLong();
    private volatile Optional<Fault> fault = Optional.empty();
    private volatile Optional<Fault> inquiryFault = Optional.empty();
    private volatile Optional<String> listing = Optional.empty();
    private volatile Optional<LoopbackHub> storage = Optional.empty();
    private volatile boolean promisesAnother;

    /** A request as it arrived. */
    public record Request(String method, String path, Map<String, List<String>> headers) {
        public Optional<String> header(String name) {
            return headers.entrySet().stream()
                    .filter(entry -> entry.getKey().equalsIgnoreCase(name))
                    .map(entry -> entry.getValue().getFirst())
                    .findFirst();
        }
    }

    /** Misbehaves at a request, or answers false to have it served. */
    public interface Fault {
        boolean strike(HttpExchange exchange, byte[] content) throws IOException;
    }

    public LoopbackHub() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::answer);
        server.start();
    }

    public URI uri() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    public LoopbackHub with(String path, byte[] content) {
        files.put(path, content);
        return this;
    }

    public LoopbackHub with(String path, String content) {
        return with(path, content.getBytes(StandardCharsets.UTF_8));
    }

    /** Misbehaves at requests of files' bytes. */
    public LoopbackHub misbehaving(Fault now) {
        fault = Optional.of(now);
        return this;
    }

    /** Misbehaves when it is asked what it has. */
    public LoopbackHub misbehavingWhenAsked(Fault now) {
        inquiryFault = Optional.of(now);
        return this;
    }

    public LoopbackHub behaving() {
        fault = Optional.empty();
        return this;
    }

    /** Answers this in the place of its listing. */
    public LoopbackHub listing(String json) {
        listing = Optional.of(json);
        return this;
    }

    /** Lists checksums that its bytes do not have. */
    public LoopbackHub promisingOtherBytes() {
        promisesAnother = true;
        return this;
    }

    /** Redirects large files to another host (another port counts as one). */
    public LoopbackHub storingAt(LoopbackHub other) {
        files.forEach(other::with);
        storage = Optional.of(other);
        return this;
    }

    public List<Request> requests() {
        synchronized (requests) {
            return List.copyOf(requests);
        }
    }

    /** Bytes of files sent so far. */
    public long bodyBytes() {
        return bodyBytes.get();
    }

    /** A commit that changes with the files. */
    public String commit() {
        return hash("SHA-1", String.join("\n", files.keySet()).getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
        server.stop(0);
    }

    // ---- answers ----

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            requests.add(new Request(
                    exchange.getRequestMethod(),
                    exchange.getRequestURI().toString(),
                    Map.copyOf(exchange.getRequestHeaders())));
            if (path.startsWith("/api/")
                    && inquiryFault.isPresent()
                    && inquiryFault.get().strike(exchange, new byte[0])) {
                return;
            }
            if (path.startsWith("/api/models/" + REPOSITORY + "/revision/")
                    || path.equals("/api/models/" + REPOSITORY)) {
                json(exchange, description());
            } else if (path.startsWith("/api/models/" + REPOSITORY + "/tree/")) {
                json(exchange, listing.orElseGet(this::tree));
            } else if (path.startsWith("/" + REPOSITORY + "/resolve/")) {
                file(exchange, path.split("/", 6)[5]);
            } else {
                refuse(exchange, 404, "RepoNotFound");
            }
        }
    }

    private String description() {
        return "{\"_id\":\"1\",\"id\":\"" + REPOSITORY + "\",\"modelId\":\"" + REPOSITORY
                + "\",\"private\":false,\"gated\":false,\"tags\":[],\"sha\":\"" + commit() + "\",\"siblings\":[]}";
    }

    private String tree() {
        var entries = new ArrayList<String>();
        files.forEach((path, content) -> entries.add(entry(path, content)));
        return "[" + String.join(",", entries) + "]";
    }

    private String entry(String path, byte[] content) {
        String name = "{\"type\":\"file\",\"path\":\"" + path + "\",\"size\":" + content.length + ",\"oid\":\"";
        return isLarge(content)
                ? name + gitName("pointer to " + path) + "\",\"lfs\":{\"oid\":\"" + promised(content) + "\",\"size\":"
                        + content.length + ",\"pointerSize\":134}}"
                : name + promised(content) + "\"}";
    }

    private static boolean isLarge(byte[] content) {
        return content.length > SMALL;
    }

    /** The checksum that is listed. */
    private String promised(byte[] content) {
        return promisesAnother ? checksum(new byte[isLarge(content) ? SMALL + 1 : 1]) : checksum(content);
    }

    /** What the hub calls these bytes, and the cache their blob. */
    public static String checksum(byte[] content) {
        return isLarge(content) ? hash("SHA-256", content) : gitName(content);
    }

    private static String gitName(String text) {
        return gitName(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String gitName(byte[] content) {
        byte[] header = ("blob " + content.length + "\0").getBytes(StandardCharsets.US_ASCII);
        byte[] all = new byte[header.length + content.length];
        System.arraycopy(header, 0, all, 0, header.length);
        System.arraycopy(content, 0, all, header.length, content.length);
        return hash("SHA-1", all);
    }

    private static String hash(String algorithm, byte[] content) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(content));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private void file(HttpExchange exchange, String path) throws IOException {
        byte[] content = files.get(path);
        if (content == null) {
            refuse(exchange, 404, "EntryNotFound");
            return;
        }
        Headers headers = exchange.getResponseHeaders();
        headers.set("X-Repo-Commit", commit());
        headers.set("ETag", "\"" + promised(content) + "\"");
        if (isLarge(content)) {
            headers.set("X-Linked-Etag", "\"" + promised(content) + "\"");
            headers.set("X-Linked-Size", Integer.toString(content.length));
        }
        if (storage.isPresent() && isLarge(content)) {
            headers.set(
                    "Location", storage.get().uri() + exchange.getRequestURI().toString() + "?signed=yes");
            exchange.sendResponseHeaders(302, -1);
        } else if (fault.isEmpty() || !fault.get().strike(exchange, content)) {
            serve(exchange, content);
        }
    }

    /** Sends the bytes that were asked for. */
    public void serve(HttpExchange exchange, byte[] content) throws IOException {
        String range = exchange.getRequestHeaders().getFirst("Range");
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.getResponseHeaders().set("Content-Length", Integer.toString(content.length));
            exchange.sendResponseHeaders(200, -1);
        } else if (range == null) {
            send(exchange, 200, content, 0, content.length);
        } else {
            int dash = range.indexOf('-');
            int from = Integer.parseInt(range.substring("bytes=".length(), dash));
            int to = Math.min(content.length, Integer.parseInt(range.substring(dash + 1)) + 1);
            exchange.getResponseHeaders().set("Content-Range", "bytes " + from + "-" + (to - 1) + "/" + content.length);
            send(exchange, 206, content, from, to);
        }
    }

    /** Sends a status and some bytes. */
    public void send(HttpExchange exchange, int status, byte[] content, int from, int to) throws IOException {
        exchange.sendResponseHeaders(status, to == from ? -1 : to - from);
        try (OutputStream out = exchange.getResponseBody()) {
            bodyBytes.addAndGet(to - from);
            out.write(content, from, to - from);
        }
    }

    /** Refuses as the hub does. */
    public static void refuse(HttpExchange exchange, int status, String code) throws IOException {
        exchange.getResponseHeaders().set("X-Error-Code", code);
        exchange.sendResponseHeaders(status, -1);
    }

    private static void json(HttpExchange exchange, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, bytes.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(bytes);
        }
    }
}
