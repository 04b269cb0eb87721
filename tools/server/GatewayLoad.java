import java.io.BufferedReader;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What a gateway adds, before members that cost nearly nothing: {@code java tools/server/GatewayLoad.java times [REQUESTS]} asks a
 * member directly and through {@code ./roselle gateway} by turns, over one connection each, and prints percentiles of both;
 * {@code java tools/server/GatewayLoad.java streams [STREAMS [EVENTS [CONNECTIONS]]]} has so many streams open through it at once, with an
 * event every two seconds each, and says how many were whole: over HTTP/1.1, or over HTTP/2 when it is said how many connections they
 * share. Clients, gateway and member are a process each; {@code ulimit -n} must allow the gateway a descriptor for each stream, one for
 * each connection, and some.
 */
final class GatewayLoad {
    private static final int ROUNDS = 10;
    private static final long BETWEEN_EVENTS_NANOS = 2_000_000_000L;
    private static final String ANSWER =
            "{\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,"
                    + "\"text\":\" a time\",\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":4,"
                    + "\"completion_tokens\":2,\"total_tokens\":6}}";
    private static final String EVENT = "data: {\"choices\":[{\"index\":0,\"text\":\" a\",\"finish_reason\":null}]}\n\n";
    private static final String LAST = "data: [DONE]\n\n";

    private GatewayLoad() {}

