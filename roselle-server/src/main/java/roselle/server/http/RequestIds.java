package roselle.server.http;

import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;

/** Ids of requests and answers: a prefix and 24 hexadecimal digits, unique and without meaning. */
public final class RequestIds {
    private RequestIds() {}

    public static String next(String prefix) {
        var random = ThreadLocalRandom.current();
        HexFormat hex = HexFormat.of();
        return prefix + hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextInt());
    }
}
