package roselle.server.http;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Ids of requests and answers: a prefix and 24 hexadecimal digits, unique, without meaning, and not to be guessed. */
public final class RequestIds {
    private static final SecureRandom RANDOM = new SecureRandom();

    private RequestIds() {}

    public static String next(String prefix) {
        HexFormat hex = HexFormat.of();
        return prefix + hex.toHexDigits(RANDOM.nextLong()) + hex.toHexDigits(RANDOM.nextInt());
    }
}
