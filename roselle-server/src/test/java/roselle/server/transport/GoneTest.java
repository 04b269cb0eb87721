package roselle.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.server.config.LimitOptions;
import roselle.server.config.ListenOptions;

/** Every way in which a peer can go, over every protocol, ends what it had asked for. */
@SuppressWarnings("StringConcatToTextBlock") // line ends are what is tested
final class GoneTest {
    private static TestTransport plain;
    private static TestTransport secure;
    private static TestTransport.Certificate certificate;

    @TempDir
    private static Path folder;

    enum Protocol {
        HTTP_1(false, false),
        HTTP_1_TLS(false, true),
        HTTP_2(true, false),
        HTTP_2_TLS(true, true);

        private final boolean isHttp2;
        private final boolean isSecure;

        Protocol(boolean isHttp2, boolean isSecure) {
            this.isHttp2 = isHttp2;
            this.isSecure = isSecure;
        }

        RawConnection connect() throws IOException {
            return isSecure
                    ? RawConnection.secure(secure.port(), certificate.trusting(), isHttp2 ? "h2" : "http/1.1")
                    : plain.connect();
        }

        TestTransport transport() {
            return isSecure ? secure : plain;
        }

        /** Asks for an answer that does not end; {@code streams} if a part of it comes at once. */
        void ask(RawConnection connection, boolean streams) throws IOException {
            if (isHttp2) {
                byte[] head = Bytes.join(
                        Bytes.get(),
                        Bytes.indexed("x-stay", "1"),
                        streams ? Bytes.indexed("x-stream", "1") : new byte[0]);
                connection.send(
                        Bytes.opening(), Bytes.frame(Bytes.HEADERS, Bytes.END_STREAM | Bytes.END_HEADERS, 1, head));
            } else {
                connection.send(
                        "GET /stay HTTP/1.1\r\nHost: localhost\r\n" + (streams ? "x-stream: 1\r\n" : "") + "\r\n");
            }
        }
    }

    interface Leave {
        void from(RawConnection connection) throws IOException;
    }

    record Way(String name, Leave leave) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static final List<Way> ANYWHERE = List.of(
            new Way("closes", RawConnection::close),
            new Way("resets", RawConnection::reset),
            new Way("ends its output", RawConnection::endOutput));

    private static final List<Way> FROM_HTTP_1 = List.of(
            new Way(
                    "a stray byte, then closes",
                    connection -> connection.send("x").close()),
            new Way(
                    "an empty line, then closes",
                    connection -> connection.send("\r\n").close()),
            new Way(
                    "an empty line, then resets",
                    connection -> connection.send("\r\n").reset()),
            new Way(
                    "half of a request, then closes",
                    connection -> connection.send("GET / HTTP/1.1\r\nHo").close()),
            new Way(
                    "a request, then closes",
                    connection -> connection
                            .send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                            .close()),
            new Way(
                    "no HTTP, then closes",
                    connection -> connection.send("\0\0\r\n\r\n").close()),
            new Way(
                    "more than is kept",
                    connection -> sendAsMuchAsIsTaken(
                            connection,
                            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n"
                                    + "x".repeat(150_000))));

    private static final List<Way> FROM_HTTP_2 = List.of(
            new Way("resets the stream", connection -> connection.send(frame(Bytes.RESET, 1, 0, 0, 0, 8))),
            new Way(
                    "goes away, then closes",
                    connection -> connection
                            .send(frame(Bytes.GO_AWAY, 0, 0, 0, 0, 0, 0, 0, 0, 0))
                            .close()),
            new Way(
                    "goes away with an error",
                    connection -> connection.send(frame(Bytes.GO_AWAY, 0, 0, 0, 0, 1, 0, 0, 0, 2))),
            new Way("a frame of the wrong length", connection -> connection.send(frame(Bytes.PING, 0, 1, 2, 3))),
            new Way("data on no stream", connection -> connection.send(frame(Bytes.DATA, 0, 1))),
            new Way("a continuation of nothing", connection -> connection.send(frame(Bytes.CONTINUATION, 1))),
            new Way(
                    "headers that are none",
                    connection -> connection.send(Bytes.frame(
                            Bytes.HEADERS, Bytes.END_HEADERS, 3, new byte[] {(byte) 0xff, (byte) 0xff, (byte) 0xff}))),
            new Way(
                    "a frame that is too long",
                    connection ->
                            connection.send(new byte[] {(byte) 0xff, (byte) 0xff, (byte) 0xff, 0, 0, 0, 0, 0, 1})),
            new Way(
                    "a stray byte, then closes",
                    connection -> connection.send("x").close()));

    /** The server may close before all was sent, and the system then says so or not. */
    private static void sendAsMuchAsIsTaken(RawConnection connection, String text) {
        try {
            connection.send(text);
        } catch (IOException closed) {
            assertThat(closed).isNotInstanceOf(SocketTimeoutException.class);
        }
    }

    private static byte[] frame(int type, int stream, int... payload) {
        byte[] bytes = new byte[payload.length];
        for (int index = 0; index < payload.length; index++) {
            bytes[index] = (byte) payload[index];
        }
        return Bytes.frame(type, 0, stream, bytes);
    }

    @BeforeAll
    static void start() throws Exception {
        certificate = TestTransport.Certificate.make(folder);
        plain = new TestTransport(LimitOptions.DEFAULT);
        secure = new TestTransport(new ListenOptions("127.0.0.1", 0, certificate.files()), LimitOptions.DEFAULT);
    }

    @AfterAll
    static void stop() {
        plain.close();
        secure.close();
    }

    static Stream<Arguments> ways() {
        var all = new ArrayList<Arguments>();
        for (Protocol protocol : Protocol.values()) {
            Stream.concat(ANYWHERE.stream(), (protocol.isHttp2 ? FROM_HTTP_2 : FROM_HTTP_1).stream())
                    .flatMap(way -> Stream.of(Arguments.of(protocol, way, false), Arguments.of(protocol, way, true)))
                    .forEach(all::add);
        }
        return all.stream();
    }

    @ParameterizedTest(name = "{0} {1}, streams {2}")
    @MethodSource("ways")
    void endsWhatWasAskedFor(Protocol protocol, Way way, boolean streams) throws IOException {
        TestTransport transport = protocol.transport();
        int asked = transport.staying.get();
        int gone = transport.gone.get();
        try (var connection = protocol.connect()) {
            protocol.ask(connection, streams);
            TestTransport.await(() -> transport.staying.get() > asked);
            assertThat(transport.gone).hasValue(gone);

            way.leave().from(connection);

            TestTransport.await(() -> transport.gone.get() > gone);
        }
    }

    @Test
    void goesOnForAPeerThatWillAskForNothingMore() throws IOException {
        try (var connection = plain.connect()) {
            connection.send(
                    Bytes.opening(),
                    Bytes.frame(Bytes.HEADERS, Bytes.END_HEADERS, 1, Bytes.post()),
                    frame(Bytes.GO_AWAY, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                    Bytes.frame(Bytes.DATA, Bytes.END_STREAM, 1, Bytes.ascii("abc")));

            assertThat(connection.frame(Bytes.DATA).payload()).isEqualTo("3");
            assertThat(connection.rest()).isEmpty();
        }
    }
}
