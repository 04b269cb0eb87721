package roselle.server.upstream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequestEncoder;
import java.nio.charset.StandardCharsets;

/** Encodes the heads of requests, on the thread that asks. */
final class HeadEncoder extends HttpRequestEncoder {
    private static final int USUAL_BYTES = 1024;

    /** A head, behind which there is room for so many bytes. */
    ByteBuf head(String method, String target, HttpHeaders headers, int room) {
        ByteBuf head = Unpooled.buffer(USUAL_BYTES + room);
        head.writeCharSequence(method + ' ' + target + " HTTP/1.1\r\n", StandardCharsets.ISO_8859_1);
        encodeHeaders(headers, head);
        head.writeCharSequence("\r\n", StandardCharsets.ISO_8859_1);
        return head;
    }
}
