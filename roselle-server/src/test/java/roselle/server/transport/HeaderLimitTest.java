package roselle.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import roselle.server.config.LimitOptions;

/** The limit of headers counts what they become, not what was sent. */
@SuppressWarnings("StringConcatToTextBlock") // line ends are what is tested
final class HeaderLimitTest {
    private static final String HEAD = "GET / HTTP/1.1\r\nHost: localhost\r\n";

    private TestTransport transport;

    @BeforeEach
    void start() {
        transport = new TestTransport(LimitOptions.DEFAULT);
    }

    @AfterEach
    void stop() {
        transport.close();
    }

    /** One header of 4 KB in the table of the connection, named 4,000 times by a byte each: 16 MB of headers a request. */
    @Test
    void refusesAHeaderThatIsNamedOverAndOver() throws IOException {
        byte[] names = new byte[4000];
        Arrays.fill(names, (byte) 0xbe);
        try (var connection = transport.connect()) {
            connection.send(Bytes.opening(), headers(1, Bytes.join(Bytes.get(), Bytes.indexed("x", "a".repeat(4000)))));
            assertThat(connection.frame(Bytes.DATA).payload()).isEqualTo("0");
            assertThat(transport.calls).hasValue(1);

            for (int stream = 3; stream < 23; stream += 2) {
                connection.send(headers(stream, Bytes.join(Bytes.get(), names)));
                assertThat(connection.frame(Bytes.RESET).stream()).isEqualTo(stream);
            }
            assertThat(transport.calls).hasValue(1);

            connection.send(headers(23, Bytes.get()));
            assertThat(connection.frame(Bytes.DATA).payload()).isEqualTo("0");
        }
    }

    private static byte[] headers(int stream, byte[] block) {
        return Bytes.frame(Bytes.HEADERS, Bytes.END_STREAM | Bytes.END_HEADERS, stream, block);
    }

    @Test
    void refusesHeadersThatGoOnInFurtherFrames() throws IOException {
        try (var connection = transport.connect()) {
            connection.send(Bytes.opening(), Bytes.frame(Bytes.HEADERS, Bytes.END_STREAM, 1, Bytes.get()));
            byte[] more = Bytes.indexed("y", "b".repeat(1000));
            try {
                for (int time = 0; time < 1000; time++) {
                    connection.send(Bytes.frame(Bytes.CONTINUATION, 0, 1, more));
                }
            } catch (IOException closed) {
                // as it should be
            }
            connection.rest();
        }
        assertThat(transport.calls).hasValue(0);
    }

    @Test
    void countsShortHeadersAsWhatTheyBecome() throws IOException {
        try (var connection = transport.connect()) {
            connection.send(HEAD + "a:\r\n".repeat(400) + "\r\n");
            assertThat(connection.status()).isEqualTo(200);
        }
        try (var connection = transport.connect()) {
            connection.send(HEAD + "a:\r\n".repeat(600) + "\r\n"); // 2.4 KB of bytes, 20 KB with a place for each
            assertThat(connection.rest()).startsWith("HTTP/1.1 431 ").endsWith("refused with 431");
        }
    }

    @Test
    void refusesLongHeadersAndALongFirstLine() throws IOException {
        try (var connection = transport.connect()) {
            connection.send(HEAD + "a: " + "b".repeat(20_000) + "\r\n\r\n");
            assertThat(connection.rest()).startsWith("HTTP/1.1 431 ");
        }
        try (var connection = transport.connect()) {
            connection.send("GET /" + "a".repeat(20_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assertThat(connection.rest()).startsWith("HTTP/1.1 414 ");
        }
        try (var connection = transport.connect()) {
            connection.send("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na: "
                    + "b".repeat(20_000) + "\r\n\r\n");
            assertThat(connection.rest()).startsWith("HTTP/1.1 431 ");
        }
    }
}
