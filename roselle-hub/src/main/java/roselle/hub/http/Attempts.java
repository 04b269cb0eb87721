package roselle.hub.http;

import java.io.IOException;
import java.time.Duration;
import roselle.hub.request.HubException;
import roselle.hub.request.PullObserver;

/** Decides whether what the network broke is tried again, and waits before it is. */
public final class Attempts {
    static final int MOST = 5;
    /** Fewer bytes do not earn new attempts, so that a server cannot drip forever. */
    private static final long PROGRESS_BYTES = 1 << 20;

    private static final int LARGEST_FACTOR = 16;
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

    private final Duration pause;
    private final HubClock clock;
    private final PullObserver observer;
    private final Limit limit;
    private int failures;
    private long bytes;

    Attempts(Duration pause, HubClock clock, PullObserver observer, Limit limit) {
        this.pause = pause;
        this.clock = clock;
        this.observer = observer;
        this.limit = limit;
    }

    /** What ends the attempts beside their number. */
    @FunctionalInterface
    interface Limit {
        /** None. */
        Limit NONE = more -> {};

        /** Fails where there is no time for a pause that long. */
        void require(Duration more);
    }

    /** Something the network does. */
    interface Work<T> {
        T run() throws IOException;
    }

    /** The result of the first attempt that succeeds; a {@link HubException} when there were too many. */
    <T> T run(Work<T> work) throws IOException {
        while (true) {
            try {
                return work.run();
            } catch (PassingFailure failure) {
                await(failure);
            }
        }
    }

    public void received(long count) {
        bytes += count;
        if (bytes >= PROGRESS_BYTES) {
            bytes = 0;
            failures = 0;
        }
    }

    /** Waits before the next attempt, or fails when there have been enough. */
    public void await(PassingFailure failure) {
        failures++;
        if (failures >= MOST) {
            throw exhausted(failure);
        }
        Duration own = pause.multipliedBy(Math.min(LARGEST_FACTOR, 1L << (failures - 1)));
        Duration longer = own.compareTo(failure.hubsWait()) > 0 ? own : failure.hubsWait();
        Duration wait = longer.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : longer;
        limit.require(wait);
        observer.pausing(String.valueOf(failure.getMessage()), wait);
        sleep(wait);
    }

    /** A time in a word for people. */
    static String words(Duration time) {
        return time.toSeconds() >= 120 ? time.toMinutes() + " minutes" : time.toSeconds() + " seconds";
    }

    private static HubException exhausted(PassingFailure failure) {
        return new HubException(
                HubException.Kind.TRY_AGAIN,
                failure.getMessage() + "; gave up after " + MOST + " attempts: run the same again to go on from there",
                failure);
    }

    private void sleep(Duration time) {
        try {
            clock.sleep(time);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new HubException(
                    HubException.Kind.TRY_AGAIN, "interrupted: run the same again to go on from there", interrupted);
        }
    }
}
