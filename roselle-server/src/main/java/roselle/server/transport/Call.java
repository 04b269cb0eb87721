package roselle.server.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import roselle.server.config.TimeLimits;

/**
 * A request whose head has come, with the way of its body and of its answer.
 *
 * <p>One virtual thread reads and writes. The event loop of the connection brings pieces of the body, says when the peer takes
 * bytes again, and when it has gone; what both touch is guarded by this object. Little waits between them: the loop stops
 * reading when {@link #MAX_WAITING} bytes of a body are not fetched, and the thread stops writing when the peer takes nothing.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
public final class Call implements Link {
    /** The largest part of an answer that is handed to the connection at a time, and must be taken within the write limit. */
    private static final int PIECE = 64 << 10;

    private static final int MAX_WAITING = 2 * PIECE;
    private static final long NONE = Deadline.NONE;

    private final RequestHead head;
    private final ChannelHandlerContext context;
    private final Owner owner;
    private final TimeLimits limits;
    private final HttpHeaders headers = new DefaultHttpHeaders();
    private final ArrayDeque<byte[]> pieces = new ArrayDeque<>();
    private final List<Runnable> whenGone = new ArrayList<>();
    private final Doorbell bell = new Doorbell();
    private long waiting;
    private boolean isPaused;
    private boolean isComplete;
    private @Nullable RefusedException broken;
    private volatile boolean isGone;
    private volatile boolean isOver;
    private volatile boolean isEnded; // the last byte of the answer has been handed over
    private boolean isFinished; // on the event loop
    private boolean isBegun;
    private boolean isContinued;
    private volatile long bodyDeadline = NONE;
    private volatile long writeDeadline = NONE;
    private volatile long endDeadline = NONE;

    /** The connection, or the stream of HTTP/2, that a call came on; on its event loop, where nothing else is said. */
    interface Owner {
        boolean isSecure();

        SocketAddress peer();

        /** Whether the headers of an answer must say which bytes are its body: HTTP/2 has frames for that. */
        boolean isHttp1();

        /** Whether the connection ends with this answer; on the call's thread, as it begins to answer. */
        boolean isLast(Call call);

        /** Keeps a part of an answer until the next one leaves; on the call's thread. */
        void hold(HttpObject part);

        /** Has a part of an answer leave, and tells when all of it has; on the call's thread. */
        ChannelFuture write(HttpObject part);

        /** The call is over, and all of its answer has been taken, unless it was broken off. */
        void finished(Call call);

        /** Breaks the connection or the stream off. */
        void breakOff();
    }

    Call(RequestHead head, ChannelHandlerContext context, Owner owner, TimeLimits limits) {
        this.head = head;
        this.context = context;
        this.owner = owner;
        this.limits = limits;
        bodyDeadline = Deadline.in(limits.body());
    }

    // ---- the event loop's side ----

    /** A piece of the body has come; false when no more should be read for now. */
    synchronized boolean offer(ByteBuf piece) {
        if (piece.isReadable() && !isOver) {
            pieces.add(ByteBufUtil.getBytes(piece));
            waiting += piece.readableBytes();
            bell.ring();
        }
        isPaused = waiting > MAX_WAITING;
        return !isPaused;
    }

    /** All of the body has come. */
    synchronized void complete() {
        isComplete = true;
        bodyDeadline = NONE;
        bell.ring();
    }

    /** What came is no body. */
    synchronized void breakBody(RefusedException refusal) {
        broken = refusal;
        bodyDeadline = NONE;
        bell.ring();
    }

    /** The peer takes bytes again. */
    void wake() {
        bell.ring();
    }

    /** The peer has gone. */
    void leave() {
        List<Runnable> due;
        synchronized (this) {
            if (isGone || isOver) {
                return;
            }
            isGone = true;
            due = List.copyOf(whenGone);
            whenGone.clear();
        }
        bell.ring();
        due.forEach(Runnable::run);
    }

    boolean isOverdue(long now) {
        return Deadline.isOver(bodyDeadline, now)
                || Deadline.isOver(writeDeadline, now)
                || Deadline.isOver(endDeadline, now);
    }

    /** The peer took too long, or its end was not heard of, for lack of memory. */
    void expire() {
        leave();
        owner.breakOff();
        if (isOver) {
            finish();
        }
    }

    /** Whether the whole body has come. */
    synchronized boolean isComplete() {
        return isComplete;
    }

    synchronized boolean isBroken() {
        return broken != null || isGone;
    }

    /** Whether the peer may have all of the answer, though the call is not over, and so may ask for the next thing. */
    boolean isEnded() {
        return isEnded;
    }

    // ---- the request ----

    @Override
    public RequestHead head() {
        return head;
    }

    @Override
    public SocketAddress peer() {
        return owner.peer();
    }

    @Override
    public boolean isSecure() {
        return owner.isSecure();
    }

    @Override
    public byte[] read() throws IOException {
        askForBody();
        byte[] piece;
        boolean resumes;
        await(this::hasNews);
        synchronized (this) {
            piece = pieces.poll();
            if (piece == null) {
                requireSound();
                return new byte[0];
            }
            waiting -= piece.length;
            resumes = isPaused && waiting <= MAX_WAITING;
            isPaused &= !resumes;
        }
        if (resumes) {
            context.executor().execute(() -> context.channel().config().setAutoRead(true));
        }
        return piece;
    }

    private synchronized boolean hasNews() {
        return !pieces.isEmpty() || isComplete || broken != null;
    }

    @Override
    public synchronized void expectPiece(boolean isDue) {
        bodyDeadline = isComplete ? NONE : Deadline.in(isDue ? limits.body() : limits.idle());
    }

    @Override
    public synchronized void expectNothing() {
        bodyDeadline = NONE;
    }

    private void requireSound() {
        if (broken != null) {
            throw broken;
        }
    }

    /** Whether the request has no body, as far as its head and what has come tell. */
    public synchronized boolean isEmpty() {
        return isComplete && pieces.isEmpty();
    }

    private void askForBody() {
        boolean asks;
        synchronized (this) {
            asks = head.expectsContinue() && !isContinued && !isBegun && !isComplete && pieces.isEmpty();
            isContinued = true;
        }
        if (asks) {
            owner.write(new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
        }
    }

    // ---- the answer ----

    @Override
    public void header(String name, String value) {
        headers.set(name, value);
    }

    @Override
    public void answer(int status, byte[] content) throws IOException {
        isBegun = true;
        var code = HttpResponseStatus.valueOf(status);
        if (status != HttpResponseStatus.NO_CONTENT.code()) {
            headers.set(HttpHeaderNames.CONTENT_LENGTH, content.length);
        }
        tellRest();
        byte[] sent = head.method().equals(HttpMethod.HEAD.name()) ? new byte[0] : content;
        if (sent.length <= PIECE) {
            isEnded = true;
            finish(owner.write(new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1, code, Unpooled.wrappedBuffer(sent), headers, EmptyHttpHeaders.INSTANCE)));
        } else {
            owner.hold(new DefaultHttpResponse(HttpVersion.HTTP_1_1, code, headers));
            write(sent, sent.length);
            end();
        }
    }

    @Override
    public void begin(int status) throws IOException {
        isBegun = true;
        if (owner.isHttp1()) {
            headers.set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
        }
        tellRest();
        requirePeer();
        owner.hold(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), headers));
    }

    private void tellRest() {
        headers.set(HttpHeaderNames.DATE, DateHeader.now());
        if (owner.isLast(this)) {
            headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
    }

    @Override
    public void write(byte[] bytes, int length) throws IOException {
        for (int begin = 0; begin < length; begin += PIECE) {
            awaitWritable();
            byte[] piece = Arrays.copyOfRange(bytes, begin, Math.min(length, begin + PIECE));
            owner.write(new DefaultHttpContent(Unpooled.wrappedBuffer(piece)));
        }
    }

    @Override
    public void end() throws IOException {
        awaitWritable();
        isEnded = true;
        finish(owner.write(LastHttpContent.EMPTY_LAST_CONTENT));
    }

    @Override
    public void end(Map<String, String> trailers) throws IOException {
        awaitWritable();
        isEnded = true;
        var last = new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER);
        trailers.forEach(last.trailingHeaders()::set);
        finish(owner.write(last));
    }

    private void finish(ChannelFuture last) throws IOException {
        if (!last.isDone()) {
            last.addListener(_ -> wake());
            awaitTaken(last::isDone);
        }
        if (!last.isSuccess()) {
            throw new PeerGoneException(last.cause());
        }
    }

    private void awaitWritable() throws IOException {
        requirePeer();
        if (!context.channel().isWritable()) {
            awaitTaken(() -> context.channel().isWritable());
        }
    }

    private void awaitTaken(BooleanSupplier condition) throws IOException {
        writeDeadline = Deadline.in(limits.write());
        try {
            await(condition);
        } finally {
            writeDeadline = NONE;
        }
    }

    /** Waits for a condition; whoever changes what it looks at rings the bell. */
    private void await(BooleanSupplier condition) throws IOException {
        try {
            bell.await(() -> isGone || condition.getAsBoolean());
            if (!condition.getAsBoolean()) {
                requirePeer();
            }
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
            throw new PeerGoneException(interruption); // the server ends, which is the same to its threads
        }
    }

    private void requirePeer() throws IOException {
        if (isGone) {
            throw new PeerGoneException(null);
        }
    }

    // ---- the peer ----

    public boolean isGone() {
        return isGone;
    }

    @Override
    public void whenGone(Runnable action) {
        synchronized (this) {
            if (isOver) {
                return;
            }
            if (!isGone) {
                whenGone.add(action);
                return;
            }
        }
        action.run();
    }

    @Override
    public synchronized void unwatch(Runnable action) {
        whenGone.remove(action);
    }

    /** The handler is done. */
    void close(boolean isAnswered) {
        synchronized (this) {
            isOver = true;
            whenGone.clear();
            pieces.clear();
        }
        endDeadline = Deadline.in(limits.write());
        context.executor().execute(() -> {
            context.channel().config().setAutoRead(true);
            if (!isAnswered) {
                owner.breakOff();
            }
            finish();
        });
    }

    private void finish() {
        if (!isFinished) {
            isFinished = true;
            owner.finished(this);
        }
    }
}
