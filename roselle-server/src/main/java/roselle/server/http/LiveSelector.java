package roselle.server.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.nio.charset.StandardCharsets;
import java.util.Set;

/**
 * Gives a protocol connections that notice when their peer goes.
 *
 * <p>Requests in HTTP/1.0 go to HTTP/1.1's connection, which refuses them with an answer; nobody would else.
 */
record LiveSelector(ServerConnectionSelector protocol, boolean isHttp2, Deadlines deadlines)
        implements ServerConnectionSelector {
    private static final byte[] OLD = " HTTP/1.0\r".getBytes(StandardCharsets.US_ASCII);

    @Override
    public int bytesToIdentifyConnection() {
        return protocol.bytesToIdentifyConnection();
    }

    @Override
    public Support supports(BufferData data) {
        return !isHttp2 && isOld(data) ? Support.SUPPORTED : protocol.supports(data);
    }

    /** Whether the first line, which is not taken from the data, ends as one of HTTP/1.0 does. */
    private static boolean isOld(BufferData data) {
        int begin = data.indexOf((byte) '\n') - OLD.length;
        if (begin < 0) {
            return false;
        }
        for (int index = 0; index < OLD.length; index++) {
            if ((byte) data.get(begin + index) != OLD[index]) {
                return false;
            }
        }
        return true;
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
