package roselle.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.server.config.TimeLimits;

/**
 * Requests of which each byte in turn is another, read by what connections read with and by a strict reference: where
 * the two do not see the same requests, with the same bodies, somebody on the way could be made to see others.
 */
@SuppressWarnings("StringConcatToTextBlock") // line ends are what is tested
final class GrammarTest {
    private static final int MAX_HEAD = 1 << 14;

    /** Bytes that mean something somewhere, and some that mean nothing. */
    private static final int[] OTHERS = {
        0, 1, '\t', '\n', 11, 12, '\r', ' ', '"', '#', '%', '+', ',', '-', '/', '0', '1', '9', ':', ';', '=', '?', 'A',
        'G', 'a', 'f', 'x', 127, 128, 133, 160, 255
    };

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /v1?a=b HTTP/1.1\r\nHost: localhost\r\nA: b c\r\n\r\nGET /2 HTTP/1.1\r\nHost: b\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: l\r\nContent-Length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\nHost: b\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: l\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "3\r\nabc\r\n0\r\n\r\nGET /2 HTTP/1.1\r\nHost: b\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: l\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "01;a=b\r\nx\r\n1d\r\n01234567890123456789012345678\r\n0\r\nT: u\r\n\r\n"
                        + "GET /2 HTTP/1.1\r\nHost: b\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: l\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"
            })
    void readsWhatAStrictReaderReads(String text) {
        byte[] bytes = Bytes.ascii(text);
        assertThat(read(bytes)).isEqualTo(StrictReader.read(bytes, false));
        var differences = new ArrayList<String>();
        for (int index = 0; index < bytes.length; index++) {
            byte original = bytes[index];
            for (int value : OTHERS) {
                bytes[index] = (byte) value;
                compare(bytes, index, differences);
            }
            for (int bit = 1; bit < 256; bit <<= 1) {
                bytes[index] = (byte) (original ^ bit);
                compare(bytes, index, differences);
            }
            bytes[index] = original;
        }
        assertThat(differences).isEmpty();
    }

    private static void compare(byte[] bytes, int index, List<String> differences) {
        List<String> read = read(bytes);
        List<String> expected = StrictReader.read(bytes, false);
        if (!isSame(read, expected) && !isSame(read, StrictReader.read(bytes, true))) {
            differences.add(
                    "byte %d is %d: read %s, should be %s".formatted(index, bytes[index] & 255, read, expected));
        }
    }

    private static boolean isSame(List<String> read, List<String> expected) {
        return accepted(read).equals(accepted(expected)) && isSound(read) == isSound(expected);
    }

    /** Without what became of the rest: that more must come is as good as a refusal. */
    private static List<String> accepted(List<String> seen) {
        return isSound(seen) ? seen : seen.subList(0, seen.size() - 1);
    }

    private static boolean isSound(List<String> seen) {
        return !seen.getLast().equals("refused") && !seen.getLast().equals("more");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "+3",
                "-1",
                "-0",
                "0x3",
                "G",
                "",
                " 3",
                "3 ",
                "3\t",
                "8000000000000000",
                "ffffffffffffffff",
                "80000000",
                "100000000",
                "3,",
                "3\0",
                "٣",
                "3;a=b\n",
                "3\n;"
            })
    void refusesASizeThatIsNone(String size) {
        byte[] bytes = Bytes.ascii(
                "POST / HTTP/1.1\r\nHost: l\r\nTransfer-Encoding: chunked\r\n\r\n" + size + "\r\nabc\r\n0\r\n\r\n");
        assertThat(read(bytes)).last().asString().isIn("refused", "more");
        assertThat(read(bytes)).noneMatch(part -> part.startsWith("end"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\0GET / HTTP/1.1\r\nHost: l\r\n\r\n",
                "GET /#a HTTP/1.1\r\nHost: l\r\n\r\n",
                "GET /a b HTTP/1.1\r\nHost: l\r\n\r\n",
                "GET /%4 HTTP/1.1\r\nHost: l\r\n\r\n",
                "GET example.org HTTP/1.1\r\nHost: l\r\n\r\n",
                "CONNECT l:80 HTTP/1.1\r\nHost: l\r\n\r\n",
                "GET / HTTP/1.1\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nA : b\r\n\r\n",
                "GET / HTTP/1.1\nHost: a\n\n",
                "GET / HTTP/3.0\r\nHost: a\r\n\r\n",
                "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: l\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: l\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: l\r\nTransfer-Encoding: identity\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: l\r\nContent-Length: +3\r\n\r\nabc",
                "POST / HTTP/1.1\r\nHost: l\r\nContent-Length: 3, 3\r\n\r\nabc",
                "POST / HTTP/1.1\r\nHost: l\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
                "POST / HTTP/1.1\r\nHost: l\r\nContent-Length: 99999999999999999999\r\n\r\nabc"
            })
    void refusesARequestThatIsNone(String text) {
        assertThat(read(Bytes.ascii(text))).isEqualTo(List.of("refused"));
        assertThat(StrictReader.read(Bytes.ascii(text), true)).isEqualTo(List.of("refused"));
    }

    /** What connections see: for each request its first line, its body, and that it ended; last a refusal, or that more must come. */
    private static List<String> read(byte[] bytes) {
        var channel = new EmbeddedChannel();
        var connection = new Connection(channel, TimeLimits.DEFAULT, new IdleConnections());
        var decoder = new HeadDecoder(connection, MAX_HEAD);
        channel.pipeline().addLast(decoder);
        channel.writeInbound(Unpooled.copiedBuffer(bytes));
        boolean leftOver = decoder.hasUnread();
        var seen = new ArrayList<String>();
        var body = new StringBuilder();
        try {
            for (Object part = channel.readInbound(); part != null; part = channel.readInbound()) {
                see(part, body, seen);
                ReferenceCountUtil.release(part);
            }
        } catch (RefusedException refused) {
            assertThat(refused.status()).isNotEqualTo(500);
            seen.add("refused");
        }
        channel.finishAndReleaseAll();
        if (!seen.isEmpty() && seen.getLast().equals("refused")) {
            return seen;
        }
        if (seen.isEmpty() || !seen.getLast().startsWith("end") || leftOver) {
            seen.add("more");
        }
        return seen;
    }

    private static void see(Object part, StringBuilder body, List<String> seen) {
        if (part instanceof HttpRequest request) {
            RequestHead head = RequestHead.ofHttp1(request, MAX_HEAD);
            seen.add(head.method() + " " + head.path() + " " + head.authority());
        }
        if (part instanceof HttpContent content) {
            if (content.decoderResult().isFailure()) {
                throw RequestHead.refusal(content.decoderResult().cause());
            }
            body.append(content.content().toString(StandardCharsets.ISO_8859_1));
            if (part instanceof LastHttpContent) {
                seen.add("end of " + body);
                body.setLength(0);
            }
        }
    }
}
