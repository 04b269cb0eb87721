package roselle.server.http;

import io.helidon.http.HeaderValues;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.HttpSecurity;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;

/** Routes as another routing does, each request with the liveness of its peer in {@link #PEER}. */
final class LiveRouting implements HttpRouting {
    static final ScopedValue<PeerLiveness> PEER = ScopedValue.newInstance();

    private final HttpRouting inner;

    LiveRouting(HttpRouting inner) {
        this.inner = inner;
    }

    @Override
    public Class<HttpRouting> routingType() {
        return HttpRouting.class;
    }

    @Override
    public void route(ConnectionContext context, RoutingRequest request, RoutingResponse response) {
        int stream = request.prologue().protocolVersion().startsWith("2") ? request.id() : LiveConnection.WHOLE;
        try (var peer = new PeerLiveness((LiveConnection) context, stream)) {
            ScopedValue.where(PEER, peer).run(() -> inner.route(context, request, response));
        }
        if (stream == LiveConnection.WHOLE && response.headers().containsToken(HeaderValues.CONNECTION_CLOSE)) {
            throw new CloseConnectionException("this was to be the connection's last answer"); // else nobody closes it
        }
    }

    @Override
    public HttpSecurity security() {
        return inner.security();
    }

    @Override
    public void beforeStart() {
        inner.beforeStart();
    }

    @Override
    public void afterStart(WebServer server) {
        inner.afterStart(server);
    }

    @Override
    public void afterStop() {
        inner.afterStop();
    }
}
