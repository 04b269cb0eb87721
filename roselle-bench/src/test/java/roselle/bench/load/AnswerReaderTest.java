package roselle.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class AnswerReaderTest {
    private static final String CHUNKED =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/event-stream"
                    + "\r\nTransfer-Encoding: chunked\r\n\r\n8;x=y\r\ndata: a\n\r\n3\r\n\nda\r\n7\r\nta: b\n\n\r\n0\r\nT: r\r\n\r\n";

    @Test
    void readsTheSameLinesHoweverTheBytesAreCut() {
        for (int cut = 1; cut < CHUNKED.length(); cut++) {
            var lines = new ArrayList<String>();
            AnswerReader reader = begin(lines);
            feed(reader, CHUNKED.substring(0, cut));
            feed(reader, CHUNKED.substring(cut));

            assertThat(lines).as("cut at %s", cut).containsExactly("data: a", "", "data: b", "");
            assertThat(reader.isDone()).isTrue();
            assertThat(reader.isStream()).isTrue();
            assertThat(reader.keepsAlive()).isTrue();
        }
    }

    @Test
    void readsABodyOfKnownLength() {
        var lines = new ArrayList<String>();
        AnswerReader reader = begin(lines);
        feed(reader, "HTTP/1.1 429 Too Many\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlater");

        assertThat(reader.status()).isEqualTo(429);
        assertThat(lines).containsExactly("later");
        assertThat(reader.isDone()).isTrue();
        assertThat(reader.keepsAlive()).isFalse();
    }

    @Test
    void readsABodyUntilTheConnectionEnds() {
        var lines = new ArrayList<String>();
        AnswerReader reader = begin(lines);
        feed(reader, "HTTP/1.0 200 OK\r\n\r\nab\nc");

        assertThat(reader.isDone()).isFalse();
        assertThat(reader.end(0)).isTrue();
        assertThat(lines).containsExactly("ab", "c");
    }

    @Test
    void knowsAnAnswerThatWasCutOff() {
        AnswerReader reader = begin(new ArrayList<>());
        feed(reader, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");

        assertThat(reader.end(0)).isFalse();
    }

    @Test
    void refusesWhatIsNoHttp() {
        assertThatThrownBy(() -> feed(begin(new ArrayList<>()), "SSH-2.0-OpenSSH_9.6\r\n"))
                .isInstanceOf(ProtocolException.class);
        assertThatThrownBy(() ->
                        feed(begin(new ArrayList<>()), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"))
                .isInstanceOf(ProtocolException.class);
        assertThatThrownBy(() -> feed(begin(new ArrayList<>()), "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nzz\r\n"))
                .isInstanceOf(ProtocolException.class);
    }

    private static AnswerReader begin(List<String> lines) {
        var reader = new AnswerReader();
        reader.begin((bytes, length, nanos) -> lines.add(new String(bytes, 0, length, StandardCharsets.UTF_8)));
        return reader;
    }

    private static void feed(AnswerReader reader, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        reader.feed(bytes, bytes.length, 0);
    }
}
