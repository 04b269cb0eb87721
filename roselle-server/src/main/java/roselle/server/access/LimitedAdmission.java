package roselle.server.access;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import roselle.api.Usage;
import roselle.server.answer.Admission;
import roselle.server.config.GatewayTrust;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Errors;
import roselle.server.http.Exchange;

/** Lets as many requests in as the server has room for, and of each key as many as its limits allow; before any work. */
public final class LimitedAdmission implements Admission {
    private static final Duration SOON = Duration.ofSeconds(1);

    private final int most;
    private final GatewayTrust trust;
    private final AtomicInteger inside = new AtomicInteger();
    private volatile boolean isClosed;

    /** Room for {@code most} requests at a time, each with the place among others that a trusted gateway gives it. */
    public LimitedAdmission(int most, GatewayTrust trust) {
        this.most = most;
        this.trust = trust;
    }

    /** Lets nobody in from here on. */
    public void close() {
        isClosed = true;
    }

    @Override
    public Ticket admit(Exchange exchange) {
        if (isClosed) {
            throw Errors.ending();
        }
        if (inside.incrementAndGet() > most) {
            inside.decrementAndGet();
            throw ApiException.busy(
                    ErrorKind.OVERLOADED,
                    "the server is full: it answers " + most + " requests at a time; try again later",
                    SOON);
        }
        boolean isIn = false;
        try {
            Ticket ticket = ticket(exchange);
            isIn = true;
            return ticket;
        } finally {
            if (!isIn) { // refused, or failed for want of memory
                inside.decrementAndGet();
            }
        }
    }

    private Ticket ticket(Exchange exchange) {
        GatewayHeaders headers = GatewayHeaders.of(exchange, trust);
        Optional<Object> use = exchange.note(KeyCheck.NOTE);
        return use.isPresent() ? keyed(exchange, headers, (KeyUse) use.orElseThrow()) : new Place(headers);
    }

    private Ticket keyed(Exchange exchange, GatewayHeaders headers, KeyUse use) {
        var place = new KeyedPlace(headers, use);
        boolean isTold = false;
        try {
            use.enter(most - inside.get());
            place.hasEntered = true;
            use.tell(exchange);
            isTold = true;
            return place;
        } finally {
            if (!isTold) { // refused, or failed for want of memory
                place.leave();
                use.tell(exchange);
            }
        }
    }

    /** A place of nobody's. */
    private class Place implements Ticket {
        private final GatewayHeaders headers;
        private boolean isGivenBack;

        Place(GatewayHeaders headers) {
            this.headers = headers;
        }

        @Override
        public String group() {
            return headers.group(key());
        }

        @Override
        public int priority(int asked) {
            return headers.priority().orElse(asked);
        }

        @Override
        public Duration firstTokenWithin() {
            return headers.firstToken();
        }

        @Override
        public void close() {
            if (!isGivenBack) {
                isGivenBack = true;
                inside.decrementAndGet();
            }
        }
    }

    /** A place of a key's. */
    private final class KeyedPlace implements Ticket {
        private final Place place;
        private final KeyUse use;
        private boolean hasEntered;

        KeyedPlace(GatewayHeaders headers, KeyUse use) {
            place = new Place(headers);
            this.use = use;
        }

        @Override
        public String key() {
            return use.name();
        }

        @Override
        public String group() {
            return place.headers.group(use.group());
        }

        @Override
        public int priority(int asked) {
            return place.priority(asked);
        }

        @Override
        public Duration firstTokenWithin() {
            return place.firstTokenWithin();
        }

        @Override
        public void spend(Usage usage) {
            use.spend((long) usage.promptTokens() + usage.completionTokens());
        }

        private void leave() {
            if (hasEntered) {
                hasEntered = false;
                use.leave();
            }
        }

        @Override
        public void close() {
            leave();
            place.close();
        }
    }
}
