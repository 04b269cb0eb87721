package roselle.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.net.SocketException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.server.config.LimitOptions;

/** There are never more connections than there is room for, and never none for good. */
final class ConnectionLimitTest {
    private static final String GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

    private static final String STAY = "GET /stay HTTP/1.1\r\nHost: localhost\r\n\r\n";

    private static LimitOptions two() {
        var limits = LimitOptions.DEFAULT;
        return new LimitOptions(limits.bodyBytes(), limits.headerBytes(), 2, limits.requests(), limits.times());
    }

    /** A connection whose call stays; another one, as a client would, if it had to make room before its request came. */
    private static RawConnection stay(TestTransport transport) throws IOException {
        int before = transport.staying.get();
        RawConnection connection = transport.connect();
        while (!stays(transport, before, connection)) {
            connection = transport.connect();
        }
        return connection;
    }

    private static boolean stays(TestTransport transport, int before, RawConnection connection) throws IOException {
        try {
            connection.send(STAY);
        } catch (SocketException _) {
            return false;
        }
        while (transport.staying.get() == before) {
            if (connection.hasEnded()) {
                return false;
            }
        }
        return true;
    }

    /** The status of an answer, on a connection that stays and says nothing more; on another one, if it had to make room too early. */
    private static int ask(TestTransport transport) throws IOException {
        int status = 0;
        while (status == 0) {
            try {
                status = transport.connect().send(GET).status();
            } catch (SocketException _) {
                status = 0;
            }
        }
        return status;
    }

    @Test
    @SuppressWarnings("try") // closing one is what is tested
    void answersThoseThatWaitedWhenOthersGo() throws IOException {
        try (var transport = new TestTransport(two());
                var first = stay(transport);
                var second = stay(transport)) {
            try (var third = transport.connect().send(GET)) {
                assertThat(transport.calls).hasValue(2);

                first.close();

                assertThat(third.status()).isEqualTo(200);
                TestTransport.await(() -> transport.gone.get() == 1); // on a thread of its own
            }
            second.close();
        }
    }

    @Test
    @SuppressWarnings("try") // that it stays is what is tested
    void endsWhoHasBeenIdleLongestToMakeRoom() throws IOException {
        try (var transport = new TestTransport(two());
                var silent = transport.connect();
                var _ = stay(transport)) {
            for (int client = 0; client < 5; client++) {
                assertThat(ask(transport)).isEqualTo(200);
            }
            assertThat(silent.rest()).isEmpty();
            assertThat(transport.gone).hasValue(0);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRequestThatLiesInTheSystemIsReadBeforeItsConnectionMakesRoom(boolean hasAsked) {
        var idle = new IdleConnections();
        var channel = new EmbeddedChannel();
        channel.freezeTime();
        var connection = new Connection(channel, LimitOptions.DEFAULT.times(), idle);
        channel.pipeline().addLast(connection);
        connection.begin();

        idle.endLongest();
        channel.runPendingTasks();
        if (hasAsked) {
            channel.writeInbound(Unpooled.wrappedBuffer(Bytes.ascii(GET)));
        }
        channel.advanceTimeBy(1, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();

        assertThat(channel.isOpen()).isEqualTo(hasAsked);
    }

    @Test
    void goesOnAfterTheSystemRefusedOne() {
        var acceptor = new Acceptor(10, () -> {});
        var listener = new EmbeddedChannel(acceptor);
        listener.freezeTime();

        for (int time = 0; time < 3; time++) {
            listener.pipeline().fireExceptionCaught(new IOException("Too many open files"));
            listener.runPendingTasks();
            assertThat(listener.config().isAutoRead()).isFalse();

            listener.advanceTimeBy(1, TimeUnit.SECONDS);
            listener.runScheduledPendingTasks();
            assertThat(listener.config().isAutoRead()).isTrue();
        }
        assertThat(listener.isOpen()).isTrue();
        listener.checkException();
    }

    @Test
    void keepsDescriptorsBack() {
        assertThat(new Descriptors(100, 40).connections()).isEqualTo(36);
        assertThat(new Descriptors(100, 90).connections()).isZero();
        assertThat(new Descriptors(Long.MAX_VALUE, 90).connections()).isEqualTo(Integer.MAX_VALUE);
        assertThat(Descriptors.ofThisProcess())
                .hasValueSatisfying(ours -> assertThat(ours.most()).isGreaterThan(ours.open()));
    }
}
