package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServerConfig;
import roselle.server.http.Exchange;
import roselle.server.http.HttpListener;
import roselle.server.http.Routes;
import roselle.server.http.Turns;

/** A defect of ours is told as such, and as nothing else. */
final class DefectTest {
    @Test
    void saysNothingOfADefectButThatThereIsOne() throws IOException, InterruptedException {
        HttpResponse<String> response = answerTo(DefectTest::fail);

        assertThat(response.statusCode()).isEqualTo(500);
        assertThat(response.body()).contains("internal_error").doesNotContain("secret", "Exception");
        assertThat(response.headers().firstValue("x-request-id")).isPresent();
    }

    @Test
    void turnsAwayWhatIsInterrupted() throws IOException, InterruptedException {
        HttpResponse<String> response = answerTo(_ -> {
            throw new CancellationException("interrupted");
        });

        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(response.headers().firstValue("retry-after")).contains("1");
    }

    @Test
    void turnsAwayWhatThereIsNoMemoryFor() throws IOException, InterruptedException {
        HttpResponse<String> response = answerTo(_ -> {
            throw new OutOfMemoryError("a secret of the heap");
        });

        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(response.headers().firstValue("retry-after")).contains("1");
        assertThat(response.body()).contains("ran out of memory").doesNotContain("secret", "Error:");
    }

    @Test
    void endsAStreamThatFailsWithOneEvent() throws IOException, InterruptedException {
        HttpResponse<String> response = answerTo(exchange -> {
            exchange.stream().event().object().endObject();
            exchange.stream().send();
            fail(exchange);
        });

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).startsWith("data: {}\n\ndata: {\"error\":{").endsWith("\n\n");
        assertThat(response.body()).doesNotContain("secret", "[DONE]");
    }

    /** It has gone: there is nobody to tell, and nothing to log. */
    @Test
    void takesAPeerThatLeavesWithinItsBodyForNoDefect() throws Exception {
        var records = new ConcurrentLinkedQueue<LogRecord>();
        var log = Logger.getLogger("roselle.server");
        var handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                records.add(record);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        log.addHandler(handler);
        var thrown = new CompletableFuture<Throwable>();
        var config = ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0));
        var routes = new Routes(Server.STANDARD).post("/", exchange -> read(exchange, thrown));
        try (var listener = HttpListener.start(config, routes, Turns::atOnce)) {
            try (var peer = new PlainConnection(listener.port())) {
                peer.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf");
            }
            assertThat(thrown.get(2, TimeUnit.MINUTES)).isInstanceOf(IOException.class);
        } finally {
            log.removeHandler(handler);
        }
        assertThat(records).noneMatch(record -> record.getLevel().equals(Level.SEVERE));
    }

    private static void read(Exchange exchange, CompletableFuture<Throwable> thrown) throws IOException {
        try {
            exchange.body();
            thrown.complete(new IllegalStateException("all of it came"));
        } catch (IOException gone) {
            thrown.complete(gone);
            throw gone;
        }
    }

    private static void fail(Exchange exchange) {
        throw new IllegalStateException("a secret of " + exchange.path());
    }

    private static HttpResponse<String> answerTo(roselle.server.http.Handler handler)
            throws IOException, InterruptedException {
        var config = ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0));
        try (var listener = HttpListener.start(config, new Routes(Server.STANDARD).get("/", handler), Turns::atOnce);
                var client = HttpClient.newHttpClient()) {
            var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + listener.port() + "/"))
                    .build();
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        }
    }
}
