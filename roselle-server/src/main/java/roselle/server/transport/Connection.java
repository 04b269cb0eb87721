package roselle.server.transport;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import roselle.server.config.TimeLimits;

/**
 * One connection: what it waits for, until when, and the calls that came on it. All on its event loop.
 *
 * <p>It is the first handler that bytes meet. At any moment a connection is in one of these states, each with a limit:
 *
 * <table>
 * <caption>States</caption>
 * <tr><td>no byte of a protocol, of a handshake, or of a next request has come</td><td>idle</td></tr>
 * <tr><td>a handshake, a preface, a head, a frame of HTTP/2 or a block of headers has begun</td><td>head</td></tr>
 * <tr><td>a body with its trailers comes, or a frame with a part of one</td><td>body</td></tr>
 * <tr><td>bytes wait for the peer, and none of them leaves</td><td>write</td></tr>
 * <tr><td>the last answer was given, and the peer is still sending</td><td>{@link #LAST_BYTES}</td></tr>
 * <tr><td>a call is being answered</td><td>none here: the engine has its own</td></tr>
 * </table>
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
final class Connection extends ChannelInboundHandlerAdapter {
    /** How long a peer may go on sending what nobody reads, so that it gets to read the answer that ended its connection. */
    static final Duration LAST_BYTES = Duration.ofSeconds(2);

    /** Time for a request that is on its way to a connection which is to make room for others. */
    private static final Duration LAST_CALL = Duration.ofMillis(50);

    /** Time for a polite end: a notice of TLS, a last frame of HTTP/2. */
    private static final Duration POLITE_END = Duration.ofMillis(200);

    private final Channel channel;
    private final TimeLimits limits;
    private final IdleConnections idle;
    private final Set<Call> calls = new HashSet<>(2);
    private @Nullable ChannelHandlerContext context;
    private long deadline;
    private long frameDeadline = Deadline.NONE;
    private long writeDeadline = Deadline.NONE;
    private long outputMark;
    private boolean isIdle = true;
    private boolean awaitsFirstByte = true;
    private boolean isHttp2;
    private boolean isLingering;
    private boolean isEnding;
    private boolean isExpired;

    Connection(Channel channel, TimeLimits limits, IdleConnections idle) {
        this.channel = channel;
        this.limits = limits;
        this.idle = idle;
        deadline = Deadline.in(limits.idle());
    }

    /** From here on it may be ended to make room for others, when it is idle. */
    void begin() {
        if (isIdle) {
            idle.add(this);
        }
        channel.closeFuture().addListener(_ -> idle.remove(this));
    }

    TimeLimits limits() {
        return limits;
    }

    // ---- what it waits for ----

    /** Nothing of a next request has come. */
    void awaitsRequest() {
        deadline = Deadline.in(limits.idle());
        isIdle = true;
        idle.add(this);
    }

    /** A part of a head has come. */
    void awaitsHead() {
        isBusy();
        deadline = Deadline.in(limits.head());
    }

    /** The rest of a body, which nobody reads, is to come. */
    void awaitsBody() {
        isBusy();
        deadline = Deadline.in(limits.body());
    }

    /** What is waited for is told elsewhere, or nothing is. */
    void awaitsNothing() {
        isBusy();
        deadline = Deadline.NONE;
    }

    private void isBusy() {
        if (isIdle) {
            isIdle = false;
            idle.remove(this);
        }
    }

    /** The protocol is HTTP/2, its preface has come. */
    void becomesHttp2() {
        isHttp2 = true;
        if (calls.isEmpty()) {
            awaitsRequest();
        }
    }

    /** The rest of a frame, or of a block of headers, is to come within a limit; the first of several counts. */
    void awaitsFrame(Duration limit) {
        if (frameDeadline == Deadline.NONE) {
            frameDeadline = Deadline.in(limit);
        }
    }

    void hasFrame() {
        frameDeadline = Deadline.NONE;
    }

    // ---- calls ----

    void enter(Call call) {
        calls.add(call);
        awaitsNothing();
    }

    void exit(Call call) {
        calls.remove(call);
        if (isHttp2 && calls.isEmpty()) {
            awaitsRequest();
            if (isEnding) {
                closeGently();
            }
        }
    }

    private void leaveAll() {
        List.copyOf(calls).forEach(Call::leave);
    }

    // ---- bytes ----

    /** From where bytes leave as they are. */
    ChannelHandlerContext context() {
        if (context == null) {
            throw new IllegalStateException("asked before it was added");
        }
        return context;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (isLingering) {
            ReferenceCountUtil.release(message);
            return;
        }
        if (awaitsFirstByte) {
            awaitsFirstByte = false;
            awaitsHead();
        }
        context.fireChannelRead(message);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        leaveAll();
        context.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof IOException) { // a reset: nobody reads what is still to be said
            leaveAll();
            closeNow();
        } else {
            context.fireExceptionCaught(cause);
        }
    }

    // ---- deadlines ----

    /** Ends the connection, or a stream of it, if its peer takes longer than it may. */
    void check(long now) {
        for (Call call : List.copyOf(calls)) {
            if (call.isOverdue(now)) {
                call.expire();
            }
        }
        checkOutput(now);
        if (Deadline.isOver(deadline, now)
                || Deadline.isOver(frameDeadline, now)
                || Deadline.isOver(writeDeadline, now)) {
            expire();
        }
    }

    /** Bytes that wait have the write limit from when the last of those before them left. */
    private void checkOutput(long now) {
        ChannelOutboundBuffer output = channel.unsafe().outboundBuffer();
        long waiting = output == null ? 0 : output.totalPendingWriteBytes();
        if (waiting == 0 || output == null) {
            writeDeadline = Deadline.NONE;
            return;
        }
        long mark = waiting * 31 + output.currentProgress();
        if (writeDeadline == Deadline.NONE || mark < outputMark) {
            writeDeadline = now + limits.write().toNanos();
        }
        outputMark = mark;
    }

    private void expire() {
        leaveAll();
        if (isExpired || isLingering) {
            closeNow();
            return;
        }
        isExpired = true;
        deadline = Deadline.in(POLITE_END);
        frameDeadline = Deadline.NONE;
        channel.close();
    }

    // ---- the end ----

    /**
     * Ends it, politely, to make room, unless a request begins to come within {@link #LAST_CALL}: one that lies in the system
     * already is read before that, however late the loop is. Any thread.
     */
    void endIfIdle() {
        channel.eventLoop()
                .schedule(
                        () -> {
                            if (isIdle) {
                                expire();
                            }
                        },
                        LAST_CALL.toMillis(),
                        TimeUnit.MILLISECONDS);
    }

    /** Closes without a word. */
    void closeNow() {
        if (context != null && !context.isRemoved()) {
            context.close(); // past TLS and HTTP/2, which would wait for the peer
        } else {
            channel.close();
        }
    }

    /**
     * Closes when the peer has stopped sending, or after {@link #LAST_BYTES}: a system that closes a connection on which bytes
     * arrive takes back what its peer has not read yet.
     */
    void closeGently() {
        if (isLingering) {
            return;
        }
        isBusy();
        isLingering = true;
        deadline = Deadline.in(LAST_BYTES);
        channel.config().setAutoRead(true);
        leaveAll();
        var secure = channel.pipeline().get(SslHandler.class);
        if (secure != null) {
            secure.closeOutbound();
        }
        if (context != null) {
            context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(_ -> endOutput());
        }
    }

    private void endOutput() {
        if (channel instanceof DuplexChannel duplex) {
            ChannelFuture ended = duplex.shutdownOutput();
            ended.addListener(_ -> {
                if (!ended.isSuccess()) {
                    closeNow();
                }
            });
        }
    }

    /** The protocol cannot go on; what was said of it leaves, and nothing else happens. */
    void fail() {
        leaveAll();
        channel.eventLoop().execute(this::closeGently);
    }

    /** The peer asks for nothing more: the connection ends when its calls are over. */
    void endWithCalls() {
        isEnding = true;
        if (calls.isEmpty()) {
            closeGently();
        }
    }

    /** The server ends: a peer is told, if the protocol has a way to, and one without calls goes now. */
    void end() {
        if (isHttp2 || calls.isEmpty()) {
            channel.close();
        }
        if (calls.isEmpty()) {
            deadline = Deadline.in(POLITE_END);
            isExpired = true;
        }
    }
}
