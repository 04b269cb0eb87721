package roselle.server.access;

import java.time.Duration;
import java.util.function.LongSupplier;
import roselle.server.config.ApiKey;
import roselle.server.config.KeyLimits;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.Quota;

/** What one key has taken of its limits; thread-safe. */
final class KeyUse {
    private static final String REQUESTS = "requests";
    private static final String TOKENS = "tokens";
    private static final int SHARE = 8;
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

    boolean isOperator() {
        return key.rights().isOperator();
    }

    String group() {
        return key.group();
    }

    /**
     * Begins a request.
     *
     * @param left places in the server that it leaves to others; a key that has some already takes at most {@link #SHARE} times these
     * @throws ApiException 429 with the time after which the limit lets another one in
     */
    synchronized void enter(int left) {
        KeyLimits limits = key.limits();
        long now = clock.getAsLong();
        if (concurrent >= limits.concurrent()) {
            throw refusal(ErrorKind.REQUEST_LIMIT, limits.concurrent() + " requests at a time", SOON);
        }
        if (concurrent > 0 && concurrent + 1 > (long) SHARE * left) {
            throw ApiException.busy(
                    ErrorKind.OVERLOADED,
                    "the server is nearly full, and this key has " + concurrent
                            + " of its places: what is left is for others; try again later",
                    SOON);
        }
        require(requests, REQUESTS, ErrorKind.REQUEST_LIMIT, now);
        require(tokens, TOKENS, ErrorKind.TOKEN_LIMIT, now);
        requests.take(1, now);
        concurrent++;
    }

    private void require(Allowance allowance, String unit, ErrorKind kind, long now) {
        long wait = allowance.nanosUntil(1, now);
        if (wait > 0) {
            throw refusal(kind, allowance.perMinute() + " " + unit + " a minute", Duration.ofNanos(wait));
        }
    }

    private ApiException refusal(ErrorKind kind, String limit, Duration wait) {
        return ApiException.busy(kind, "the key " + key.name() + " may take " + limit + ": try again later", wait);
    }

    /** The request has made or read tokens. */
    synchronized void spend(long amount) {
        tokens.take(amount, clock.getAsLong());
    }

    synchronized void leave() {
        concurrent--;
    }

    /** Tells what is left, as clients of the dialect expect it. */
    void tell(Exchange exchange) {
        long now = clock.getAsLong();
        Conventions conventions = exchange.conventions();
        synchronized (this) {
            conventions.tell(exchange, quota(REQUESTS, requests, now));
            conventions.tell(exchange, quota(TOKENS, tokens, now));
        }
    }

    private static Quota quota(String unit, Allowance allowance, long now) {
        long perMinute = allowance.perMinute();
        return new Quota(unit, perMinute, allowance.left(now), Duration.ofNanos(allowance.nanosUntil(perMinute, now)));
    }
}
