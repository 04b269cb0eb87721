package roselle.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import roselle.server.config.LimitOptions;

/** What a peer sends before the present call is over is kept: a little of it before its answer, all of it behind. */
final class NextRequestTest {
    private static final int MUCH = 500_000;
    private static final String GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    private static final String POST = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + MUCH + "\r\n\r\n";

    private final CountDownLatch mayAnswer = new CountDownLatch(1);
    private final CountDownLatch hasAnswered = new CountDownLatch(1);
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private final EmbeddedChannel channel = new EmbeddedChannel();

    @AfterEach
    void stop() {
        mayAnswer.countDown();
        mayEnd.countDown();
        channel.finishAndReleaseAll();
    }

    private void open() {
        var connection = new Connection(channel, LimitOptions.DEFAULT.times(), new IdleConnections());
        var starter = new CallStarter(this::answer, status -> new Refusals.Text("text/plain", ""), 1 << 14);
        channel.pipeline().addLast(connection, new Protocols(connection, starter, false).byFirstBytes());
    }

    private void answer(Call call) throws IOException {
        await(mayAnswer);
        call.answer(200, Bytes.ascii("yes"));
        hasAnswered.countDown();
        await(mayEnd);
    }

    private static void await(CountDownLatch latch) throws IOException {
        try {
            latch.await();
        } catch (InterruptedException interruption) {
            throw new IOException(interruption);
        }
    }

    private void send(byte[] bytes) {
        channel.writeInbound(Unpooled.wrappedBuffer(bytes));
    }

    @Test
    void goesFromAPeerThatSendsMuchBeforeItsAnswer() {
        open();
        send(Bytes.ascii(GET));
        send(Bytes.ascii(POST));
        assertThat(channel.isOpen()).isTrue();

        send(new byte[MUCH]);

        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void waitsWithAPeerThatHasItsAnswer() throws IOException {
        open();
        send(Bytes.ascii(GET));
        mayAnswer.countDown();
        await(hasAnswered);

        send(Bytes.ascii(POST));
        send(new byte[MUCH]);

        assertThat(channel.isOpen()).isTrue();
        assertThat(channel.config().isAutoRead()).isFalse();
    }

    @Test
    void takesALongRequestBehindEveryAnswer() throws IOException {
        try (var transport = new TestTransport(LimitOptions.DEFAULT);
                var peer = transport.connect()) {
            for (int time = 0; time < 100; time++) {
                assertThat(peer.send(GET).status()).isEqualTo(200);
                assertThat(peer.send(Bytes.ascii(POST), new byte[MUCH]).status())
                        .isEqualTo(200);
            }
        }
    }
}
