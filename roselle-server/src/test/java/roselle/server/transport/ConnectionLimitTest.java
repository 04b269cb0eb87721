package roselle.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import roselle.server.config.LimitOptions;

/** There are never more connections than there is room for, and never none for good. */
final class ConnectionLimitTest {
    private static final String GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

    private static final String STAY = "GET /stay HTTP/1.1\r\nHost: localhost\r\n\r\n";

    private static LimitOptions two() {
        var limits = LimitOptions.DEFAULT;
        return new LimitOptions(limits.bodyBytes(), limits.headerBytes(), 2, limits.requests(), limits.times());
    }

    @Test
    @SuppressWarnings("try") // closing one is what is tested
    void answersThoseThatWaitedWhenOthersGo() throws IOException {
        try (var transport = new TestTransport(two());
                var first = transport.connect().send(STAY);
                var second = transport.connect().send(STAY)) {
            TestTransport.await(() -> transport.staying.get() == 2); // until then they are idle, and make room
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
                var _ = transport.connect().send(STAY)) {
            TestTransport.await(() -> transport.staying.get() == 1);
            for (int client = 0; client < 5; client++) {
                RawConnection next = transport.connect(); // stays, and says nothing more
                assertThat(next.send(GET).status()).isEqualTo(200);
            }
            assertThat(silent.rest()).isEmpty();
            assertThat(transport.gone).hasValue(0);
        }
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
