package roselle.server.http;

import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.common.socket.PeerInfo;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.ProxyProtocolData;
import io.helidon.webserver.Router;
import io.helidon.webserver.ServerConnectionException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import roselle.server.config.TimeLimits;

/**
 * A connection that notices when its peer goes, also while nobody reads from it or writes to it.
 *
 * <p>In HTTP/1.1 nobody reads while a request is being answered. {@link #watch} then reads ahead on a virtual thread of its
 * own: an end of the stream or a failure means that the peer has gone, and bytes are kept for the protocol, which finds them
 * when it reads again. There is one read at a time: a protocol that reads during the watch waits for the same bytes. In HTTP/2
 * the protocol reads all the time, and each request is a stream that can be reset alone; {@link ResetFrames} looks for that in
 * the bytes that pass.
 */
final class LiveConnection implements ConnectionContext {
    /** In the place of a stream's number: the request has the connection to itself. */
    static final int WHOLE = 0;

    /** In the place of a deadline: there is none. */
    static final long NONE = Long.MIN_VALUE;

    private static final int MAX_EARLY_RESETS = 1024;

    private final ConnectionContext inner;
    private final DataReader reader = DataReader.create(this::pull);
    private final AtomicReference<@Nullable CompletableFuture<Optional<byte[]>>> readAhead = new AtomicReference<>();
    private final Map<Integer, PeerLiveness> requests = new ConcurrentHashMap<>();
    private final Set<Integer> earlyResets = ConcurrentHashMap.newKeySet();
    private final ResetFrames resetFrames = new ResetFrames(this::reset);
    private final TimeLimits limits;
    private volatile boolean isHttp2;
    private volatile boolean isGone;
    private volatile long headDeadline = NONE;

    LiveConnection(ConnectionContext inner, boolean isHttp2, TimeLimits limits) {
        this.inner = inner;
        this.isHttp2 = isHttp2;
        this.limits = limits;
    }

    TimeLimits limits() {
        return limits;
    }

    /** Whether the peer has taken longer than it may for what is waited for. */
    boolean isOverdue(long now) {
        long head = headDeadline;
        if (head != NONE && now - head > 0) {
            return true;
        }
        for (PeerLiveness peer : requests.values()) {
            if (peer.isOverdue(now)) {
                return true;
            }
        }
        return false;
    }

    // ---- requests come and go ----

    void enter(int stream, PeerLiveness peer) {
        headDeadline = NONE;
        isHttp2 |= stream != WHOLE; // also after an upgrade
        requests.put(stream, peer);
        if (isGone || earlyResets.remove(stream)) {
            peer.leave();
        }
    }

    void exit(int stream, PeerLiveness peer) {
        requests.remove(stream, peer);
    }

    private void reset(int stream) {
        PeerLiveness peer = requests.get(stream);
        if (peer != null) {
            peer.leave();
        } else if (earlyResets.size() < MAX_EARLY_RESETS) {
            earlyResets.add(stream);
        }
    }

    private void gone() {
        isGone = true;
        requests.values().forEach(PeerLiveness::leave);
    }

    // ---- reading ----

    /** Notices from now on when the peer goes. */
    void watch(int stream) {
        if (stream != WHOLE) {
            return; // HTTP/2 reads all the time
        }
        var ahead = new CompletableFuture<Optional<byte[]>>();
        if (readAhead.compareAndSet(null, ahead)) {
            Thread.ofVirtual().name("roselle-watch").start(() -> readAhead(ahead));
        }
    }

    private void readAhead(CompletableFuture<Optional<byte[]>> ahead) {
        try {
            Optional<byte[]> bytes = Optional.ofNullable(inner.serverSocket().get());
            if (bytes.isEmpty()) {
                gone();
            }
            ahead.complete(bytes);
        } catch (RuntimeException failure) {
            gone();
            ahead.completeExceptionally(failure);
        }
    }

    /** The next bytes for the protocol; null at the end, as the reader wants it. */
    private byte @Nullable [] pull() {
        byte[] bytes = next();
        if (bytes == null) {
            gone();
        } else {
            resetFrames.read(bytes);
            headBegins();
        }
        return bytes;
    }

    /** Bytes that come while nothing is being answered are those of the next request's head. */
    private void headBegins() {
        if (!isHttp2 && headDeadline == NONE && requests.isEmpty()) {
            headDeadline = System.nanoTime() + limits.head().toNanos();
        }
    }

    private byte @Nullable [] next() {
        DataReader identified = inner.dataReader();
        int buffered = identified.available();
        if (buffered > 0) { // what was read to tell the protocol
            return identified.readBuffer(buffered).readBytes();
        }
        var ahead = readAhead.getAndSet(null);
        try {
            return ahead == null ? inner.serverSocket().get() : ahead.get().orElse(null);
        } catch (UncheckedIOException failure) {
            gone();
            throw new ServerConnectionException("cannot read from the peer", failure);
        } catch (ExecutionException failure) {
            throw new ServerConnectionException("cannot read from the peer", failure);
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
            throw new ServerConnectionException("ended while waiting for the peer", interruption);
        }
    }

    @Override
    public DataReader dataReader() {
        return reader;
    }

    // ---- as it was ----

    @Override
    public ListenerContext listenerContext() {
        return inner.listenerContext();
    }

    @Override
    public ExecutorService executor() {
        return inner.executor();
    }

    @Override
    public DataWriter dataWriter() {
        return inner.dataWriter();
    }

    @Override
    public Router router() {
        return new LiveRouter(inner.router());
    }

    @Override
    public Optional<ProxyProtocolData> proxyProtocolData() {
        return inner.proxyProtocolData();
    }

    @Override
    public HelidonSocket serverSocket() {
        return inner.serverSocket();
    }

    @Override
    public PeerInfo remotePeer() {
        return inner.remotePeer();
    }

    @Override
    public PeerInfo localPeer() {
        return inner.localPeer();
    }

    @Override
    public boolean isSecure() {
        return inner.isSecure();
    }

    @Override
    public String socketId() {
        return inner.socketId();
    }

    @Override
    public String childSocketId() {
        return inner.childSocketId();
    }
}
