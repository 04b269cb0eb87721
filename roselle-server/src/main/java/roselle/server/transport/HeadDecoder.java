package roselle.server.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.List;

/**
 * Decodes requests of HTTP/1.1 within limits, and knows whether one has begun.
 *
 * <p>The decoder below takes any white space within the first line, and before it; here a first line has two spaces, and is the
 * first thing that comes but for empty lines (RFC 9112, sections 2.2 and 3).
 */
final class HeadDecoder extends HttpRequestDecoder {
    private static final int PIECE = 64 << 10;
    private static final byte CR = '\r';
    private static final byte LF = '\n';
    private static final byte SPACE = ' ';
    private static final String VERSION = "HTTP/d.d";

    private final Connection connection;
    private final int maxBytes;
    private boolean isBetween = true;
    private boolean hasFirstLine;
    private boolean isRefused;

    HeadDecoder(Connection connection, int maxBytes) {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength(maxBytes)
                .setMaxHeaderSize(maxBytes)
                .setMaxChunkSize(PIECE)
                .setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true));
        this.connection = connection;
        this.maxBytes = maxBytes;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
        if (isBetween) {
            isBetween = false;
            connection.awaitsHead();
        }
        super.channelRead(context, message);
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) throws Exception {
        if (isRefused) {
            in.skipBytes(in.readableBytes());
        } else if (hasFirstLine || findsFirstLine(in, out)) {
            int known = out.size();
            super.decode(context, in, out);
            hasFirstLine &= out.subList(known, out.size()).stream().noneMatch(LastHttpContent.class::isInstance);
        }
    }

    /** Whether a first line has come, or so much that it is none; one that is wrong is refused. */
    private boolean findsFirstLine(ByteBuf in, List<Object> out) {
        skipEmptyLines(in);
        int begin = in.readerIndex();
        int end = in.indexOf(begin, in.writerIndex(), LF);
        if (end < 0) {
            return in.readableBytes() > maxBytes;
        }
        hasFirstLine = end - begin > maxBytes || isFirstLine(in, begin, end);
        if (!hasFirstLine) {
            isRefused = true;
            in.skipBytes(in.readableBytes());
            HttpMessage refused = createInvalidMessage();
            refused.setDecoderResult(DecoderResult.failure(new RefusedException(400, "the first line is none")));
            out.add(refused);
        }
        return hasFirstLine;
    }

    private static void skipEmptyLines(ByteBuf in) {
        while (in.readableBytes() > 1 && in.getByte(in.readerIndex()) == CR && in.getByte(in.readerIndex() + 1) == LF) {
            in.skipBytes(2);
        }
    }

    /** Three words with a space between, the last a version, and at the end a carriage return before the line feed. */
    private static boolean isFirstLine(ByteBuf in, int begin, int end) {
        int version = end - 1 - VERSION.length();
        int first = in.indexOf(begin, end, SPACE);
        return version > begin
                && in.getByte(end - 1) == CR
                && isVersion(in, version)
                && first > begin
                && in.indexOf(first + 1, end, SPACE) == version - 1
                && version - 1 > first + 1
                && in.forEachByte(begin, version - begin, octet -> octet >= SPACE && octet < 127) < 0;
    }

    private static boolean isVersion(ByteBuf in, int at) {
        for (int index = 0; index < VERSION.length(); index++) {
            int octet = in.getByte(at + index);
            int wanted = VERSION.charAt(index);
            if (wanted == 'd' ? (octet < '0' || octet > '9') : octet != wanted) {
                return false;
            }
        }
        return true;
    }

    /** Whether bytes have come of which no request was made yet. */
    boolean hasUnread() {
        return hasFirstLine || actualReadableBytes() > 0;
    }

    /** A request and its answer are over. */
    void awaitsRequest() {
        if (hasUnread()) {
            connection.awaitsHead();
        } else {
            isBetween = true;
            connection.awaitsRequest();
        }
    }
}
