package roselle.server.access;

import java.time.Duration;
import java.util.function.LongSupplier;
import roselle.server.config.ApiKey;
import roselle.server.config.KeyLimits;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;

/** What one key has taken of its limits; thread-safe. */
final class KeyUse {
    private static final String CODE = "rate_limit_exceeded";
    private static final Duration SOON = Duration.ofSeconds(1);

    private final ApiKey key;
    private final LongSupplier clock;
    private final Allowance requests;
    private final Allowance tokens;
    private int concurrent;

    /** Nothing taken yet; {@code clock} is in nanoseconds. */
    KeyUse(ApiKey key, LongSupplier clock) {
        this.key = key;
        this.clock = clock;
        long now = clock.getAsLong();
        requests = new Allowance(key.limits().requestsPerMinute(), now);
        tokens = new Allowance(key.limits().tokensPerMinute(), now);
    }

    String name() {
        return key.name();
    }

    /**
     * Begins a request.
     *
     * @throws ApiException 429 with the time after which the limit lets another one in
     */
    synchronized void enter() {
        KeyLimits limits = key.limits();
        long now = clock.getAsLong();
        if (concurrent >= limits.concurrent()) {
            throw refusal("requests", limits.concurrent() + " requests at a time", SOON);
        }
        require(requests, "requests", now);
        require(tokens, "tokens", now);
        requests.take(1, now);
        concurrent++;
    }

    private void require(Allowance allowance, String what, long now) {
        long wait = allowance.nanosUntil(1, now);
        if (wait > 0) {
            throw refusal(what, allowance.perMinute() + " " + what + " a minute", Duration.ofNanos(wait));
        }
    }

    private ApiException refusal(String type, String limit, Duration wait) {
        return ApiException.busy(
                429, type, CODE, "the key " + key.name() + " may take " + limit + ": try again later", wait);
    }

    /** The request has made or read tokens. */
    synchronized void spend(long amount) {
        tokens.take(amount, clock.getAsLong());
    }

    synchronized void leave() {
        concurrent--;
    }

    /** Tells what is left, by the names that OpenAI's clients know. */
    void tell(Exchange exchange) {
        long now = clock.getAsLong();
        synchronized (this) {
            tell(exchange, "requests", requests, now);
            tell(exchange, "tokens", tokens, now);
        }
    }

    private static void tell(Exchange exchange, String what, Allowance allowance, long now) {
        exchange.header("x-ratelimit-limit-" + what, Long.toString(allowance.perMinute()));
        exchange.header("x-ratelimit-remaining-" + what, Long.toString(allowance.left(now)));
        long millis = allowance.nanosUntil(allowance.perMinute(), now) / 1_000_000;
        exchange.header("x-ratelimit-reset-" + what, millis + "ms");
    }
}
