package roselle.server.gateway;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A server whose answers a test writes. */
final class FakeMember implements AutoCloseable {
    /** Answers a request of clients. */
    interface Behaviour {
        void answer(HttpExchange exchange) throws IOException;
    }

    final List<String> asked = new CopyOnWriteArrayList<>(); // method, target, key and body of each request
    volatile Behaviour behaviour = exchange -> answer(exchange, 200, "{\"by\":\"" + port() + "\"}");
    volatile boolean isReady = true;
    volatile String metrics = "";
    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    FakeMember() throws IOException {
        this(0);
    }

    FakeMember(int port) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 64);
        server.createContext("/", this::handle);
        server.setExecutor(threads);
        server.start();
    }

    private void handle(HttpExchange exchange) throws IOException {
        switch (exchange.getRequestURI().getPath()) {
            case "/ready" -> answer(exchange, isReady ? 200 : 503, "{}");
            case "/metrics" -> answer(exchange, 200, metrics);
            default -> {
                String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
                asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " "
                        + exchange.getRequestHeaders().getFirst("authorization") + " " + body);
                behaviour.answer(exchange);
            }
        }
    }

    /** Answers with a whole body. */
    static void answer(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("content-type", "application/json");
        exchange.getResponseHeaders().set("x-from", "member");
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    /** Begins a stream of events. */
    static void begin(HttpExchange exchange) throws IOException {
        exchange.getResponseHeaders().set("content-type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
    }

    static void write(HttpExchange exchange, String text) throws IOException {
        exchange.getResponseBody().write(text.getBytes(StandardCharsets.UTF_8));
        exchange.getResponseBody().flush();
    }

    int port() {
        return server.getAddress().getPort();
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + port());
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
