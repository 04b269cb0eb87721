package roselle.server.transport;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import roselle.api.InvalidRequestException;

/**
 * Reads a private key from PEM: PKCS #8, and the older PKCS #1 (RSA) and SEC 1 (EC) that openssl and others still write.
 *
 * <p>The older kinds lack what PKCS #8 begins with: which algorithm the key is for. The certificate has it in the same bytes.
 */
final class PemKey {
    private static final String PLAIN = "PRIVATE KEY";
    private static final List<String> BARE = List.of("RSA PRIVATE KEY", "EC PRIVATE KEY");
    private static final String DASHES = "-----";
    private static final int SEQUENCE = 0x30;
    private static final int OCTETS = 0x04;
    private static final byte[] VERSION = {2, 1, 0};

    private PemKey() {}

    /**
     * The key in a file's text that may belong to a certified one.
     *
     * @throws InvalidRequestException if there is none
     */
    static PrivateKey read(Path path, String text, PublicKey certified) {
        String algorithm = certified.getAlgorithm();
        if (text.contains("ENCRYPTED")) {
            throw new InvalidRequestException(path + " has a key that is encrypted: write one without a passphrase with"
                    + " openssl pkey -in " + path + " -out PLAIN.key");
        }
        try {
            return KeyFactory.getInstance(algorithm)
                    .generatePrivate(new PKCS8EncodedKeySpec(pkcs8(path, text, certified)));
        } catch (IllegalArgumentException | InvalidKeySpecException malformed) {
            throw new InvalidRequestException(
                    path + " has a key that is damaged, or not " + algorithm + " as the certificate's");
        } catch (GeneralSecurityException unknown) {
            throw new InvalidRequestException("keys of the kind " + algorithm + " are not known: use RSA or EC");
        }
    }

    private static byte[] pkcs8(Path path, String text, PublicKey certified) {
        if (text.contains(begin(PLAIN))) {
            return decoded(text, PLAIN);
        }
        for (String label : BARE) {
            if (text.contains(begin(label))) {
                return element(
                        SEQUENCE, VERSION, algorithm(certified.getEncoded()), element(OCTETS, decoded(text, label)));
            }
        }
        throw new InvalidRequestException(path + " has no key between BEGIN PRIVATE KEY and END PRIVATE KEY:"
                + " turn another kind into it with openssl pkcs8 -topk8 -nocrypt -in " + path + " -out PLAIN.key");
    }

    private static byte[] decoded(String text, String label) {
        int begin = text.indexOf(begin(label)) + begin(label).length();
        int end = text.indexOf(DASHES + "END " + label + DASHES, begin);
        if (end < 0) {
            throw new IllegalArgumentException("no end");
        }
        return Base64.getMimeDecoder().decode(text.substring(begin, end));
    }

    private static String begin(String label) {
        return DASHES + "BEGIN " + label + DASHES;
    }

    // ---- DER: a tag, a length, content ----

    /** The first element in the sequence that a public key is: its algorithm with parameters, such as the curve. */
    private static byte[] algorithm(byte[] publicKey) {
        var bytes = ByteBuffer.wrap(publicKey);
        bytes.get();
        length(bytes);
        int begin = bytes.position();
        bytes.get();
        int length = length(bytes);
        var element = new byte[bytes.position() + length - begin];
        bytes.position(begin).get(element);
        return element;
    }

    private static int length(ByteBuffer bytes) {
        int first = bytes.get() & 0xff;
        if (first < 0x80) {
            return first;
        }
        int length = 0;
        for (int index = 0; index < (first & 0x7f); index++) {
            length = (length << 8) | (bytes.get() & 0xff);
        }
        return length;
    }

    /** Of less than 64 KiB, as all keys are. */
    private static byte[] element(int tag, byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        if (length > 0xffff) {
            throw new IllegalArgumentException("a key of " + length + " bytes");
        }
        var bytes = ByteBuffer.allocate(length + 4).put((byte) tag);
        if (length < 0x80) {
            bytes.put((byte) length);
        } else if (length < 0x100) {
            bytes.put((byte) 0x81).put((byte) length);
        } else {
            bytes.put((byte) 0x82).putShort((short) length);
        }
        for (byte[] part : parts) {
            bytes.put(part);
        }
        var element = new byte[bytes.position()];
        bytes.flip().get(element);
        return element;
    }
}
