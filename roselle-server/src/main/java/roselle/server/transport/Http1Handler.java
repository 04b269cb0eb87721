package roselle.server.transport;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerUpgradeHandler.UpgradeEvent;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a connection in HTTP/1.1, one after the other.
 *
 * <p>It goes on reading while a request is being answered, which is how it learns that the peer has gone: what comes is kept for
 * later, up to a limit, beyond which the connection is broken off, because a peer that is not read from cannot be seen to go.
 * A peer that has all of its answer may send the next request, as long as it likes: that waits until the call is over.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
final class Http1Handler extends ChannelInboundHandlerAdapter implements Call.Owner {
    /** Bodies that come behind a request that is being answered. */
    private static final int MAX_EARLY_BYTES = 64 << 10;

    private static final int MAX_EARLY_PARTS = 256;
    /** A rest of a body that is read for nothing, so that the connection can go on. */
    private static final int MAX_UNWANTED_BYTES = 64 << 10;

    private final Connection connection;
    private final HeadDecoder decoder;
    private final CallStarter starter;
    private final boolean isSecure;
    private final ArrayDeque<HttpObject> early = new ArrayDeque<>();
    private int earlyBytes;
    private @Nullable Call call;
    private boolean isWhole = true; // whether all of the present request has come
    private boolean isClosing;
    private @Nullable ChannelHandlerContext context;
    private @Nullable AnswerWriter writer; // where nothing is done with the bytes on the way

    Http1Handler(Connection connection, HeadDecoder decoder, CallStarter starter, boolean isSecure) {
        this.connection = connection;
        this.decoder = decoder;
        this.starter = starter;
        this.isSecure = isSecure;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
        if (!isSecure && added.channel() instanceof DirectChannel direct) {
            writer = new AnswerWriter(direct, connection.context());
        }
    }

    // ---- what comes ----

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (isClosing || !(message instanceof HttpObject part)) {
            ReferenceCountUtil.release(message);
        } else if (call != null && isWhole) {
            keep(call, part);
        } else {
            take(context, part);
        }
    }

    private void keep(Call present, HttpObject part) {
        early.add(part);
        earlyBytes += part instanceof HttpContent content ? content.content().readableBytes() : 0;
        if (earlyBytes > MAX_EARLY_BYTES || early.size() > MAX_EARLY_PARTS) {
            if (present.isEnded()) {
                present().channel().config().setAutoRead(false); // until the call is over, which it nearly is
            } else {
                connection.closeNow();
            }
        }
    }

    private void take(ChannelHandlerContext context, HttpObject part) {
        try {
            if (part instanceof HttpRequest request) {
                begin(request);
            }
            if (part instanceof HttpContent content && !isClosing) {
                body(context, content);
            }
        } catch (RefusedException refusal) {
            refuse(context, refusal.status());
        } finally {
            ReferenceCountUtil.release(part);
        }
    }

    private void begin(HttpRequest request) {
        RequestHead head = RequestHead.ofHttp1(request, starter.maxHeaderBytes());
        isWhole = false;
        var begun = new Call(head, present(), this, connection.limits());
        call = begun;
        connection.enter(begun);
        starter.start(begun);
    }

    private void body(ChannelHandlerContext context, HttpContent content) {
        if (content.decoderResult().isFailure()) {
            breakBody(RequestHead.refusalOfBody(content.decoderResult().cause()));
            return;
        }
        if (call != null && !call.offer(content.content())) {
            context.channel().config().setAutoRead(false);
        }
        if (content instanceof LastHttpContent) {
            isWhole = true;
            if (call == null) {
                decoder.awaitsRequest(); // nobody wanted the rest
            } else {
                call.complete();
            }
        }
    }

    private void breakBody(RefusedException refusal) {
        if (call == null) {
            isClosing = true;
            connection.closeGently();
        } else {
            call.breakBody(refusal);
        }
    }

    private void refuse(ChannelHandlerContext context, int status) {
        isClosing = true;
        starter.refuse(context, status).addListener(_ -> connection.closeGently());
    }

    // ---- what a call asks ----

    @Override
    public void hold(HttpObject part) {
        if (writer == null) {
            present().write(part);
        } else {
            writer.hold(part);
        }
    }

    @Override
    public ChannelFuture write(HttpObject part) {
        return writer == null ? present().writeAndFlush(part) : writer.write(part);
    }

    @Override
    public boolean isSecure() {
        return isSecure;
    }

    @Override
    public SocketAddress peer() {
        return present().channel().remoteAddress();
    }

    private ChannelHandlerContext present() {
        if (context == null) {
            throw new IllegalStateException("asked before it was added");
        }
        return context;
    }

    @Override
    public boolean isHttp1() {
        return true;
    }

    @Override
    public boolean isLast(Call asked) {
        return asked.head().isLast() || starter.isEnding() || asked.isBroken() || !canBeReadToItsEnd(asked);
    }

    private static boolean canBeReadToItsEnd(Call asked) {
        long announced = asked.head().announced();
        return asked.isComplete()
                || (announced >= 0
                        && announced <= MAX_UNWANTED_BYTES
                        && !asked.head().expectsContinue());
    }

    @Override
    public void finished(Call finished) {
        connection.exit(finished);
        call = null;
        if (isClosing || !present().channel().isActive()) {
            return;
        }
        if (isLast(finished)) {
            isClosing = true;
            connection.closeGently();
        } else if (isWhole) {
            next();
        } else {
            connection.awaitsBody();
        }
    }

    private void next() {
        while ((call == null || !isWhole) && !isClosing && !early.isEmpty()) {
            HttpObject part = early.remove();
            earlyBytes -=
                    part instanceof HttpContent content ? content.content().readableBytes() : 0;
            take(present(), part);
        }
        if (call == null && isWhole && !isClosing) {
            decoder.awaitsRequest();
        }
    }

    @Override
    public void breakOff() {
        connection.closeNow();
    }

    // ---- the connection ----

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (call != null) {
            call.wake();
        }
        context.fireChannelWritabilityChanged();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof UpgradeEvent) {
            context.pipeline().remove(this);
        } else if (event instanceof SslCloseCompletionEvent) {
            connection.closeNow();
        }
        context.fireUserEventTriggered(event);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        early.forEach(ReferenceCountUtil::release);
        early.clear();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        connection.closeNow();
    }
}
