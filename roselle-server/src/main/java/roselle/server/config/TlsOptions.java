package roselle.server.config;

import java.nio.file.Path;
import roselle.api.InvalidRequestException;

/**
 * The certificate and the key of a server that speaks TLS; both files in PEM.
 *
 * @param certificates the server's own first, then those that signed it; empty for no TLS
 * @param key its private key, in PKCS #8, PKCS #1 or SEC 1, not encrypted
 */
public record TlsOptions(Path certificates, Path key) {
    public static final TlsOptions NONE = new TlsOptions(Path.of(""), Path.of(""));

    public TlsOptions {
        if (certificates.toString().isEmpty() != key.toString().isEmpty()) {
            throw new InvalidRequestException("TLS needs both a certificate and a key: one of them is missing");
        }
    }

    public boolean isOn() {
        return !certificates.toString().isEmpty();
    }
}
