package roselle.server.transport;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import roselle.api.InvalidRequestException;
import roselle.server.config.TlsOptions;

/** Reads the certificate and the key of a server that speaks TLS. */
final class PemFiles {
    private static final int MAX_BYTES = 1 << 20;

    private PemFiles() {}

    /**
     * What proves to be the server of the certificate.
     *
     * @param alias the name of the pair, in lower case
     * @throws InvalidRequestException if the files are not a certificate and its key
     * @throws UncheckedIOException if they cannot be read
     */
    static X509ExtendedKeyManager keys(TlsOptions options, String alias) {
        Certificate[] chain = certificates(options.certificates());
        PrivateKey key = PemKey.read(options.key(), text(options.key()), chain[0].getPublicKey());
        requirePair(options, key, chain[0].getPublicKey());
        try {
            var store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry(alias, key, new char[0], chain);
            var managers = KeyManagerFactory.getInstance("SunX509"); // whose aliases are the store's
            managers.init(store, new char[0]);
            return (X509ExtendedKeyManager) managers.getKeyManagers()[0];
        } catch (GeneralSecurityException refused) {
            throw new InvalidRequestException(
                    "TLS cannot be set up with " + options.certificates() + ": " + refused.getMessage(), refused);
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible); // nothing was read
        }
    }

    private static Certificate[] certificates(Path path) {
        try {
            var all =
                    CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(read(path)));
            if (all.isEmpty()) {
                throw noCertificate(path);
            }
            return all.toArray(Certificate[]::new);
        } catch (CertificateException malformed) {
            throw noCertificate(path);
        }
    }

    private static InvalidRequestException noCertificate(Path path) {
        return new InvalidRequestException(
                path + " has no certificate: it must be in PEM, between BEGIN CERTIFICATE and END CERTIFICATE");
    }

    private static String text(Path path) {
        return new String(read(path), StandardCharsets.ISO_8859_1);
    }

    /** A key of another certificate would only show in failing handshakes. */
    private static void requirePair(TlsOptions options, PrivateKey key, PublicKey certified) {
        boolean isPair;
        try {
            byte[] proof = {1, 2, 3};
            var signer = Signature.getInstance(algorithm(key));
            signer.initSign(key);
            signer.update(proof);
            byte[] signature = signer.sign();
            signer.initVerify(certified);
            signer.update(proof);
            isPair = signer.verify(signature);
        } catch (GeneralSecurityException different) {
            isPair = false;
        }
        if (!isPair) {
            throw new InvalidRequestException(
                    options.key() + " is not the key of the first certificate in " + options.certificates());
        }
    }

    private static String algorithm(PrivateKey key) {
        return switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> key.getAlgorithm();
        };
    }

    private static byte[] read(Path path) {
        try (var stream = Files.newInputStream(path)) {
            byte[] bytes = stream.readNBytes(MAX_BYTES + 1);
            if (bytes.length > MAX_BYTES) {
                throw new InvalidRequestException(path + " has more than " + MAX_BYTES + " bytes: it is no PEM file");
            }
            return bytes;
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
