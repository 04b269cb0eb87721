package roselle.server.upstream;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** A connection to another server; its event loop tells the request under way what comes. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
final class UpstreamConnection extends ChannelInboundHandlerAdapter {
    private final Upstreams owner;
    private final InetSocketAddress server;
    private volatile @Nullable Channel channel;
    private volatile @Nullable Upstream current;
    private volatile long keptSince;
    private boolean isLast; // on the event loop

    UpstreamConnection(Upstreams owner, InetSocketAddress server) {
        this.owner = owner;
        this.server = server;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        channel = context.channel();
    }

    boolean isFresh(long nanos) {
        Channel open = channel;
        return open != null && open.isActive() && System.nanoTime() - keptSince < nanos;
    }

    /** Sends a request, whose answer goes to {@code upstream}. */
    void send(UpstreamRequest request, Upstream upstream) throws IOException {
        Channel open = channel;
        if (open == null) {
            throw new EOFException(server + " has closed the connection");
        }
        current = upstream;
        var message = new DefaultFullHttpRequest(
                HttpVersion.HTTP_1_1,
                HttpMethod.valueOf(request.method()),
                request.target(),
                Unpooled.wrappedBuffer(request.body()));
        request.headers().forEach(header -> message.headers().add(header.getKey(), header.getValue()));
        message.headers().set(HttpHeaderNames.HOST, authority());
        if (request.body().length > 0 || request.method().equals("POST")) {
            message.headers().set(HttpHeaderNames.CONTENT_LENGTH, request.body().length);
        }
        open.writeAndFlush(message).addListener(sent -> {
            if (!sent.isSuccess()) {
                breakOff(sent.cause());
            }
        });
        if (!open.isActive()) { // it may have gone before it knew of the request
            breakOff(null);
        }
    }

    private String authority() {
        String host = server.getHostString();
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + server.getPort();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        try {
            Upstream upstream = current;
            if (upstream == null
                    || !(message instanceof HttpObject part)
                    || part.decoderResult().isFailure()) {
                breakOff(
                        message instanceof HttpObject part
                                ? part.decoderResult().cause()
                                : null);
                return;
            }
            if (part instanceof HttpResponse response) {
                isLast = !HttpUtil.isKeepAlive(response);
                upstream.begin(new AnswerHead(
                        response.status().code(), response.headers().entries()));
            }
            if (part instanceof HttpContent content && !upstream.offer(content.content())) {
                context.channel().config().setAutoRead(false);
            }
            if (part instanceof LastHttpContent) {
                finish(context, upstream);
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        Upstream upstream = current;
        if (upstream != null) {
            upstream.tell();
        }
    }

    private void finish(ChannelHandlerContext context, Upstream upstream) {
        current = null;
        context.channel().config().setAutoRead(true);
        if (isLast) {
            context.close();
        } else {
            keptSince = System.nanoTime();
            owner.keep(server, this);
        }
        upstream.complete();
    }

    void resume() {
        Channel open = channel;
        if (open != null) {
            open.eventLoop().execute(() -> open.config().setAutoRead(true));
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        breakOff(null);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        breakOff(cause);
    }

    private void breakOff(@Nullable Throwable cause) {
        Upstream upstream = current;
        current = null;
        close();
        if (upstream != null) {
            upstream.breakOff(this, cause);
        }
    }

    InetSocketAddress server() {
        return server;
    }

    void close() {
        Channel open = channel;
        if (open != null) {
            open.close();
        }
    }
}
