package roselle.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.server.config.LimitOptions;
import roselle.server.config.TimeLimits;

/** In whatever state a peer leaves a connection, it is closed when that state's limit is over, and not before. */
@SuppressWarnings("StringConcatToTextBlock") // line ends are what is tested
final class DeadlinesTest {
    private static final TimeLimits LIMITS = new TimeLimits(
            Duration.ofSeconds(1000), Duration.ofSeconds(100), Duration.ofSeconds(200), Duration.ofSeconds(300));

    private static final String POST = "POST / HTTP/1.1\r\nHost: localhost\r\n";

    /** Before the connection is there: no limit of its began earlier, however slowly this thread gets its turns. */
    private final long before = System.nanoTime();

    private final CountDownLatch end = new CountDownLatch(1);
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Connection connection = new Connection(channel, LIMITS, new IdleConnections());

    @SuppressWarnings("ArrayRecordComponent") // compared with nothing
    record State(String name, Duration limit, byte[]... sent) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<State> states() {
        byte[] table = Bytes.indexed("a", "b");
        return Stream.of(
                new State("says nothing", LIMITS.idle()),
                new State("a byte", LIMITS.head(), Bytes.ascii("G")),
                new State("empty lines", LIMITS.head(), Bytes.ascii("\r\n"), Bytes.ascii("\r\n")),
                new State("half of a preface", LIMITS.head(), Bytes.ascii("PRI * HTTP/2.0\r\n")),
                new State("half of a first line", LIMITS.head(), Bytes.ascii("GET /"), Bytes.ascii(" HTT")),
                new State("half of the headers", LIMITS.head(), Bytes.ascii(POST), Bytes.ascii("a: b\r\n")),
                new State("half of a body", LIMITS.body(), Bytes.ascii(POST + "Content-Length: 9\r\n\r\nabc")),
                new State(
                        "half of a chunk",
                        LIMITS.body(),
                        Bytes.ascii(POST + "Transfer-Encoding: chunked\r\n\r\n9\r\nabc")),
                new State(
                        "half of the trailers",
                        LIMITS.body(),
                        Bytes.ascii(POST + "Transfer-Encoding: chunked\r\n\r\n0\r\na: b\r\n")),
                new State("a whole preface", LIMITS.idle(), Bytes.PREFACE),
                new State("settings, and nothing more", LIMITS.idle(), Bytes.opening()),
                new State("half of a frame's header", LIMITS.head(), Bytes.opening(), new byte[] {0, 0, 8, 6}),
                new State("half of a frame", LIMITS.head(), Bytes.opening(), new byte[] {
                    0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3
                }),
                new State(
                        "headers without an end",
                        LIMITS.head(),
                        Bytes.opening(),
                        Bytes.frame(Bytes.HEADERS, Bytes.END_STREAM, 1, Bytes.get())),
                new State(
                        "headers that go on and on",
                        LIMITS.head(),
                        Bytes.opening(),
                        Bytes.frame(Bytes.HEADERS, Bytes.END_STREAM, 1, Bytes.get()),
                        Bytes.frame(Bytes.CONTINUATION, 0, 1, table),
                        Bytes.frame(Bytes.CONTINUATION, 0, 1, table)),
                new State("no HTTP, and goes on", Connection.LAST_BYTES, Bytes.ascii("\0\r\n\r\n"), Bytes.ascii("x")));
    }

    private static TestTransport.Certificate certificate;

    @BeforeAll
    static void makeCertificate(@TempDir Path folder) throws Exception {
        certificate = TestTransport.Certificate.make(folder);
    }

    @AfterEach
    void stop() {
        end.countDown();
        channel.finishAndReleaseAll();
    }

    private CallStarter starter() {
        return new CallStarter(this::answer, status -> new Refusals.Text("text/plain", ""), 1 << 14);
    }

    private void open() {
        channel.pipeline().addLast(connection, new Protocols(connection, starter(), false).byFirstBytes());
    }

    /** Answers nothing, so that nothing but the peer's side is waited for. */
    private void answer(Call call) throws IOException {
        try {
            end.await();
        } catch (InterruptedException interruption) {
            throw new IOException(interruption);
        }
    }

    private void send(byte[]... parts) {
        for (byte[] part : parts) {
            channel.writeInbound(Unpooled.wrappedBuffer(part));
            channel.runPendingTasks();
        }
    }

    private void check(long now) {
        connection.check(now);
        channel.runPendingTasks();
    }

    @ParameterizedTest
    @MethodSource("states")
    void closesWhenTheLimitIsOver(State state) {
        closesWhenTheLimitIsOver(state, this::open);
    }

    private void closesWhenTheLimitIsOver(State state, Runnable opened) {
        opened.run();
        send(state.sent());
        long after = System.nanoTime();

        check(before);
        check(before + state.limit().toNanos() - Duration.ofSeconds(1).toNanos());
        assertThat(channel.isOpen()).isTrue();

        long late = after + state.limit().toNanos();
        check(late + Duration.ofMillis(200).toNanos());
        check(Math.max(late, System.nanoTime()) + Duration.ofMillis(600).toNanos());
        assertThat(channel.isOpen()).isFalse();
    }

