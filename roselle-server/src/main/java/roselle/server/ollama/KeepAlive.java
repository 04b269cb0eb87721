package roselle.server.ollama;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import roselle.server.access.KeyCheck;
import roselle.server.answer.Models;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.http.JsonFields;
import tools.jackson.databind.JsonNode;

/** How long a model stays loaded, as Ollama's clients write it: seconds, or a text such as {@code 1h30m}; below zero for ever. */
final class KeepAlive {
    private static final Pattern PART = Pattern.compile("(\\d+\\.?\\d*|\\.\\d+)(ns|us|µs|μs|ms|s|m|h)");
    private static final Pattern WHOLE = Pattern.compile("[-+]?(" + PART.pattern() + ")+|[-+]?0");
    private static final BigDecimal SECOND = BigDecimal.valueOf(1_000_000_000L);

    /** Longer is for ever, as it is in effect. */
    private static final BigDecimal LONGEST =
            BigDecimal.valueOf(Duration.ofDays(36_500).toNanos());

    private static final int MOST_CHARACTERS = 64;
    private static final Duration EVER = Duration.ofSeconds(-1);

    private KeepAlive() {}

    /** Where models stay while the server runs, any time but none. */
    static Optional<Duration> read(JsonFields fields, Models models) {
        Optional<Duration> asked = read(fields);
        if (models.pool().isEmpty() && asked.filter(Duration::isZero).isPresent()) {
            throw ApiException.invalid(
                    "keep_alive",
                    "keep_alive is " + fields.any("keep_alive").orElseThrow()
                            + ": models stay while the server runs and are not unloaded");
        }
        return asked;
    }

    /** Whoever asks may say how long a model stays; that it goes at once concerns all keys. */
    static void requireAllowed(Optional<Duration> time, Exchange exchange) {
        if (time.filter(Duration::isZero).isPresent()) {
            KeyCheck.requireOperator(exchange);
        }
    }

    static Optional<Duration> read(JsonFields fields) {
        return fields.any("keep_alive").map(KeepAlive::duration);
    }

    private static Duration duration(JsonNode time) {
        if (time.isNumber()) {
            return ofNanos(time.decimalValue().multiply(SECOND));
        }
        if (!time.isString()
                || time.stringValue().length() > MOST_CHARACTERS
                || !WHOLE.matcher(time.stringValue()).matches()) {
            throw JsonFields.wrongType("keep_alive", time, "a number of seconds, or a text such as 5m");
        }
        String text = time.stringValue();
        var sum = BigDecimal.ZERO;
        for (Matcher part = PART.matcher(text); part.find(); ) {
            sum = sum.add(new BigDecimal(part.group(1)).multiply(BigDecimal.valueOf(nanos(part.group(2)))));
        }
        return ofNanos(text.startsWith("-") ? sum.negate() : sum);
    }

    private static long nanos(String unit) {
        return switch (unit) {
            case "ns" -> 1;
            case "us", "µs", "μs" -> 1_000;
            case "ms" -> 1_000_000;
            case "s" -> 1_000_000_000;
            case "m" -> 60_000_000_000L;
            default -> 3_600_000_000_000L; // h: the pattern knows no other
        };
    }

    private static Duration ofNanos(BigDecimal nanos) {
        if (nanos.signum() < 0 || nanos.compareTo(LONGEST) > 0) {
            return EVER;
        }
        return Duration.ofNanos(nanos.longValue());
    }
}
