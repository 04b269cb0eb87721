package roselle.hub.http;

import java.time.Duration;
import roselle.hub.request.HubException;
import roselle.hub.request.PullObserver;
import roselle.hub.request.TransferOptions;

/**
 * Finding out what the hub has of a model: all requests for it share one limit of time, so that a hub that answers each of
 * them slowly, or asks for a pause before each, does not keep a user for ever.
 */
public final class Inquiry {
    private final String subject;
    private final TransferOptions.Times times;
    private final HubClock clock;
    private final PullObserver observer;
    private final long begunNanos;

    Inquiry(String subject, TransferOptions.Times times, HubClock clock, PullObserver observer) {
        this.subject = subject;
        this.times = times;
        this.clock = clock;
        this.observer = observer;
        begunNanos = clock.nanos();
    }

    /** A fresh count of attempts, which ends with the inquiry's time. */
    Attempts attempts() {
        return new Attempts(times.pause(), clock, observer, this::require);
    }

    /** Fails where the time will be over once {@code more} has passed. */
    void require(Duration more) {
        if (clock.nanos() - begunNanos + more.toNanos() > times.inquiry().toNanos()) {
            throw new HubException(
                    HubException.Kind.TRY_AGAIN,
                    "the hub has not told within " + Attempts.words(times.inquiry()) + " what " + subject
                            + " has: try again later");
        }
    }
}
