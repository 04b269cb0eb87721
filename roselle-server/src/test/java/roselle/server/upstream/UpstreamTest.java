package roselle.server.upstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class UpstreamTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Upstreams owner = new Upstreams(PATIENCE, 2);
    private final Upstream upstream =
            owner.begin(InetSocketAddress.createUnresolved("localhost", 1), UpstreamRequest.get("/", List.of()));

    @AfterEach
    void close() {
        owner.close();
    }

    private boolean offer(int kilobytes) {
        return upstream.offer(Unpooled.wrappedBuffer(new byte[kilobytes << 10]));
    }

    @Test
    void takesWhatComesUntilTooMuchWaits() throws IOException {
        assertThat(offer(60)).isTrue();
        assertThat(offer(60)).isTrue();
        assertThat(offer(60)).isFalse();

        upstream.read(PATIENCE);
        upstream.read(PATIENCE);

        assertThat(offer(1)).isTrue();
    }

    /** It comes of what was read before the connection paused; who believed it would never be told to go on. */
    @Test
    void aPieceThatComesAfterThePauseDoesNotEndIt() throws IOException {
        offer(60);
        offer(60);
        assertThat(offer(60)).isFalse();
        upstream.read(PATIENCE); // too little to go on

        assertThat(offer(1)).isFalse();
    }

    /** RFC 9110, section 15.2: any number of them may come before the answer, asked for or not. */
    @Test
    void whatComesBeforeAnAnswerIsNone() throws Exception {
        String answer = "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody";
        try (var server = new OneConnection(answer)) {
            for (int index = 0; index < 3; index++) {
                ask(server);
            }
        }
    }

    @Test
    void keptConnectionsMakeRoomForOthers() throws Exception {
        String answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody";
        try (var first = new OneConnection(answer);
                var second = new OneConnection(answer);
                var third = new OneConnection(answer)) {
            ask(first);
            ask(second);
            ask(third); // of two that may be open

            first.awaitEnd();
            ask(second);
            ask(third);
            assertThat(owner.open()).isEqualTo(2);
        }
    }

    @Test
    void connectionsThatFailedAreNotCounted() {
        assertThatThrownBy(() -> upstream.awaitHead(PATIENCE)).isInstanceOf(IOException.class);

        assertThat(owner.open()).isZero();
    }

    private void ask(OneConnection server) throws IOException {
        try (Upstream asked = owner.begin(server.address(), UpstreamRequest.get("/", List.of()))) {
            assertThat(asked.awaitHead(PATIENCE).status()).isEqualTo(200);
            assertThat(asked.read(PATIENCE)).asString(StandardCharsets.US_ASCII).isEqualTo("body");
            assertThat(asked.read(PATIENCE)).isEmpty();
        }
    }

    /** A server that answers all requests of one connection alike, and accepts no other. */
    private static final class OneConnection implements AutoCloseable {
        private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        private final Thread answering;

        OneConnection(String answer) throws IOException {
            answering = Thread.ofVirtual().start(() -> answerAll(listener, answer));
        }

        InetSocketAddress address() {
            return new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
        }

        /** Waits until the client has closed the connection. */
        void awaitEnd() throws InterruptedException {
            assertThat(answering.join(PATIENCE)).isTrue();
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }

    private static void answerAll(ServerSocket listener, String answer) {
        try (Socket socket = listener.accept()) {
            var lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.isEmpty()) {
                    socket.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
                }
            }
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }
}
