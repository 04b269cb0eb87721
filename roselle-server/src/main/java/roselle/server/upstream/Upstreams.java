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
import org.jspecify.annotations.Nullable;
import roselle.server.transport.DirectChannel;

/** Connections to other servers, each for one request at a time and kept for the next; thread-safe. */
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
    private final Bootstrap bootstrap;

    /** No connections yet; one that is not there after {@code connectTimeout} fails. */
    public Upstreams(Duration connectTimeout) {
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
            throw (IOException) new ConnectException("no connection to " + server + ": "
                            + connected.cause().getMessage())
                    .initCause(connected.cause());
        }
        return connection;
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
