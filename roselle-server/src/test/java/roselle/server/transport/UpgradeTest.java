package roselle.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import roselle.server.config.LimitOptions;
import roselle.server.config.TimeLimits;

/** A request that asks for HTTP/2 is answered there, once the client speaks it. */
final class UpgradeTest {
    private static final String ASKING =
            "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: \r\n\r\n";
    private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    private static final byte[] SETTINGS = {0, 0, 0, 4, 0, 0, 0, 0, 0};
    private static final int HEADERS = 1;

    private TestTransport transport;

    @BeforeEach
    void start() {
        transport = new TestTransport(LimitOptions.DEFAULT);
    }

    @AfterEach
    void stop() {
        transport.close();
    }

    /** A connection that has asked for HTTP/2, and was granted it. */
    private RawConnection asked() throws IOException {
        var connection = transport.connect().send(ASKING);
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) connection.bytes(1)[0]);
        }
        assertThat(head.toString()).startsWith("HTTP/1.1 101 ");
        return connection;
    }

    /** The type of the next frame, and its stream, which is below 256 here. */
    private static int[] frame(RawConnection connection) throws IOException {
        byte[] head = connection.bytes(9);
        connection.bytes(Byte.toUnsignedInt(head[1]) << 8 | Byte.toUnsignedInt(head[2]));
        return new int[] {head[3], head[8]};
    }

    private static void awaitAnswer(RawConnection connection) throws IOException {
        int[] frame = frame(connection);
        while (frame[0] != HEADERS) {
            frame = frame(connection);
        }
        assertThat(frame[1]).isEqualTo(1);
    }

    @Test
    void theAnswerWaitsForTheClientsPreface() throws IOException {
        try (var connection = asked()) {
            assertThat(frame(connection)).containsExactly(4, 0);
            connection.send(PREFACE.substring(0, 23));
            try (var another = transport.connect()) { // by when it is answered, the first would have been, too
                assertThat(another.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                                .status())
                        .isEqualTo(200);
            }
            assertThat(transport.calls.get()).isEqualTo(1);

            connection.send(PREFACE.substring(23)).send(SETTINGS);

            awaitAnswer(connection);
            assertThat(transport.calls.get()).isEqualTo(2);
        }
    }

    @Test
    void aPrefaceAndItsSettingsMayComeInOnePiece() throws IOException {
        try (var connection = asked()) {
            connection.send(Bytes.ascii(PREFACE), SETTINGS);
            awaitAnswer(connection);
        }
    }

    @Test
    void aClientThatGoesBeforeItsPrefaceIsNotAnswered() throws IOException {
        asked().close();
        try (var another = transport.connect()) {
            assertThat(another.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").status())
                    .isEqualTo(200);
        }
        assertThat(transport.calls.get()).isEqualTo(1);
    }

    /** The request that asked comes as an event, which holds memory. */
    @Test
    void eventsThatNobodyTakesAreReleased() {
        var channel = new EmbeddedChannel();
        channel.pipeline().addLast(new Http2Watch(new Connection(channel, TimeLimits.DEFAULT, new IdleConnections())));
        ByteBuf event = Unpooled.buffer();

        channel.pipeline().fireUserEventTriggered(event);

        assertThat(event.refCnt()).isZero();
    }
}
