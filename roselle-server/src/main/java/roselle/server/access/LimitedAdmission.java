package roselle.server.access;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import roselle.api.Usage;
import roselle.server.answer.Admission;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Errors;
import roselle.server.http.Exchange;

/** Lets as many requests in as the server has room for, and of each key as many as its limits allow; before any work. */
public final class LimitedAdmission implements Admission {
    private static final Duration SOON = Duration.ofSeconds(1);

    private final int most;
    private final AtomicInteger inside = new AtomicInteger();
    private volatile boolean isClosed;

    /** Room for {@code most} requests at a time. */
    public LimitedAdmission(int most) {
        this.most = most;
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
        Optional<Object> use = exchange.note(KeyCheck.NOTE);
        return use.isPresent() ? keyed(exchange, (KeyUse) use.orElseThrow()) : new Place();
    }

    private Ticket keyed(Exchange exchange, KeyUse use) {
        var place = new KeyedPlace(use);
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
        private boolean isGivenBack;

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
        private final Place place = new Place();
        private final KeyUse use;
        private boolean hasEntered;

        KeyedPlace(KeyUse use) {
            this.use = use;
        }

        @Override
        public String key() {
            return use.name();
        }

        @Override
        public String group() {
            return use.group();
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
