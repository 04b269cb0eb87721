package roselle.server.upstream;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import roselle.server.transport.DirectChannel;

/**
 * Connections to other servers, each for one request at a time and kept for the next; thread-safe.
 *
 * <p>Those in use and those kept are together no more than it may have, as long as those in use are: where another is needed, the one
 * that was kept longest makes room for it.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
public final class Upstreams implements AutoCloseable {
    private static final int LOOPS = 2;
    /** Connections of one server that wait for a request. */
    private static final int MAX_KEPT = 256;
    /** So much shorter than servers keep theirs that few requests meet one that is being closed. */
    private static final Duration KEPT_FOR = Duration.ofSeconds(20);

    /** Between two looks for waits that have taken too long. */
    private static final long GLANCE_MILLIS = 100;

    private final MultiThreadIoEventLoopGroup loops = new MultiThreadIoEventLoopGroup(
            LOOPS, new DefaultThreadFactory("roselle-upstream", true), NioIoHandler.newFactory());
    private final Set<Upstream> underWay = ConcurrentHashMap.newKeySet();
    private final Map<InetSocketAddress, ConcurrentLinkedDeque<UpstreamConnection>> kept = new ConcurrentHashMap<>();
    private final AtomicInteger open = new AtomicInteger();
    private final int maxOpen;
    private final Bootstrap bootstrap;

    /**
     * No connections yet; one that is not there after {@code connectTimeout} fails.
     *
     * @param maxOpen connections of all servers together: at least as many as there are requests at a time
     */
    public Upstreams(Duration connectTimeout, int maxOpen) {
        this.maxOpen = maxOpen;
        bootstrap = new Bootstrap()
                .group(loops)
                .channelFactory(DirectChannel::new)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) connectTimeout.toMillis());
        loops.scheduleAtFixedRate(this::wakeOverdue, GLANCE_MILLIS, GLANCE_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void wakeOverdue() {
        long now = System.nanoTime();
        underWay.forEach(each -> each.wakeIfOverdue(now));
    }

    /** Begins a request; what becomes of it is told by {@link Upstream#awaitHead}. */
    public Upstream begin(InetSocketAddress server, UpstreamRequest request) {
        var begun = new Upstream(this, server, request);
        underWay.add(begun);
        return begun;
    }

    /** Nobody waits for it any more. */
    void ended(Upstream upstream) {
        underWay.remove(upstream);
    }

    /** A connection that an earlier request has left, or null. */
    @Nullable
    UpstreamConnection kept(InetSocketAddress server) {
        var all = kept.get(server);
        if (all == null) {
            return null;
        }
        for (var each = all.pollFirst(); each != null; each = all.pollFirst()) {
            if (each.isFresh(KEPT_FOR.toNanos())) {
                return each;
            }
            each.close();
        }
        return null;
    }

    UpstreamConnection connect(InetSocketAddress server) throws IOException {
        if (open.incrementAndGet() > maxOpen) {
            closeLongestKept();
        }
        var connection = new UpstreamConnection(this, server);
        ChannelFuture connected = bootstrap
                .clone()
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new AnswerDecoder(connection), connection);
                    }
                })
                .connect(server);
        connected.awaitUninterruptibly();
        if (!connected.isSuccess()) {
            if (connection.hasBegun()) {
                connection.closeNow();
            } else {
                closed();
            }
            throw (IOException) new ConnectException("no connection to " + server + ": "
                            + connected.cause().getMessage())
                    .initCause(connected.cause());
        }
        return connection;
    }

    private void closeLongestKept() {
        for (var longest = longestKept(); longest != null; longest = longestKept()) {
            var all = kept.get(longest.server());
            if (all != null && all.removeLastOccurrence(longest)) { // no request has taken it meanwhile
                longest.closeNow();
                return;
            }
        }
    }

    private @Nullable UpstreamConnection longestKept() {
        long now = System.nanoTime();
        UpstreamConnection longest = null;
        for (var all : kept.values()) {
            var last = all.peekLast();
            if (last != null && (longest == null || last.keptNanos(now) > longest.keptNanos(now))) {
                longest = last;
            }
        }
        return longest;
    }

    /** How many connections there are, in use and kept. */
    int open() {
        return open.get();
    }

    /** A connection is no more. */
    void closed() {
        open.decrementAndGet();
    }

    void keep(InetSocketAddress server, UpstreamConnection connection) {
        var all = kept.computeIfAbsent(server, _ -> new ConcurrentLinkedDeque<>());
        if (all.size() < MAX_KEPT) {
            all.addFirst(connection);
        } else {
            connection.close();
        }
    }

    /** Closes what nobody has used for a while. */
    public void sweep() {
        for (var all : kept.values()) {
            all.removeIf(each -> {
                boolean isFresh = each.isFresh(KEPT_FOR.toNanos());
                if (!isFresh) {
                    each.close();
                }
                return !isFresh;
            });
        }
    }

    @Override
    public void close() {
        kept.values().forEach(all -> all.forEach(UpstreamConnection::close));
        loops.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
