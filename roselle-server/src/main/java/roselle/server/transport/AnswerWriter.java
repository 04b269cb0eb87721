package roselle.server.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponseEncoder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes the answers of a connection in HTTP/1.1 without TLS, on the threads that make them, one at a time: the event loop writes only
 * what the peer does not take at once, and is not woken else.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
final class AnswerWriter extends HttpResponseEncoder {
    private final DirectChannel channel;
    private final ChannelHandlerContext outermost; // from where bytes leave as they are
    private final List<HttpObject> held = new ArrayList<>(); // what leaves with the next part
    private @Nullable ChannelFuture rest; // that the event loop has to write

    AnswerWriter(DirectChannel channel, ChannelHandlerContext outermost) {
        this.channel = channel;
        this.outermost = outermost;
    }

    /** Keeps a part of an answer until the next one leaves. */
    void hold(HttpObject part) {
        held.add(part);
    }

    /** Has a part of an answer leave, behind those that were held; what comes of it is told when all of it has left. */
    ChannelFuture write(HttpObject part) {
        held.add(part);
        ByteBuf bytes = encoded();
        if (rest != null && !rest.isDone()) {
            rest = outermost.writeAndFlush(bytes);
            return rest;
        }
        try {
            channel.writeNow(bytes);
        } catch (IOException gone) {
            bytes.release();
            channel.close();
            return channel.newFailedFuture(gone);
        }
        if (bytes.isReadable()) {
            rest = outermost.writeAndFlush(bytes);
            return rest;
        }
        bytes.release();
        return channel.newSucceededFuture();
    }

    private ByteBuf encoded() {
        var bytes = new ArrayList<>();
        try {
            for (HttpObject part : held) {
                encode(outermost, part, bytes);
            }
        } catch (Exception defect) { // which its signature has: the parts are made by us
            throw new IllegalStateException(defect);
        }
        held.clear();
        return Unpooled.wrappedBuffer(bytes.toArray(ByteBuf[]::new));
    }
}
