package roselle.server.transport;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.util.ReferenceCountUtil;

/**
 * What happens to a connection of HTTP/2 as a whole.
 *
 * <p>A peer that says that it goes away without an error still reads what it has asked for (RFC 9113, section 6.8). One that says
 * it with an error, and one that breaks the protocol, reads nothing more: its calls end at once.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
final class Http2Watch extends ChannelInboundHandlerAdapter {
    private final Connection connection;

    Http2Watch(Connection connection) {
        this.connection = connection;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        try {
            if (message instanceof Http2GoAwayFrame goAway) {
                end(goAway);
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void end(Http2GoAwayFrame goAway) {
        if (goAway.errorCode() == Http2Error.NO_ERROR.code()) {
            connection.endWithCalls();
        } else {
            connection.fail();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslCloseCompletionEvent) {
            connection.closeNow();
        }
        context.fireUserEventTriggered(event); // to who releases it, and before that to what is left of HTTP/1.1
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        connection.fail();
    }
}
