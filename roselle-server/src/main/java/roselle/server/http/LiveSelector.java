package roselle.server.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.util.Set;

/** Gives a protocol connections that notice when their peer goes. */
record LiveSelector(ServerConnectionSelector protocol, boolean isHttp2, Deadlines deadlines)
        implements ServerConnectionSelector {
    @Override
    public int bytesToIdentifyConnection() {
        return protocol.bytesToIdentifyConnection();
    }

    @Override
    public Support supports(BufferData data) {
        return protocol.supports(data);
    }

    @Override
    public Set<String> supportedApplicationProtocols() {
        return protocol.supportedApplicationProtocols();
    }

    @Override
    public ServerConnection connection(ConnectionContext context) {
        var live = new LiveConnection(context, isHttp2, deadlines.limits());
        deadlines.identified(context.remotePeer().address(), live);
        return protocol.connection(live);
    }
}
