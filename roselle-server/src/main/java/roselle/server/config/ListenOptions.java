package roselle.server.config;

import java.net.InetAddress;
import java.net.UnknownHostException;
import roselle.api.InvalidRequestException;

/**
 * Where a server listens.
 *
 * @param host a name or an address of this machine
 * @param port 0 for any free one
 * @param tls the certificate, if it speaks TLS
 */
public record ListenOptions(String host, int port, TlsOptions tls) {
    public static final ListenOptions DEFAULT = new ListenOptions("127.0.0.1", 8000);

    /** Without TLS. */
    public ListenOptions(String host, int port) {
        this(host, port, TlsOptions.NONE);
    }

    public ListenOptions {
        if (host.isBlank()) {
            throw new InvalidRequestException("host is empty: it must be a name or an address of this machine");
        }
        if (port < 0 || port > 65_535) {
            throw new InvalidRequestException("port is " + port + ": it must be between 0 and 65535");
        }
    }

    /** Whether only this machine reaches it; a name that means nothing here is refused when it is listened on. */
    public boolean isLoopback() {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException unknown) {
            return true;
        }
    }
}
