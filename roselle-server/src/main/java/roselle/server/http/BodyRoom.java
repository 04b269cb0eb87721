package roselle.server.http;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The memory for the bodies of all requests that are being answered, and for what their JSON becomes; thread-safe.
 *
 * <p>It is charged with what has come. One owner, a key or an address, gets half of it at most, so that nobody can take it from
 * all others.
 */
final class BodyRoom {
    private static final long LEAST = 256L << 20;
    private static final long MOST = 1L << 30;
    private static final int SHARE_OF_HEAP = 4;
    private static final int SHARE_OF_OWNER = 2;
    private static final Duration SOON = Duration.ofSeconds(1);

    private final long most;
    private final long mostOfOwner;
    private final Map<String, Long> takenBy = new HashMap<>();
    private long taken;
    private final Turns turns;

    /** Room for so many bytes, of which one owner may have some. */
    BodyRoom(long most, long mostOfOwner, Turns turns) {
        this.turns = turns;
        this.most = most;
        this.mostOfOwner = mostOfOwner;
    }

    /**
     * A quarter of the heap: at least 256 MiB where the heap has twice that, at most 1 GiB, and always one body of the greatest
     * size; for one owner half of it, and always one such body, too.
     */
    static BodyRoom of(long bodyBytes, long heapBytes, Turns turns) {
        long quarter = Math.min(MOST, heapBytes / SHARE_OF_HEAP);
        long usual = heapBytes >= 2 * LEAST ? Math.max(LEAST, quarter) : quarter;
        long most = Math.max(usual, bodyBytes);
        return new BodyRoom(most, Math.max(most / SHARE_OF_OWNER, bodyBytes), turns);
    }

    /** One request's share, nothing yet. */
    Share share(String owner) {
        return new Share(owner);
    }

    private synchronized void take(String owner, long bytes) {
        if (takenBy.getOrDefault(owner, 0L) + bytes > mostOfOwner) {
            throw ApiException.busy(
                    ErrorKind.REQUEST_LIMIT,
                    "the bodies of your other requests fill what one client may have of the room for them:"
                            + " try again later",
                    SOON);
        }
        if (taken + bytes > most) {
            throw ApiException.busy(
                    ErrorKind.OVERLOADED,
                    "the bodies of the requests being answered fill the room for them: try again later",
                    SOON);
        }
        taken += bytes;
        takenBy.merge(owner, bytes, Long::sum);
    }

    private synchronized void giveBack(String owner, long bytes) {
        taken -= bytes;
        takenBy.computeIfPresent(owner, (_, sum) -> sum > bytes ? sum - bytes : null);
    }

    /** Owners that have some of it. */
    synchronized int owners() {
        return takenBy.size();
    }

    /** What one request has taken; given back when it is over. One thread. */
    final class Share implements AutoCloseable {
        private String owner;
        private long own;

        private Share(String owner) {
            this.owner = owner;
        }

        /** From here on someone else pays; before anything is taken. */
        void chargeTo(String other) {
            owner = other;
        }

        /**
         * Takes more.
         *
         * @throws ApiException 429 if its owner has too much, 503 if others have it, 413 if there is not so much
         */
        void take(long bytes) {
            if (own + bytes > mostOfOwner) {
                throw new ApiException(
                        ErrorKind.BODY_TOO_LARGE,
                        "the body would take %d bytes of memory, more than the %d there are for one client:"
                                        .formatted(own + bytes, mostOfOwner)
                                + " send fewer values");
            }
            BodyRoom.this.take(owner, bytes);
            own += bytes;
        }

        /** Does what takes long with a body of so many bytes, when it is its owner's turn. */
        <T> T aside(long bytes, Supplier<T> work) {
            return turns.take(owner, bytes, work);
        }

        /** Gives back what was taken so far. */
        void giveBack() {
            BodyRoom.this.giveBack(owner, own);
            own = 0;
        }

        @Override
        public void close() {
            giveBack();
        }
    }
}
