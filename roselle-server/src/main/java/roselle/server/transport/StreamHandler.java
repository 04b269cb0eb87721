package roselle.server.transport;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameStreamException;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.util.ReferenceCountUtil;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/** The one request of a stream of HTTP/2. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
final class StreamHandler extends ChannelInboundHandlerAdapter implements Call.Owner {
    private final Connection connection;
    private final CallStarter starter;
    private final boolean isSecure;
    private @Nullable ChannelHandlerContext context;
    private @Nullable Call call;
    private boolean isRefused;

    StreamHandler(Connection connection, CallStarter starter, boolean isSecure) {
        this.connection = connection;
        this.starter = starter;
        this.isSecure = isSecure;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        try {
            if (message instanceof HttpRequest request && call == null) {
                begin(context, request);
            }
            if (message instanceof HttpContent content && call != null) {
                body(context, call, content);
            }
        } catch (RefusedException refusal) {
            isRefused = true;
            starter.refuse(context, refusal.status()).addListener(_ -> reset(Http2Error.NO_ERROR));
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void begin(ChannelHandlerContext context, HttpRequest request) {
        var begun =
                new Call(RequestHead.ofHttp2(request, starter.maxHeaderBytes()), context, this, connection.limits());
        call = begun;
        connection.enter(begun);
        starter.start(begun);
    }

    private static void body(ChannelHandlerContext context, Call call, HttpContent content) {
        if (!call.offer(content.content())) {
            context.channel().config().setAutoRead(false);
        }
        if (content instanceof LastHttpContent) {
            call.complete();
        }
    }

    private void reset(Http2Error error) {
        if (context != null && context.channel().isActive()) {
            context.writeAndFlush(new DefaultHttp2ResetFrame(error));
        }
    }

    private void leave() {
        if (call != null) {
            call.leave();
        }
    }

    // ---- what a call asks ----

    @Override
    public void hold(HttpObject part) {
        present().write(part);
    }

    @Override
    public ChannelFuture write(HttpObject part) {
        return present().writeAndFlush(part);
    }

    private ChannelHandlerContext present() {
        if (context == null) {
            throw new IllegalStateException("asked before it was added");
        }
        return context;
    }

    @Override
    public boolean isSecure() {
        return isSecure;
    }

    @Override
    public SocketAddress peer() {
        return present().channel().parent().remoteAddress();
    }

    @Override
    public boolean isHttp1() {
        return false;
    }

    @Override
    public boolean isLast(Call asked) {
        return false;
    }

    @Override
    public void finished(Call finished) {
        connection.exit(finished);
        if (!finished.isComplete()) {
            reset(Http2Error.NO_ERROR); // the answer is whole: the rest of the request is not wanted
        }
    }

    @Override
    public void breakOff() {
        reset(Http2Error.CANCEL);
    }

    // ---- the stream ----

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (call != null) {
            call.wake();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof Http2ResetFrame) {
            leave();
        }
        context.fireUserEventTriggered(event);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        leave();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        leave();
        if (!isRefused) {
            reset(cause instanceof Http2FrameStreamException known ? known.error() : Http2Error.PROTOCOL_ERROR);
        }
    }
}
