package roselle.server.transport;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TimeZone;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import roselle.api.InvalidRequestException;
import roselle.server.config.LimitOptions;
import roselle.server.config.ListenOptions;

/**
 * One port with HTTP/1.1 and HTTP/2, with TLS or without.
 *
 * <p>A few event loops read and decode for all connections; each request has a virtual thread of its own, which may block, and
 * writes its answer itself, but for what TLS, HTTP/2 or a slow peer leaves to the loops.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
public final class Transport implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Transport.class.getName());

    private static final int MIN_LOOPS = 2;
    private static final int MAX_LOOPS = 8;
    private static final int BACKLOG = 1024;
    /** Bytes that wait in the system for one peer: so few that one that takes nothing is noticed, and thousands cost little. */
    private static final int SEND_BUFFER = 256 << 10;

    private static final int MIN_WAITING = 32 << 10;
    private static final int MAX_WAITING = 64 << 10;
    /** Time for last bytes to leave. */
    private static final Duration LAST_BYTES = Duration.ofSeconds(2);

    private static final Duration GLANCE = Duration.ofMillis(5);
    /** An event loop that has not gone round for so long serves nobody. */
    private static final Duration STUCK = Duration.ofSeconds(10);

    private final MultiThreadIoEventLoopGroup loops;
    private final Map<EventExecutor, LoopConnections> connections = new HashMap<>();
    private final IdleConnections idle = new IdleConnections();
    private final CallStarter starter;
    private final Optional<TlsKeys> tlsKeys;
    private final Channel listener;

    private Transport(ListenOptions listen, LimitOptions limits, CallHandler handler, Refusals refusals) {
        InternalLoggerFactory.setDefaultFactory(new SystemLoggers());
        int most = mostConnections(limits.connections());
        TimeZone.getDefault(); // a log line needs it, and a file for it, at the latest when there are no descriptors
        // left
        tlsKeys = listen.tls().isOn() ? Optional.of(new TlsKeys(listen.tls())) : Optional.empty();
        starter = new CallStarter(handler, refusals, (int) limits.headerBytes());
        int count = Math.clamp(Runtime.getRuntime().availableProcessors() / 2, MIN_LOOPS, MAX_LOOPS);
        loops = new MultiThreadIoEventLoopGroup(
                count, new DefaultThreadFactory("roselle-http", true), NioIoHandler.newFactory());
        loops.forEach(loop -> connections.put(loop, new LoopConnections((EventLoop) loop)));
        listener = bound(listen, limits, most);
    }

    /**
     * Listens.
     *
     * @throws UncheckedIOException if it cannot: another program has the port, or the address is not of this machine
     * @throws InvalidRequestException if the process may have too few descriptors
     */
    public static Transport start(ListenOptions listen, LimitOptions limits, CallHandler handler, Refusals refusals) {
        return new Transport(listen, limits, handler, refusals);
    }

    /** Connections that this process has room for, in both directions together. */
    public static int room() {
        return Descriptors.ofThisProcess().map(Descriptors::connections).orElse(Integer.MAX_VALUE);
    }

    private static int mostConnections(int wanted) {
        int room = room();
        if (room < 1) {
            throw new InvalidRequestException(
                    "this process may have no more descriptors for connections: raise the limit (ulimit -n)");
        }
        int most = wanted == 0 ? LimitOptions.MANY_CONNECTIONS : wanted;
        if (room < most) {
            LOG.log(
                    wanted == 0 ? System.Logger.Level.INFO : System.Logger.Level.WARNING,
                    "event=fewer_connections wanted={0} room={1} reason=\"limit of descriptors: raise ulimit -n\"",
                    Integer.toString(most),
                    Integer.toString(room));
        }
        return Math.min(most, room);
    }

    private Channel bound(ListenOptions listen, LimitOptions limits, int most) {
        var tls = tlsKeys.map(TlsKeys::forConnections);
        var bootstrap = new ServerBootstrap()
                .group(loops)
                .channelFactory(DirectChannel.Listener::new)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .option(ChannelOption.RECVBUF_ALLOCATOR, oneAtATime())
                .handler(new Acceptor(most, idle::endLongest))
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_SNDBUF, SEND_BUFFER)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(MIN_WAITING, MAX_WAITING))
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        var connection = new Connection(channel, limits.times(), idle);
                        Objects.requireNonNull(connections.get(channel.eventLoop()))
                                .add(channel, connection);
                        var protocols = new Protocols(connection, starter, tls.isPresent());
                        channel.pipeline().addLast(connection);
                        tls.ifPresentOrElse(
                                context -> channel.pipeline()
                                        .addLast(TlsKeys.handler(context, channel.alloc()), protocols.byHandshake()),
                                () -> channel.pipeline().addLast(protocols.byFirstBytes()));
                    }
                });
        ChannelFuture bound = bootstrap.bind(new InetSocketAddress(listen.host(), listen.port()));
        bound.awaitUninterruptibly();
        if (!bound.isSuccess()) {
            endLoops();
            throw cannotListen(listen, bound.cause());
        }
        return bound.channel();
    }

    /** So that there are never more connections than there is room for. */
    private static ServerChannelRecvByteBufAllocator oneAtATime() {
        var one = new ServerChannelRecvByteBufAllocator();
        one.maxMessagesPerRead(1);
        return one;
    }

    private static UncheckedIOException cannotListen(ListenOptions listen, Throwable cause) {
        String at = listen.host() + ":" + listen.port();
        if (cause instanceof BindException taken) {
            return new UncheckedIOException((IOException) new BindException(at + " cannot be listened on ("
                            + taken.getMessage()
                            + "): choose another port, and a host that is a name or an address of this machine")
                    .initCause(taken));
        }
        return new UncheckedIOException(new IOException(at + " cannot be listened on: " + cause, cause));
    }

    /** Why nobody, or not everybody, is served any more, in a sentence; or nothing. */
    public Optional<String> complaint() {
        return complaint(STUCK);
    }

    /** The same, where an event loop may take so long for a round. */
    Optional<String> complaint(Duration patience) {
        return isListening()
                ? connections.values().stream()
                        .map(LoopConnections::sinceLastRound)
                        .filter(since -> since.compareTo(patience) > 0)
                        .findFirst()
                        .map(since -> "a thread that reads and writes for connections has done nothing for "
                                + since.toSeconds() + " s")
                : Optional.of("the server no longer listens: restart it");
    }

    /** Whether it takes connections, or will, and every thread is there that reads and writes for them. */
    public boolean isListening() {
        return listener.isOpen() && connections.keySet().stream().noneMatch(EventExecutor::isShuttingDown);
    }

    public int port() {
        return ((InetSocketAddress) listener.localAddress()).getPort();
    }

    /**
     * Reads the certificate and its key again, for the handshakes that follow.
     *
     * @throws InvalidRequestException if they are no good; what was read before stays
     * @throws UncheckedIOException if they cannot be read
     */
    public void rereadCertificate() {
        tlsKeys.ifPresent(TlsKeys::reread);
    }

    /** Waits until every answer has left, and tells whether it has. */
    public boolean awaitAnswered(Duration patience) {
        long end = System.nanoTime() + patience.toNanos();
        while (starter.underWay() > 0
                && System.nanoTime() < end
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(GLANCE.toNanos());
        }
        return starter.underWay() == 0;
    }

    /** Takes no more connections, lets the last bytes leave, and closes all. */
    @Override
    public void close() {
        listener.close().awaitUninterruptibly();
        starter.end();
        onEachLoop(LoopConnections::end);
        awaitAnswered(LAST_BYTES);
        onEachLoop(LoopConnections::close);
        endLoops();
    }

    private void onEachLoop(Consumer<LoopConnections> action) {
        connections.forEach((loop, own) -> {
            if (!loop.isShuttingDown()) { // one that has died holds nobody
                loop.submit(() -> action.accept(own)).awaitUninterruptibly(LAST_BYTES.toMillis());
            }
        });
    }

    private void endLoops() {
        loops.shutdownGracefully(0, LAST_BYTES.toMillis(), TimeUnit.MILLISECONDS)
                .awaitUninterruptibly();
    }
}
