package roselle.server.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Knows, from the bytes of HTTP/2 as they pass, whether a frame or a block of headers has begun and not ended (RFC 9113, sections
 * 4.1 and 6.10): the decoder behind it waits for the rest of one without an end. It does not judge them.
 */
final class HeaderBlocks extends ChannelInboundHandlerAdapter {
    private static final int PREFACE = 24;
    private static final int HEADER = 9;
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int CONTINUATION = 9;
    private static final int END_HEADERS = 4;

    private final Connection connection;
    private int prefaceLeft = PREFACE;
    private final byte[] header = new byte[HEADER];
    private int headerBytes;
    private int payloadLeft;
    private int type;
    private boolean isBlockOpen;

    HeaderBlocks(Connection connection) {
        this.connection = connection;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof ByteBuf bytes) {
            read(bytes.readerIndex(), bytes);
        }
        context.fireChannelRead(message);
    }

    private void read(int begin, ByteBuf bytes) {
        int index = begin + preface(bytes.writerIndex() - begin);
        while (index < bytes.writerIndex()) {
            if (payloadLeft > 0) {
                int skipped = Math.min(payloadLeft, bytes.writerIndex() - index);
                payloadLeft -= skipped;
                index += skipped;
            } else {
                header(bytes.getByte(index++));
            }
            if (payloadLeft == 0 && headerBytes == 0 && !isBlockOpen) {
                connection.hasFrame();
            }
        }
        tell();
    }

    private int preface(int available) {
        int taken = Math.min(prefaceLeft, available);
        prefaceLeft -= taken;
        if (taken > 0 && prefaceLeft == 0) {
            connection.becomesHttp2();
        }
        return taken;
    }

    private void header(byte next) {
        header[headerBytes++] = next;
        if (headerBytes < HEADER) {
            return;
        }
        headerBytes = 0;
        payloadLeft = ((header[0] & 0xFF) << 16) | ((header[1] & 0xFF) << 8) | (header[2] & 0xFF);
        type = header[3];
        if (type == HEADERS || type == CONTINUATION) {
            isBlockOpen = (header[4] & END_HEADERS) == 0;
        }
    }

    private void tell() {
        if (isBlockOpen || headerBytes > 0 || (payloadLeft > 0 && type != DATA)) {
            connection.awaitsFrame(connection.limits().head());
        } else if (payloadLeft > 0) {
            connection.awaitsFrame(connection.limits().body());
        }
    }
}
