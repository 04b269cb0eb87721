package roselle.server.http;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import roselle.server.config.ServerConfig;
import roselle.server.transport.Call;
import roselle.server.transport.PeerGoneException;
import roselle.server.transport.Refusals;
import roselle.server.transport.Transport;

/** One port with HTTP/1.1 and HTTP/2, whose every request goes to the routes of the dialects. */
public final class HttpListener implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(HttpListener.class.getName());

    private final Routes routes;
    private final Handler handler;
    private final long bodyBytes;
    private final BodyRoom bodyRoom;
    private final Transport transport;

    private HttpListener(ServerConfig config, Routes routes, Turns turns) {
        this.routes = routes;
        handler = routes.chain();
        bodyBytes = config.limits().bodyBytes();
        bodyRoom = BodyRoom.of(bodyBytes, Runtime.getRuntime().maxMemory(), turns);
        transport = Transport.start(config.listen(), config.limits(), this::answer, refusals(routes.standard()));
    }

    /**
     * Listens; long bodies are read in turns.
     *
     * @throws UncheckedIOException if it cannot: another program has the port, or the address is not of this machine
     */
    public static HttpListener start(ServerConfig config, Routes routes, Turns turns) {
        return new HttpListener(config, routes, turns);
    }

    /** Says what is refused before there is an exchange: nobody knows yet which dialect was meant. */
    private static Refusals refusals(Conventions standard) {
        return status -> {
            ErrorAnswer answer = standard.error(Errors.transport(status), "");
            return new Refusals.Text(Exchange.JSON, new String(answer.body().toBytes(), StandardCharsets.UTF_8));
        };
    }

    private void answer(Call call) throws IOException {
        try (var share = bodyRoom.share(owner(call.peer()))) {
            Route route = routes.find(call.head());
            var exchange = new Exchange(call, new RequestBody(call, bodyBytes, share), route);
            answer(handler, exchange);
            exchange.finish();
        }
    }

    /** Who pays for a body until a key is known. */
    private static String owner(SocketAddress peer) {
        return peer instanceof InetSocketAddress internet ? AddressBlock.of(internet.getAddress()) : peer.toString();
    }

    /** Has a handler answer; what it throws is told. */
    static void answer(Handler handler, Exchange exchange) throws IOException {
        try {
            handler.handle(exchange);
        } catch (PeerGoneException gone) {
            throw gone;
        } catch (UncheckedIOException wrapped) {
            if (wrapped.getCause() instanceof PeerGoneException gone) {
                throw gone;
            }
            fail(exchange, wrapped);
        } catch (IOException | RuntimeException failure) {
            fail(exchange, failure);
        } catch (OutOfMemoryError memory) {
            LOG.log(System.Logger.Level.ERROR, "event=request_without_memory id=" + exchange.id(), memory);
            exchange.fail(Errors.of(memory));
        }
    }

    private static void fail(Exchange exchange, Exception failure) throws IOException {
        ApiException error = Errors.of(failure);
        if (error.kind() == ErrorKind.DEFECT) {
            LOG.log(System.Logger.Level.ERROR, "event=request_failed id=" + exchange.id(), failure);
        }
        exchange.fail(error);
    }

    /**
     * Reads the certificate and its key again, for the handshakes that follow.
     *
     * @throws roselle.api.InvalidRequestException if they are no good; what was read before stays
     * @throws UncheckedIOException if they cannot be read
     */
    public void rereadCertificate() {
        transport.rereadCertificate();
    }

    /** Why nobody, or not everybody, is served any more, in a sentence; or nothing. */
    public Optional<String> complaint() {
        return transport.complaint();
    }

    /** Whether it takes connections, or will. */
    public boolean isListening() {
        return transport.isListening();
    }

    public int port() {
        return transport.port();
    }

    /** Waits until every answer has left, and tells whether it has. */
    public boolean awaitAnswered(Duration patience) {
        return transport.awaitAnswered(patience);
    }

    /** Takes no more connections, lets the last bytes leave, and closes all. */
    @Override
    public void close() {
        transport.close();
    }
}
