package roselle.server.upstream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import roselle.server.transport.Deadline;
import roselle.server.transport.Doorbell;

/**
 * A request to another server, and its answer.
 *
 * <p>One thread waits for the head and reads the pieces; the event loop of the connection brings them, and stops reading when {@link
 * #MAX_WAITING} bytes are not fetched. {@link #abort} may be called by any thread.
 */
public final class Upstream implements AutoCloseable {
    private static final int MAX_WAITING = 128 << 10;
    private static final byte[] END = new byte[0];

    private final Upstreams owner;
    private final InetSocketAddress server;
    private final UpstreamRequest request;
    private final ArrayDeque<byte[]> pieces = new ArrayDeque<>();
    private final Doorbell bell = new Doorbell();
    private volatile long deadline = Deadline.NONE; // of the present wait
    private @Nullable UpstreamConnection connection;
    private @Nullable AnswerHead head;
    private @Nullable IOException broken;
    private long waiting;
    private boolean isPaused;
    private boolean isComplete;
    private boolean isAborted;

    Upstream(Upstreams owner, InetSocketAddress server, UpstreamRequest request) {
        this.owner = owner;
        this.server = server;
        this.request = request;
    }

    // ---- the event loop's side ----

    synchronized void begin(AnswerHead answer) {
        head = answer;
    }

    /** A piece of the answer; false when no more should be read for now. */
    synchronized boolean offer(ByteBuf piece) {
        if (piece.isReadable()) {
            pieces.add(ByteBufUtil.getBytes(piece));
            waiting += piece.readableBytes();
        }
        isPaused |= waiting > MAX_WAITING; // the reader alone ends a pause: pieces still come after it has begun
        return !isPaused;
    }

    synchronized void complete() {
        isComplete = true;
        bell.ring();
    }

    synchronized void breakOff(UpstreamConnection by, @Nullable Throwable cause) {
        if (by == connection && !isComplete) {
            var end = new EOFException(by.server() + " has closed the connection");
            end.initCause(cause);
            broken = end;
            bell.ring();
        }
    }

    /** What has come so far can be read: told once for all that came at a time. */
    void tell() {
        bell.ring();
    }

    void wakeIfOverdue(long now) {
        if (Deadline.isOver(deadline, now)) {
            bell.ring();
        }
    }

    // ---- the reader's side ----

    /**
     * Sends the request and waits for the head of its answer. A connection that was kept may have been closed by the server while the
     * request was on its way; it is then sent on another one.
     *
     * @throws IOException if the server cannot be reached, goes before it answers, or takes longer
     */
    public AnswerHead awaitHead(Duration patience) throws IOException {
        long end = Deadline.in(patience);
        for (var kept = owner.kept(server); kept != null; kept = owner.kept(server)) {
            try {
                return sendOn(kept, end);
            } catch (EOFException closed) {
                requireWanted();
            }
        }
        return sendOn(owner.connect(server), end);
    }

    private AnswerHead sendOn(UpstreamConnection way, long end) throws IOException {
        synchronized (this) {
            connection = way;
            broken = null;
        }
        requireWanted();
        way.send(request, this);
        await(this::hasHead, end);
        synchronized (this) {
            return Objects.requireNonNull(head);
        }
    }

    private synchronized boolean hasHead() {
        return head != null;
    }

    private synchronized void requireWanted() throws IOException {
        if (isAborted) {
            throw new InterruptedIOException("nobody wants the answer any more");
        }
    }

    /**
     * Waits for the next piece of the answer; empty at its end.
     *
     * @throws IOException if the answer breaks off, or nothing comes for so long
     */
    public byte[] read(Duration patience) throws IOException {
        long end = Deadline.in(patience);
        UpstreamConnection resumed = null;
        byte[] piece;
        await(this::hasPiece, end);
        synchronized (this) {
            piece = pieces.poll();
            if (piece == null) {
                return END;
            }
            waiting -= piece.length;
            if (isPaused && waiting <= MAX_WAITING / 2) {
                isPaused = false;
                resumed = isComplete ? null : connection;
            }
        }
        if (resumed != null) {
            resumed.resume();
        }
        return piece;
    }

    private synchronized boolean hasPiece() {
        return !pieces.isEmpty() || isComplete;
    }

    /** Waits for a condition; whoever changes what it looks at rings the bell. */
    private void await(BooleanSupplier condition, long end) throws IOException {
        deadline = end;
        try {
            bell.await(() -> condition.getAsBoolean() || hasEnded() || Deadline.isOver(end, System.nanoTime()));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a server answered");
        } finally {
            deadline = Deadline.NONE;
        }
        if (!condition.getAsBoolean()) {
            requireWanted();
            requireSound();
            throw new SocketTimeoutException(server + " has sent nothing for too long");
        }
    }

    private synchronized boolean hasEnded() {
        return isAborted || broken != null;
    }

    private synchronized void requireSound() throws IOException {
        if (broken != null) {
            throw broken;
        }
    }

    /** Wants nothing any more: the server is told so by the end of the connection. */
    public void abort() {
        UpstreamConnection open;
        synchronized (this) {
            isAborted = true;
            open = isComplete ? null : connection;
        }
        bell.ring();
        if (open != null) {
            open.close();
        }
    }

    @Override
    public void close() {
        abort();
        owner.ended(this);
    }
}
