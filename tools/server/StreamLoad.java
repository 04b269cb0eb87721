import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Many streams of a server's events at once: {@code java tools/server/StreamLoad.java PORT [STREAMS [TOKENS]]}. Opens all connections,
 * asks on each for a list of models (the time of a first byte without an engine's work), then on all at once for a completion, and
 * prints one line: percentiles of first bytes, events a second, and how many streams were whole.
 */
final class StreamLoad {
    private static final String MODELS = "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n";

    private final int port;
    private final int tokens;
    private final long[] plain; // nanoseconds until the first byte
    private final long[] streamed;
    private final CountDownLatch ready;
    private final CountDownLatch go = new CountDownLatch(1);
    private final AtomicInteger whole = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final AtomicLong events = new AtomicLong();

    private StreamLoad(int port, int streams, int tokens) {
        this.port = port;
        this.tokens = tokens;
        plain = new long[streams];
        streamed = new long[streams];
        ready = new CountDownLatch(streams);
    }

    public static void main(String[] arguments) throws InterruptedException {
        int streams = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 2000;
        int tokens = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 16;
        new StreamLoad(Integer.parseInt(arguments[0]), streams, tokens).run();
    }

    private void run() throws InterruptedException {
        var threads = new Thread[plain.length];
        for (int i = 0; i < threads.length; i++) {
            int index = i;
            threads[i] = Thread.startVirtualThread(() -> stream(index));
        }
        ready.await();
        long start = System.nanoTime();
        go.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.printf(
                "plain_first_byte_ms p50=%.1f p99=%.1f  stream_first_byte_ms p50=%.0f p99=%.0f  seconds=%.2f"
                        + " events_per_second=%.0f whole=%d failed=%d%n",
                percentile(plain, 0.5),
                percentile(plain, 0.99),
                percentile(streamed, 0.5),
                percentile(streamed, 0.99),
                seconds,
                events.get() / seconds,
                whole.get(),
                failed.get());
    }

    private static double percentile(long[] nanos, double part) {
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        return sorted[(int) Math.min(sorted.length - 1, part * sorted.length)] / 1e6;
    }

    private void stream(int index) {
        boolean isCounted = false;
        try (var socket = new Socket()) {
            socket.connect(new InetSocketAddress("127.0.0.1", port));
            socket.setTcpNoDelay(true);
            var input = new BufferedInputStream(socket.getInputStream());
            for (int round = 0; round < 3; round++) { // the last one counts
                plain[index] = ask(socket, input, MODELS);
                readAnswer(input);
            }
            ready.countDown();
            isCounted = true;
            go.await();
            String body = "{\"prompt\":\"Hello\",\"stream\":true,\"ignore_eos\":true,\"temperature\":0,\"max_tokens\":" + tokens + "}";
            streamed[index] = ask(
                    socket,
                    input,
                    "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
                            + body.length() + "\r\n\r\n" + body);
            readEvents(input);
        } catch (IOException | InterruptedException broken) {
            failed.incrementAndGet();
        } finally {
            if (!isCounted) {
                ready.countDown();
            }
        }
    }

    private static long ask(Socket socket, InputStream input, String request) throws IOException {
        long begin = System.nanoTime();
        socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
        input.mark(1);
        if (input.read() < 0) {
            throw new IOException("no answer");
        }
        input.reset();
        return System.nanoTime() - begin;
    }

    private static void readAnswer(InputStream input) throws IOException {
        int length = 0;
        for (String line = line(input); !line.isEmpty(); line = line(input)) {
            if (line.toLowerCase().startsWith("content-length:")) {
                length = Integer.parseInt(line.substring(15).strip());
            }
        }
        input.skipNBytes(length);
    }

    private void readEvents(InputStream input) throws IOException {
        if (!line(input).contains(" 200")) {
            throw new IOException("refused");
        }
        while (true) {
            String line = line(input);
            if (line.startsWith("data: {")) {
                events.incrementAndGet();
            } else if (line.equals("data: [DONE]")) {
                whole.incrementAndGet();
                return;
            }
        }
    }

    private static String line(InputStream input) throws IOException {
        var line = new StringBuilder();
        for (int next = input.read(); next != '\n'; next = input.read()) {
            if (next < 0) {
                throw new IOException("the end");
            }
            if (next != '\r') {
                line.append((char) next);
            }
        }
        return line.toString();
    }
}
