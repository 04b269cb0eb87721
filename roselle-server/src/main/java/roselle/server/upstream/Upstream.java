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
        if (answer.status() >= 200) { // what comes before says nothing of the answer
            head = answer;
            notifyAll();
        }
    }

    /** A piece of the answer; false when no more should be read for now. */
    synchronized boolean offer(ByteBuf piece) {
        if (piece.isReadable()) {
            pieces.add(ByteBufUtil.getBytes(piece));
            waiting += piece.readableBytes();
            notifyAll();
        }
        isPaused |= waiting > MAX_WAITING; // the reader alone ends a pause: pieces still come after it has begun
        return !isPaused;
    }

    synchronized void complete() {
        if (head != null) {
            isComplete = true;
            notifyAll();
        }
    }

    synchronized void breakOff(UpstreamConnection by, @Nullable Throwable cause) {
        if (by == connection && !isComplete) {
            var end = new EOFException(by.server() + " has closed the connection");
            end.initCause(cause);
            broken = end;
            notifyAll();
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
        long end = System.nanoTime() + patience.toNanos();
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
        synchronized (this) {
            await(() -> head != null, end);
            return Objects.requireNonNull(head);
        }
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
        long end = System.nanoTime() + patience.toNanos();
        UpstreamConnection resumed = null;
        byte[] piece;
        synchronized (this) {
            await(() -> !pieces.isEmpty() || isComplete, end);
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

    /** Waits for a condition, whose change is told of by {@link #notifyAll}. */
    private synchronized void await(BooleanSupplier condition, long end) throws IOException {
        try {
            while (!condition.getAsBoolean()) {
                requireWanted();
                if (broken != null) {
                    throw broken;
                }
                long millis = (end - System.nanoTime()) / 1_000_000;
                if (millis <= 0) {
                    throw new SocketTimeoutException(server + " has sent nothing for too long");
                }
                wait(millis);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a server answered");
        }
    }

    /** Wants nothing any more: the server is told so by the end of the connection. */
    public void abort() {
        UpstreamConnection open;
        synchronized (this) {
            isAborted = true;
            open = isComplete ? null : connection;
            notifyAll();
        }
        if (open != null) {
            open.close();
        }
    }

    @Override
    public void close() {
        abort();
    }
}
