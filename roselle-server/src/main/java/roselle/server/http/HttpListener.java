package roselle.server.http;

import io.helidon.common.socket.SocketOptions;
import io.helidon.common.tls.Tls;
import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.http.encoding.ContentEncodingContext;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.http2.Http2Config;
import io.helidon.webserver.http2.Http2ConnectionSelector;
import io.helidon.webserver.http2.Http2Upgrader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import roselle.server.config.LimitOptions;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServerConfig;

/** One port with HTTP/1.1 and HTTP/2, whose every request goes to the routes of the dialects. */
public final class HttpListener implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(HttpListener.class.getName());

    /** Time for answers that are complete to leave. */
    private static final Duration LAST_BYTES = Duration.ofSeconds(2);

    private static final Duration GLANCE = Duration.ofMillis(5);
    /** Bytes that wait in the system for one peer: so few that one that takes nothing is noticed, and thousands cost little. */
    private static final int SEND_BUFFER = 256 << 10;

    private final WebServer web;
    private final Routes routes;
    private final Handler handler;
    private final long bodyBytes;
    private final Deadlines deadlines;
    private final Optional<TlsKeys> tlsKeys;
    private final BodyRoom bodyRoom;
    private final AtomicInteger underWay = new AtomicInteger();

    private HttpListener(ServerConfig config, Routes routes) {
        this.routes = routes;
        handler = routes.chain();
        bodyBytes = config.limits().bodyBytes();
        bodyRoom = BodyRoom.of(bodyBytes, Runtime.getRuntime().maxMemory());
        deadlines = new Deadlines(config.limits().times());
        tlsKeys = config.listen().tls().isOn()
                ? Optional.of(new TlsKeys(config.listen().tls()))
                : Optional.empty();
        web = web(config);
    }

    /**
     * Listens.
     *
     * @throws UncheckedIOException if it cannot: another program has the port, or the address is not of this machine
     */
    public static HttpListener start(ServerConfig config, Routes routes) {
        requireFree(config.listen());
        var listener = new HttpListener(config, routes);
        listener.web.start();
        if (!listener.web.isRunning()) {
            throw new UncheckedIOException(new java.net.BindException(at(config.listen()) + " cannot be listened on"));
        }
        return listener;
    }

    /** The web server below only logs that it cannot listen; so ask first. */
    private static void requireFree(ListenOptions listen) {
        try (var probe = new ServerSocket()) {
            probe.setReuseAddress(true);
            probe.bind(new InetSocketAddress(listen.host(), listen.port()));
        } catch (java.net.BindException taken) {
            throw new UncheckedIOException((IOException) new java.net.BindException(at(listen)
                            + " cannot be listened on (" + taken.getMessage()
                            + "): choose another port, and a host that is a name or an address of this machine")
                    .initCause(taken));
        } catch (IOException | IllegalArgumentException unusable) {
            throw new UncheckedIOException(
                    new IOException(at(listen) + " cannot be listened on: " + unusable, unusable));
        }
    }

    private static String at(ListenOptions listen) {
        return listen.host() + ":" + listen.port();
    }

    private WebServer web(ServerConfig config) {
        LimitOptions limits = config.limits();
        var web = WebServer.builder()
                .shutdownHook(false)
                .featuresDiscoverServices(false)
                .protocolsDiscoverServices(false)
                .host(config.listen().host())
                .port(config.listen().port())
                .connectionOptions(new ArrivalOptions(
                        SocketOptions.builder()
                                .tcpNoDelay(true)
                                .socketSendBufferSize(SEND_BUFFER)
                                .build(),
                        deadlines::arrived))
                .maxPayloadSize(limits.bodyBytes() + 1) // ours refuses first, with a better sentence
                .maxTcpConnections(limits.connections())
                .idleConnectionTimeout(limits.times().idle())
                .shutdownGracePeriod(LAST_BYTES)
                .writeBufferSize(0)
                .contentEncoding(ContentEncodingContext.builder()
                        .contentEncodingsDiscoverServices(false)
                        .build())
                .addConnectionSelector(new LiveSelector(http2(limits), true, deadlines))
                .addConnectionSelector(new LiveSelector(http1(limits), false, deadlines))
                .directHandlers(directHandlers())
                .routing(HttpRouting.builder().any(this::answer));
        tlsKeys.ifPresent(keys -> {
            web.tls(Tls.builder().sslContext(keys.context()).build());
            web.useNio(false); // over channels it would look the peer's name up
        });
        return web.build();
    }

    private static Http1ConnectionSelector http1(LimitOptions limits) {
        var config = Http1Config.builder()
                .maxHeadersSize(limits.headerBytes())
                .maxPrologueLength(limits.headerBytes())
                .build();
        return Http1ConnectionSelector.builder()
                .config(config)
                .putUpgrader("h2c", Http2Upgrader.create(http2Config(limits)))
                .build();
    }

    private static Http2ConnectionSelector http2(LimitOptions limits) {
        return Http2ConnectionSelector.builder()
                .http2Config(http2Config(limits))
                .build();
    }

    private static Http2Config http2Config(LimitOptions limits) {
        return Http2Config.builder()
                .maxHeaderListSize(limits.headerBytes())
                .maxConcurrentStreams(256)
                .build();
    }

    /** Answers what the web server refuses before there is an exchange: nobody knows yet which dialect was meant. */
    private DirectHandlers directHandlers() {
        var handlers = DirectHandlers.builder();
        for (var type : DirectHandler.EventType.values()) {
            handlers.addHandler(type, this::refuse);
        }
        return handlers.build();
    }

    private DirectHandler.TransportResponse refuse(
            DirectHandler.TransportRequest request,
            DirectHandler.EventType type,
            Status status,
            ServerResponseHeaders headers,
            String message) {
        headers.set(HeaderNames.CONTENT_TYPE, "application/json");
        ErrorAnswer answer = routes.standard().error(Errors.transport(status));
        return DirectHandler.TransportResponse.builder()
                .status(status)
                .headers(headers)
                .entity(answer.body().toBytes())
                .build();
    }

    private void answer(ServerRequest request, ServerResponse response) {
        underWay.incrementAndGet();
        try (var share = bodyRoom.share()) {
            PeerLiveness peer = LiveRouting.PEER.get();
            Route route = routes.find(request.prologue().uriPath().rawPath());
            var exchange =
                    new Exchange(request, response, peer, new RequestBody(request, peer, bodyBytes, share), route);
            answer(exchange);
            exchange.finish();
        } catch (IOException | UncheckedIOException gone) {
            throw new CloseConnectionException("the peer has gone", gone);
        } finally {
            underWay.decrementAndGet();
        }
    }

    private void answer(Exchange exchange) throws IOException {
        try {
            handler.handle(exchange);
        } catch (UncheckedIOException | CloseConnectionException gone) {
            throw gone;
        } catch (RuntimeException failure) {
            ApiException error = Errors.of(failure);
            if (error.kind() == ErrorKind.DEFECT) {
                LOG.log(System.Logger.Level.ERROR, "event=request_failed id=" + exchange.id(), failure);
            }
            exchange.fail(error);
        }
    }

    /**
     * Reads the certificate and its key again, for the handshakes that follow.
     *
     * @throws roselle.api.InvalidRequestException if they are no good; what was read before stays
     * @throws UncheckedIOException if they cannot be read
     */
    public void rereadCertificate() {
        tlsKeys.ifPresent(TlsKeys::reread);
    }

    public int port() {
        return web.port();
    }

    /** Waits until every answer has left, and tells whether it has. */
    public boolean awaitAnswered(Duration patience) {
        long end = System.nanoTime() + patience.toNanos();
        while (underWay.get() > 0
                && System.nanoTime() < end
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(GLANCE.toNanos());
        }
        return underWay.get() == 0;
    }

    /** Takes no more connections, lets the last bytes leave, and closes all. */
    @Override
    public void close() {
        web.stop();
        deadlines.close();
    }
}
