package roselle.server.config;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import roselle.api.InvalidRequestException;

/**
 * A key that clients send, known by its hash alone.
 *
 * <p>A key has 256 random bits, so its plain SHA-256 can be neither guessed nor looked up in a table; what slows down guessing
 * passwords would only slow down every request here.
 *
 * @param name whose it is: for equal shares of the engine and for the log
 * @param sha256 of the key's bytes, 64 hexadecimal digits in lower case
 * @param limits what it may take
 * @param rights what it is to the others
 */
public record ApiKey(String name, String sha256, KeyLimits limits, KeyRights rights) {
    private static final int LONGEST_NAME = 64;
    private static final int HASH_DIGITS = 64;
    private static final int RANDOM_BYTES = 32;
    private static final String MARKS = "._-";

    public ApiKey {
        requireName(name);
        if (sha256.length() != HASH_DIGITS || !sha256.chars().allMatch(ApiKey::isDigit)) {
            throw new InvalidRequestException("the hash of the key " + name
                    + " is not a SHA-256: it must have 64 hexadecimal digits in lower case");
        }
    }

    /** A key like all others. */
    public ApiKey(String name, String sha256, KeyLimits limits) {
        this(name, sha256, limits, KeyRights.DEFAULT);
    }

    /** Whose share of the engine its requests take. */
    public String group() {
        return rights.group().isEmpty() ? name : rights.group();
    }

    static boolean isName(String name) {
        return !name.isEmpty() && name.length() <= LONGEST_NAME && name.chars().allMatch(ApiKey::isOfAName);
    }

    private static void requireName(String name) {
        if (!isName(name)) {
            throw new InvalidRequestException(
                    "a key's name must have 1 to 64 letters, digits, dots, hyphens or underscores");
        }
    }

    private static boolean isOfAName(int letter) {
        return letter < 128 && (Character.isLetterOrDigit(letter) || MARKS.indexOf(letter) >= 0);
    }

    private static boolean isDigit(int letter) {
        return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
    }

    /** A new key, as its owner sends it: shown once, kept by nobody here. */
    public static String random() {
        byte[] bytes = new byte[RANDOM_BYTES];
        new SecureRandom().nextBytes(bytes);
        return "rsl-" + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** The hash by which a key is known. */
    public static String sha256(String key) {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(digest.digest(key.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible); // every JDK has it
        }
    }
}
