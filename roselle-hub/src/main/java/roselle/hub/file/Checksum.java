package roselle.hub.file;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * What the hub says a file's bytes hash to, which also is the blob's name in the cache: the SHA-256 of a large file, or the
 * SHA-1 that git gives a small one (over {@code blob SIZE}, a zero byte, and the bytes).
 */
public record Checksum(String hex) {
    private static final int SHA256_DIGITS = 64;
    private static final int SHA1_DIGITS = 40;
    private static final int BUFFER_BYTES = 1 << 18;

    public Checksum {
        if (!isChecksum(hex)) {
            throw new IllegalArgumentException("not a checksum: " + hex);
        }
    }

    public static boolean isSha256(String text) {
        return text.length() == SHA256_DIGITS && isHex(text);
    }

    /** Whether a text is a name that git gives: of a commit or a small file. */
    public static boolean isGitName(String text) {
        return text.length() == SHA1_DIGITS && isHex(text);
    }

    private static boolean isChecksum(String text) {
        return isSha256(text) || isGitName(text);
    }

    private static boolean isHex(String text) {
        return text.chars().allMatch(digit -> (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f'));
    }

    public String algorithm() {
        return hex.length() == SHA256_DIGITS ? "SHA-256" : "SHA-1";
    }

    /** What the first {@code size} bytes of a file hash to. */
    public Checksum of(Path file, long size) throws IOException {
        MessageDigest digest = digest();
        if (hex.length() == SHA1_DIGITS) {
            digest.update(("blob " + size + "\0").getBytes(StandardCharsets.US_ASCII));
        }
        try (InputStream in = Files.newInputStream(file)) {
            update(digest, in, size);
        }
        return new Checksum(HexFormat.of().formatHex(digest.digest()));
    }

    private static void update(MessageDigest digest, InputStream in, long size) throws IOException {
        byte[] buffer = new byte[BUFFER_BYTES];
        long left = size;
        while (left > 0) {
            int length = in.read(buffer, 0, (int) Math.min(left, buffer.length));
            if (length < 0) {
                return; // shorter: the checksum will tell
            }
            digest.update(buffer, 0, length);
            left -= length;
        }
    }

    private MessageDigest digest() {
        try {
            return MessageDigest.getInstance(algorithm());
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java platform has " + algorithm(), impossible);
        }
    }
}