    public static void main(String[] arguments) throws Exception {
        int usual = arguments[0].equals("times") ? 20_000 : 9_900;
        int count = arguments.length > 1 ? Integer.parseInt(arguments[1]) : usual;
        int events = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 10;
        switch (arguments[0]) {
            case "times" -> times(count);
            case "streams" -> streams(count, events, arguments.length > 3 ? Integer.parseInt(arguments[3]) : 0);
            case "member" -> { // of streams, as a process
                var member = new Member(events);
                System.out.println(member.port());
                member.run();
            }
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    // ---- times ----

    private static void times(int requests) throws IOException {
        var member = new Member(0);
        Thread.ofPlatform().daemon().name("member").start(member);
        try (var gateway = new Gateway(member.port(), 0);
                var direct = new Client(member.port());
                var through = new Client(gateway.port)) {
            for (int warm = 0; warm < requests; warm++) { // the gateway's machine code, and ours
                direct.nanos();
                through.nanos();
            }
            var differences = new long[ROUNDS];
            double before = gateway.seconds();
            for (int round = 0; round < ROUNDS; round++) {
                var straight = new long[requests];
                var passed = new long[requests];
                for (int at = 0; at < requests; at++) {
                    straight[at] = direct.nanos();
                    passed[at] = through.nanos();
                }
                Arrays.sort(straight);
                Arrays.sort(passed);
                differences[round] = quantile(passed, 0.99) - quantile(straight, 0.99);
                System.out.printf(
                        "round %d, load %.1f: direct us %s; gateway us %s; added at p10 %d, p50 %d, p99 %d, p99.9 %d%n",
                        round,
                        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                        micros(straight),
                        micros(passed),
                        (quantile(passed, 0.1) - quantile(straight, 0.1)) / 1000,
                        (quantile(passed, 0.5) - quantile(straight, 0.5)) / 1000,
                        differences[round] / 1000,
                        (quantile(passed, 0.999) - quantile(straight, 0.999)) / 1000);
            }
            Arrays.sort(differences);
            System.out.printf(
                    "added at p99: least %d, median %d us; processor time of the gateway %.0f us a request%n",
                    differences[0] / 1000,
                    differences[ROUNDS / 2] / 1000,
                    (gateway.seconds() - before) * 1e6 / ROUNDS / requests);
        }
    }

    private static String micros(long[] sorted) {
        return "p50 %d p99 %d p99.9 %d"
                .formatted(
                        quantile(sorted, 0.5) / 1000, quantile(sorted, 0.99) / 1000, quantile(sorted, 0.999) / 1000);
    }

    private static long quantile(long[] sorted, double part) {
        return sorted[(int) Math.min(sorted.length - 1, Math.ceil(part * sorted.length))];
    }

    private static String body(boolean streams) {
        return "{\"model\":\"m\",\"prompt\":\"Once upon a time there was a fox, who had a friend.\","
                + "\"max_tokens\":2,\"stream\":" + streams + "}";
    }

    private static byte[] request(int port, boolean streams) {
        String body = body(streams);
        return ascii("POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1:" + port
                + "\r\nContent-Type: application/json\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** One connection that asks for small answers, one after the other. */
    private static final class Client implements AutoCloseable {
        private final Socket socket;
        private final InputStream in;
        private final byte[] request;
        private final byte[] buffer = new byte[8192];

        Client(int port) throws IOException {
            socket = new Socket("127.0.0.1", port);
            socket.setTcpNoDelay(true);
            in = socket.getInputStream();
            request = request(port, false);
        }

        /** From the request's first byte until the answer's last. */
        long nanos() throws IOException {
            long begin = System.nanoTime();
            socket.getOutputStream().write(request);
            int length = 0;
            while (length < ANSWER.length()
                    || !new String(buffer, 0, length, StandardCharsets.ISO_8859_1).endsWith(ANSWER)) {
                int read = in.read(buffer, length, buffer.length - length);
                if (read < 0) {
                    throw new EOFException("the answer breaks off");
                }
                length += read;
            }
            return System.nanoTime() - begin;
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    // ---- streams ----

    private static void streams(int count, int events, int connections) throws Exception {
        String java = ProcessHandle.current().info().command().orElseThrow();
        Process member = new ProcessBuilder(
                        java,
                        "tools/server/GatewayLoad.java",
                        "member",
                        Integer.toString(count),
                        Integer.toString(events))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (var said = new BufferedReader(new InputStreamReader(member.getInputStream(), StandardCharsets.UTF_8));
                var gateway = new Gateway(Integer.parseInt(said.readLine()), connections)) {
            var tally = new Tally(gateway, count, events);
            if (connections == 0) {
                new Streams(gateway.port, tally).run();
            } else {
                new SharedConnections(gateway.port, tally, connections).run();
            }
            tally.tell();
        } finally {
            member.destroy();
        }
    }

    /** What has become of the streams. */
    private static final class Tally {
        final int count;
        final int events;
        private final Gateway gateway;
        private final long begin = System.nanoTime();
        private int begun;
        private int whole;
        private int failed;
        private int most;

        Tally(Gateway gateway, int count, int events) {
            this.gateway = gateway;
            this.count = count;
            this.events = events;
        }

        private double seconds() {
            return (System.nanoTime() - begin) / 1e9;
        }

        synchronized void begun() {
            begun++;
            int open = begun - whole - failed;
            most = Math.max(most, open);
            if (begun == count) {
                System.out.printf(
                        "%d streams begun after %.1f s, %d open, %d failed; the gateway has %s%n",
                        begun, seconds(), open, failed, gateway.memory());
            }
        }

        synchronized void whole() {
            whole++;
            notifyAll();
        }

        synchronized void failed(String why) {
            if (failed++ < 5) {
                System.out.println("failed: " + why);
            }
            notifyAll();
        }

        synchronized boolean isOver() {
            return whole + failed >= count;
        }

        synchronized void await() throws InterruptedException {
            while (!isOver()) {
                wait();
            }
        }

        synchronized void tell() {
            System.out.printf(
                    "%d streams of %d events: %d whole, %d failed, at most %d open at once, %.1f s; processor time of the gateway"
                            + " %.1f s; load %.1f%n",
                    count,
                    events,
                    whole,
                    failed,
                    most,
                    seconds(),
                    gateway.seconds(),
                    ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
        }
    }

    /** Clients with HTTP/2, whose connections have many streams each. */
    private static final class SharedConnections {
        private final URI uri;
        private final Tally tally;
        private final int connections;

        SharedConnections(int port, Tally tally, int connections) {
            uri = URI.create("http://127.0.0.1:" + port);
            this.tally = tally;
            this.connections = connections;
        }

        void run() throws IOException, InterruptedException {
            var clients = new ArrayList<HttpClient>();
            try (var threads = Executors.newFixedThreadPool(2)) {
                for (int index = 0; index < connections; index++) {
                    HttpClient client = HttpClient.newBuilder().executor(threads).build();
                    clients.add(client);
                    var first = client.send( // it takes the connection to HTTP/2, and the others then share it
                            HttpRequest.newBuilder(uri.resolve("/health")).build(), HttpResponse.BodyHandlers.discarding());
                    if (first.version() != HttpClient.Version.HTTP_2) {
                        throw new IOException("the gateway stays with " + first.version());
                    }
                }
                for (int index = 0; index < tally.count; index++) {
                    ask(clients.get(index % connections));
                }
                tally.await();
                clients.forEach(HttpClient::shutdownNow);
            }
        }

        private void ask(HttpClient client) {
            var request = HttpRequest.newBuilder(uri.resolve("/v1/completions"))
                    .header("content-type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(body(true)))
                    .build();
            client.sendAsync(request, this::begin).whenComplete(this::end);
        }

        private HttpResponse.BodySubscriber<String> begin(HttpResponse.ResponseInfo head) {
            if (head.statusCode() == 200) {
                tally.begun();
            }
            return HttpResponse.BodySubscribers.ofString(StandardCharsets.UTF_8);
        }

        private void end(HttpResponse<String> answer, Throwable failure) {
            if (failure != null) {
                tally.failed(failure.toString());
            } else if (answer.body().equals(EVENT.repeat(tally.events) + LAST)) {
                tally.whole();
            } else {
                tally.failed(answer.statusCode() + " with " + answer.body().length() + " bytes");
            }
        }
    }

    /** Clients of one thread with HTTP/1.1, each with a stream. */
    private static final class Streams {
        private final int port;
        private final Tally tally;
        private final Selector selector = Selector.open();
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(64 << 10);

        /** What a client has read, but for its last bytes only counted. */
        private static final class Stream {
            int events;
            boolean isOpen;
            String end = "";
        }

        Streams(int port, Tally tally) throws IOException {
            this.port = port;
            this.tally = tally;
        }

        void run() throws IOException {
            var opened = new AtomicInteger();
            Thread.ofPlatform().daemon().start(() -> open(opened));
            byte[] request = request(port, true);
            while (!tally.isOver()) {
                selector.select(this::read, 100);
                for (SocketChannel channel = next(); channel != null; channel = next()) {
                    channel.write(ByteBuffer.wrap(request));
                    channel.configureBlocking(false);
                    channel.register(selector, SelectionKey.OP_READ, new Stream());
                }
            }
        }

        private final Queue<SocketChannel> fresh = new ArrayDeque<>();

        private SocketChannel next() {
            synchronized (fresh) {
                return fresh.poll();
            }
        }

        private void open(AtomicInteger opened) {
            try {
                while (opened.getAndIncrement() < tally.count) {
                    var channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
                    synchronized (fresh) {
                        fresh.add(channel);
                    }
                    selector.wakeup();
                }
            } catch (IOException failure) {
                System.out.println("cannot connect: " + failure);
                System.exit(1);
            }
        }

        private void read(SelectionKey key) {
            var stream = (Stream) key.attachment();
            try {
                int length = ((SocketChannel) key.channel()).read(buffer.clear());
                if (length < 0) {
                    throw new EOFException("broken off after " + stream.end);
                }
                String text = stream.end + StandardCharsets.ISO_8859_1.decode(buffer.flip());
                if (!stream.isOpen && !text.startsWith("HTTP/1.1 200")) {
                    throw new IOException(text.lines().findFirst().orElse(""));
                }
                if (!stream.isOpen) {
                    tally.begun();
                }
                stream.isOpen = true;
                int counted = 0;
                for (int at = text.indexOf("}]}\n\n"); at >= 0; at = text.indexOf("}]}\n\n", at + 1)) {
                    stream.events++;
                    counted = at + 5;
                }
                stream.end = text.substring(Math.max(counted, text.length() - 40));
                if (text.endsWith("0\r\n\r\n") && text.contains(LAST)) {
                    if (stream.events != tally.events) {
                        throw new IOException(stream.events + " events");
                    }
                    tally.whole();
                    key.channel().close();
                }
            } catch (IOException failure) {
                tally.failed(failure.getMessage());
                key.cancel();
            }
        }
    }

    // ---- the gateway, and what is behind it ----

    /** {@code ./roselle gateway} as a process. */
    private static final class Gateway implements AutoCloseable {
        final int port;
        private final Process process;

        /** One before a member, that takes so many clients at a time; 0 for as many as it will. */
        Gateway(int member, int clients) throws IOException {
            var command = new ArrayList<>(List.of("./roselle", "gateway", "--port=0", "http://127.0.0.1:" + member));
            if (clients > 0) {
                command.add("--max-connections=" + clients);
            }
            process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            var said = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            String line = said.readLine();
            if (line == null || !said.readLine().endsWith(" ready")) {
                throw new IOException("the gateway has not begun");
            }
            port = URI.create(line.substring(line.indexOf("http://"))).getPort();
        }

        String memory() {
            try (var lines = new BufferedReader(new InputStreamReader(
                    new FileInputStream("/proc/" + process.pid() + "/status"), StandardCharsets.UTF_8))) {
                return lines.lines()
                        .filter(line -> line.startsWith("VmRSS") || line.startsWith("Threads"))
                        .map(line -> line.replaceAll("\\s+", " "))
                        .toList()
                        .toString();
            } catch (IOException unreadable) {
                return unreadable.toString();
            }
        }

        double seconds() {
            return process.info().totalCpuDuration().orElseThrow().toMillis() / 1e3;
        }

        @Override
        public void close() {
            process.destroy();
            process.onExit().orTimeout(60, TimeUnit.SECONDS).join();
        }
    }

    /** A server of one thread that answers at once, or with events. */
    private static final class Member implements Runnable {
        private final int events;
        private final ServerSocketChannel listener = ServerSocketChannel.open();
        private final Selector selector = Selector.open();
        private final ByteBuffer in = ByteBuffer.allocateDirect(64 << 10);
        private final byte[] answer = ascii("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
                + ANSWER.length() + "\r\n\r\n" + ANSWER);
        private final byte[] nothing =
                ascii("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n");
        private final byte[] event = chunk(EVENT);
        private final byte[] first = ascii("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n");
        private final byte[] end = ascii(new String(chunk(LAST), StandardCharsets.ISO_8859_1) + "0\r\n\r\n");
        private final Queue<Waiting> waiting = new ArrayDeque<>(); // the earliest first

        /** A stream whose next event is due. */
        private record Waiting(SocketChannel channel, int left, long dueNanos) {}

        Member(int events) throws IOException {
            this.events = events;
            listener.bind(new InetSocketAddress("127.0.0.1", 0), 1024);
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
        }

        int port() {
            return listener.socket().getLocalPort();
        }

        private static byte[] chunk(String text) {
            return ascii(Integer.toHexString(text.length()) + "\r\n" + text + "\r\n");
        }

        @Override
        public void run() {
            try {
                while (true) {
                    selector.select(this::take, waiting.isEmpty() ? 1000 : 5);
                    for (Waiting next = waiting.peek();
                            next != null && next.dueNanos() - System.nanoTime() < 0;
                            next = waiting.peek()) {
                        tell(waiting.remove());
                    }
                }
            } catch (IOException failure) {
                System.out.println("the member ends: " + failure);
            }
        }

        private void tell(Waiting stream) {
            try {
                write(stream.channel(), stream.left() == 0 ? end : event);
                if (stream.left() > 0) {
                    waiting.add(new Waiting(
                            stream.channel(), stream.left() - 1, System.nanoTime() + BETWEEN_EVENTS_NANOS));
                }
            } catch (IOException gone) {
                System.out.println("a stream's reader has gone: " + gone.getMessage());
            }
        }

        private static void write(SocketChannel channel, byte[] bytes) throws IOException {
            for (var out = ByteBuffer.wrap(bytes); out.hasRemaining(); ) {
                channel.write(out);
            }
        }

        private void take(SelectionKey key) {
            try {
                if (key.isAcceptable()) {
                    SocketChannel channel = listener.accept();
                    channel.configureBlocking(false);
                    channel.socket().setTcpNoDelay(true);
                    channel.register(selector, SelectionKey.OP_READ, new StringBuilder());
                    return;
                }
                var channel = (SocketChannel) key.channel();
                if (channel.read(in.clear()) < 0) {
                    channel.close();
                    return;
                }
                var text = (StringBuilder) key.attachment();
                text.append(StandardCharsets.ISO_8859_1.decode(in.flip()));
                if (isWhole(text)) {
                    answer(channel, text);
                    text.setLength(0);
                }
            } catch (IOException gone) {
                key.cancel();
            }
        }

        private static boolean isWhole(StringBuilder request) {
            return request.indexOf("GET ") == 0
                    ? request.indexOf("\r\n\r\n") > 0
                    : request.charAt(request.length() - 1) == '}';
        }

        private void answer(SocketChannel channel, StringBuilder request) throws IOException {
            if (request.indexOf("\"stream\":true") > 0) {
                write(channel, first);
                write(channel, event);
                waiting.add(new Waiting(channel, events - 1, System.nanoTime() + BETWEEN_EVENTS_NANOS));
            } else {
                write(channel, request.indexOf("GET ") == 0 ? nothing : answer);
            }
        }
    }
}