    static Stream<State> handshakes() {
        byte[] hello = {22, 3, 1, 1, 0, 1, 0, 0, (byte) 252, 3, 3};
        return Stream.of(
                new State("says nothing", LIMITS.idle()),
                new State("a byte of a handshake", LIMITS.head(), new byte[] {22}),
                new State("half of a handshake", LIMITS.head(), hello, new byte[100]));
    }

    @ParameterizedTest
    @MethodSource("handshakes")
    void closesWhenTheLimitOfAHandshakeIsOver(State state) {
        var keys = new TlsKeys(certificate.files());
        var handler = TlsKeys.handler(keys.forConnections(), channel.alloc());
        assertThat(handler.getHandshakeTimeoutMillis())
                .as("a limit beside ours")
                .isZero();
        closesWhenTheLimitIsOver(
                state,
                () -> channel.pipeline()
                        .addLast(connection, handler, new Protocols(connection, starter(), true).byHandshake()));
    }

    @Test
    void countsFromTheFirstByteOfAHeadHoweverManyFollow() {
        open();
        send(Bytes.ascii("G"));
        long begun = System.nanoTime();
        send(Bytes.ascii("ET / HTTP/1.1\r\nHost: localhost\r\n"));
        check(begun + LIMITS.head().toNanos() + 1);
        assertThat(channel.isOpen()).isFalse();
    }

    /** The stream alone is reset, others go on. */
    @Test
    void resetsAStreamWhoseBodyDoesNotCome() throws IOException {
        var second = Duration.ofSeconds(1);
        var limits = LimitOptions.DEFAULT.with(new TimeLimits(LIMITS.idle(), LIMITS.head(), second, LIMITS.write()));
        try (var transport = new TestTransport(limits);
                var peer = transport.connect()) {
            peer.send(Bytes.opening(), Bytes.frame(Bytes.HEADERS, Bytes.END_HEADERS, 1, Bytes.post()));
            assertThat(peer.frame(Bytes.RESET).stream()).isEqualTo(1);

            peer.send(Bytes.frame(Bytes.HEADERS, Bytes.END_HEADERS | Bytes.END_STREAM, 3, Bytes.get()));
            assertThat(peer.frame(Bytes.DATA).stream()).isEqualTo(3);
        }
    }

    /** With a word, as the protocol has one; a stream that was broken off before keeps nothing open. */
    @Test
    void goesAwayFromAnIdlePeer() throws IOException {
        var second = Duration.ofSeconds(1);
        var limits = LimitOptions.DEFAULT.with(new TimeLimits(second, LIMITS.head(), LIMITS.body(), LIMITS.write()));
        try (var transport = new TestTransport(limits)) {
            while (!isAnsweredAndLeft(transport)) {
                assertThat(transport.calls.get())
                        .as("answers that did not come")
                        .isLessThan(200);
            }
        }
    }

    /** Whether a peer got its answer before it was gone away from: one that is slow to ask is gone away from without. */
    private static boolean isAnsweredAndLeft(TestTransport transport) throws IOException {
        try (var peer = transport.connect()) {
            peer.send(
                    Bytes.opening(),
                    Bytes.frame(Bytes.HEADERS, Bytes.END_HEADERS, 1, Bytes.post()),
                    Bytes.frame(Bytes.RESET, 0, 1, new byte[4]),
                    Bytes.frame(Bytes.HEADERS, Bytes.END_HEADERS | Bytes.END_STREAM, 3, Bytes.get()));
            if (peer.frame(Bytes.DATA).type() < 0) {
                return false;
            }
            assertThat(peer.frame(Bytes.GO_AWAY).type()).isEqualTo(Bytes.GO_AWAY);
            assertThat(peer.frame(Bytes.DATA).type()).as("the end").isNegative();
            return true;
        }
    }

    @Test
    void endsWhatItHasGoneAwayFromWhateverThePeerDoes() throws IOException {
        try (var transport = new TestTransport(LimitOptions.DEFAULT.with(LIMITS));
                var peer = transport.connect()) {
            peer.send(Bytes.opening(), Bytes.frame(Bytes.DATA, 0, 0, Bytes.ascii("of no stream")));

            assertThat(peer.frame(Bytes.GO_AWAY).type()).isEqualTo(Bytes.GO_AWAY);
            assertThat(peer.frame(Bytes.DATA).type()).as("the end").isNegative();
        }
    }

    @Test
    void goesAwayFromPeersThatStayWhenItEnds() throws IOException {
        var transport = new TestTransport(LimitOptions.DEFAULT.with(LIMITS));
        try (var peer = transport.connect()) {
            peer.send(
                    Bytes.opening(),
                    Bytes.frame(
                            Bytes.HEADERS,
                            Bytes.END_HEADERS | Bytes.END_STREAM,
                            1,
                            Bytes.join(Bytes.get(), Bytes.indexed("x-stay", "1"))));
            TestTransport.await(() -> transport.staying.get() == 1);

            transport.close();

            TestTransport.await(() -> transport.gone.get() == 1); // told by then, on a thread of its own
            assertThat(peer.frame(Bytes.GO_AWAY).type()).isEqualTo(Bytes.GO_AWAY);
            assertThat(peer.frame(Bytes.DATA).type()).as("the end").isNegative();
        }
    }
}
