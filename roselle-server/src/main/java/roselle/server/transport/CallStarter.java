package roselle.server.transport;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/** Gives each call a virtual thread of its own, and answers what is no call. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
final class CallStarter {
    private static final System.Logger LOG = System.getLogger(CallStarter.class.getName());

    private final CallHandler handler;
    private final Refusals refusals;
    private final int maxHeaderBytes;
    private final AtomicInteger underWay = new AtomicInteger();
    private volatile boolean isEnding;

    CallStarter(CallHandler handler, Refusals refusals, int maxHeaderBytes) {
        this.handler = handler;
        this.refusals = refusals;
        this.maxHeaderBytes = maxHeaderBytes;
    }

    int maxHeaderBytes() {
        return maxHeaderBytes;
    }

    /** Calls that are not over. */
    int underWay() {
        return underWay.get();
    }

    /** From here on each answer is the last of its connection. */
    void end() {
        isEnding = true;
    }

    boolean isEnding() {
        return isEnding;
    }

    void start(Call call) {
        underWay.incrementAndGet();
        Thread.ofVirtual().name("roselle-request").start(() -> run(call));
    }

    private void run(Call call) {
        boolean isAnswered = false;
        try {
            handler.handle(call);
            isAnswered = true;
        } catch (IOException | RuntimeException | Error failure) {
            if (!isPeerGone(failure)) {
                LOG.log(System.Logger.Level.ERROR, "event=call_failed", failure);
            }
        } finally {
            underWay.decrementAndGet();
            call.close(isAnswered);
        }
    }

    private static boolean isPeerGone(Throwable failure) {
        return failure instanceof PeerGoneException
                || (failure instanceof UncheckedIOException wrapped && wrapped.getCause() instanceof PeerGoneException);
    }

    /** Answers what is no call. */
    ChannelFuture refuse(ChannelHandlerContext context, int status) {
        Refusals.Text text = refusals.text(status);
        byte[] body = text.body().getBytes(StandardCharsets.UTF_8);
        var response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), Unpooled.wrappedBuffer(body));
        response.headers()
                .set(HttpHeaderNames.DATE, DateHeader.now())
                .set(HttpHeaderNames.CONTENT_TYPE, text.contentType())
                .set(HttpHeaderNames.CONTENT_LENGTH, body.length)
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE); // none of HTTP/2's, where it does not go out
        return context.writeAndFlush(response);
    }
}
