package roselle.server.transport;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The header {@code Date}, formatted once a second by whoever answers first; no thread does it, so none can stop doing it. */
final class DateHeader {
    private static final DateTimeFormatter FORMAT =
            DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH);

    private static final AtomicReference<@Nullable Formatted> LAST = new AtomicReference<>();

    private record Formatted(long second, String text) {}

    private DateHeader() {}

    static String now() {
        long second = Math.floorDiv(System.currentTimeMillis(), 1000L);
        Formatted known = LAST.get();
        if (known != null && known.second() == second) {
            return known.text();
        }
        String text = FORMAT.format(Instant.ofEpochSecond(second).atOffset(ZoneOffset.UTC));
        LAST.set(new Formatted(second, text));
        return text;
    }
}
