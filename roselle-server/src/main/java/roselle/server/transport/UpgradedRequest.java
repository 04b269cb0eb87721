package roselle.server.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpServerUpgradeHandler.UpgradeEvent;
import io.netty.handler.codec.http2.Http2CodecUtil;
import org.jspecify.annotations.Nullable;

/**
 * Holds the request that asked for HTTP/2 back until the client's connection preface has come. An answer might leave at once (RFC
 * 7540, section 3.2), but Java's own client, when much of it comes together with the 101, now and then mixes its parts up.
 */
final class UpgradedRequest extends ChannelInboundHandlerAdapter {
    private final int prefaceBytes = Http2CodecUtil.connectionPrefaceBuf().readableBytes();
    private @Nullable UpgradeEvent held;
    private int seen;

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof UpgradeEvent upgrade) {
            held = upgrade; // with the reference that would have been passed on
        } else {
            context.fireUserEventTriggered(event);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        UpgradeEvent upgrade = held;
        if (upgrade != null && message instanceof ByteBuf bytes) {
            seen = Math.min(prefaceBytes, seen + bytes.readableBytes());
            if (seen == prefaceBytes) {
                held = null;
                context.fireUserEventTriggered(upgrade);
                context.fireChannelRead(message);
                context.pipeline().remove(this);
                return;
            }
        }
        context.fireChannelRead(message);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        if (held != null) {
            held.release();
            held = null;
        }
    }
}
