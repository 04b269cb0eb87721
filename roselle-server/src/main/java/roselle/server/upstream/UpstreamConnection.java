package roselle.server.upstream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import roselle.server.transport.DirectChannel;

/** A connection to another server; who asks writes, and the event loop tells the request under way what comes. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
final class UpstreamConnection extends ChannelInboundHandlerAdapter {
    /** Bytes of a request that are written at once; a longer one leaves as its server takes it. */
    private static final int SHORT = 64 << 10;

    private static final HeadEncoder HEADS = new HeadEncoder();

    private final Upstreams owner;
    private final InetSocketAddress server;
    private volatile @Nullable DirectChannel channel;
    private volatile boolean asksForHead;
    private volatile boolean isSent; // all of the last request
    private volatile @Nullable Upstream current;
    private volatile long keptSince;
    private boolean isLast; // on the event loop
    private boolean isInterim; // what comes says nothing of the answer yet (1xx); on the event loop

    UpstreamConnection(Upstreams owner, InetSocketAddress server) {
        this.owner = owner;
        this.server = server;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        channel = (DirectChannel) context.channel();
        context.channel().closeFuture().addListener(_ -> owner.closed());
    }

    /** Whether there is a channel, whose end its owner will hear of. */
    boolean hasBegun() {
        return channel != null;
    }

    boolean isFresh(long nanos) {
        Channel open = channel;
        return open != null && open.isActive() && keptNanos(System.nanoTime()) < nanos;
    }

    /** How long it has waited for its next request. */
    long keptNanos(long now) {
        return now - keptSince;
    }

    /** Sends a request, whose answer goes to {@code upstream}. */
    void send(UpstreamRequest request, Upstream upstream) throws IOException {
        DirectChannel open = channel;
        if (open == null) {
            throw new EOFException(server + " has closed the connection");
        }
        asksForHead = request.method().equals(HttpMethod.HEAD.name());
        current = upstream;
        try {
            write(open, request);
        } catch (IOException gone) {
            breakOff(gone);
        }
        if (!open.isActive()) { // it may have gone before it knew of the request
            breakOff(null);
        }
    }

    boolean asksForHead() {
        return asksForHead;
    }

    private void write(DirectChannel open, UpstreamRequest request) throws IOException {
        byte[] body = request.body();
        boolean isShort = body.length <= SHORT;
        ByteBuf message = HEADS.head(request.method(), request.target(), headers(request), isShort ? body.length : 0);
        isSent = isShort;
        if (isShort) {
            message.writeBytes(body);
            open.writeNow(message);
        } else {
            message = Unpooled.wrappedBuffer(message, Unpooled.wrappedBuffer(body));
        }
        if (message.isReadable()) {
            isSent = false;
            open.writeAndFlush(message).addListener(sent -> {
                isSent = sent.isSuccess();
                if (!sent.isSuccess()) {
                    breakOff(sent.cause());
                }
            });
        }
    }

    private HttpHeaders headers(UpstreamRequest request) {
        var headers = new DefaultHttpHeaders();
        request.headers().forEach(header -> headers.add(header.getKey(), header.getValue()));
        headers.set(HttpHeaderNames.HOST, authority());
        if (request.body().length > 0 || request.method().equals("POST")) {
            headers.set(HttpHeaderNames.CONTENT_LENGTH, request.body().length);
        }
        return headers;
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
                isInterim = response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
            }
            if (!isInterim) {
                pass(context, upstream, part);
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void pass(ChannelHandlerContext context, Upstream upstream, HttpObject part) {
        if (part instanceof HttpResponse response) {
            isLast = !HttpUtil.isKeepAlive(response);
            upstream.begin(
                    new AnswerHead(response.status().code(), response.headers().entries()));
        }
        if (part instanceof HttpContent content && !upstream.offer(content.content())) {
            context.channel().config().setAutoRead(false);
        }
        if (part instanceof LastHttpContent) {
            finish(context, upstream);
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
        if (isLast || !isSent) { // nobody waits for a request that was answered before it had come
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

    /** Closes it, and waits until it is. */
    void closeNow() {
        Channel open = channel;
        if (open != null) {
            open.close().awaitUninterruptibly();
        }
    }
}
