package roselle.server.http;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import roselle.api.InvalidRequestException;
import roselle.server.config.TlsOptions;

/** Reads the certificate and the key of a server that speaks TLS. */
final class PemFiles {
    private static final int MOST_BYTES = 1 << 20;
    private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String END = "-----END PRIVATE KEY-----";

    private PemFiles() {}

    /**
     * A context that proves to be the server of the certificate.
     *
     * @throws InvalidRequestException if the files are not a certificate and its key
     * @throws UncheckedIOException if they cannot be read
     */
    static SSLContext context(TlsOptions options) {
        Certificate[] chain = certificates(options.certificates());
        PrivateKey key = key(options.key(), chain[0].getPublicKey().getAlgorithm());
        requirePair(options, key, chain[0].getPublicKey());
        try {
            var store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("server", key, new char[0], chain);
            var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            managers.init(store, new char[0]);
            var context = SSLContext.getInstance("TLS");
            context.init(managers.getKeyManagers(), null, null);
            return context;
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

    private static PrivateKey key(Path path, String algorithm) {
        String text = new String(read(path), StandardCharsets.ISO_8859_1);
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new InvalidRequestException(path + " has no key between BEGIN PRIVATE KEY and END PRIVATE KEY:"
                    + " turn another kind into it with openssl pkcs8 -topk8 -nocrypt");
        }
        try {
            byte[] bytes = Base64.getMimeDecoder().decode(text.substring(begin + BEGIN.length(), end));
            return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(bytes));
        } catch (IllegalArgumentException | InvalidKeySpecException malformed) {
            throw new InvalidRequestException(
                    path + " has a key that is damaged, or not " + algorithm + " as the certificate's");
        } catch (GeneralSecurityException unknown) {
            throw new InvalidRequestException("keys of the kind " + algorithm + " are not known: use RSA or EC");
        }
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
            byte[] bytes = stream.readNBytes(MOST_BYTES + 1);
            if (bytes.length > MOST_BYTES) {
                throw new InvalidRequestException(path + " has more than " + MOST_BYTES + " bytes: it is no PEM file");
            }
            return bytes;
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
