package roselle.server.http;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;

/** The memory for the bodies of all requests that are being answered, and for what their JSON becomes; thread-safe. */
final class BodyRoom {
    private static final long LEAST = 256L << 20;
    private static final long MOST = 1L << 30;
    private static final int SHARE_OF_HEAP = 4;
    private static final Duration SOON = Duration.ofSeconds(1);

    private final long most;
    private final AtomicLong taken = new AtomicLong();
    private final LongWork longWork =
            LongWork.forProcessors(Runtime.getRuntime().availableProcessors());

    /** Room for so many bytes. */
    BodyRoom(long most) {
        this.most = most;
    }

    /**
     * A quarter of the heap: at least 256 MiB where the heap has twice that, at most 1 GiB, and always one body of the greatest
     * size.
     */
    static BodyRoom of(long bodyBytes, long heapBytes) {
        long quarter = Math.min(MOST, heapBytes / SHARE_OF_HEAP);
        long usual = heapBytes >= 2 * LEAST ? Math.max(LEAST, quarter) : quarter;
        return new BodyRoom(Math.max(usual, bodyBytes));
    }

    /** One request's share, nothing yet. */
    Share share() {
        return new Share();
    }

    /** What one request has taken; given back when it is over. One thread. */
    final class Share implements AutoCloseable {
        private long own;

        /**
         * Takes more.
         *
         * @throws ApiException 503 if others have it, 413 if there is not so much
         */
        void take(long bytes) {
            if (own + bytes > most) {
                throw new ApiException(
                        ErrorKind.BODY_TOO_LARGE,
                        "the body would take %d bytes of memory, more than the %d there are for all: send fewer values"
                                .formatted(own + bytes, most));
            }
            if (taken.addAndGet(bytes) > most) {
                taken.addAndGet(-bytes);
                throw ApiException.busy(
                        ErrorKind.OVERLOADED,
                        "the bodies of the requests being answered fill the room for them: try again later",
                        SOON);
            }
            own += bytes;
        }

        /** Does what takes long with a large body. */
        <T> T aside(Callable<T> work) {
            return longWork.call(work);
        }

        @Override
        public void close() {
            taken.addAndGet(-own);
            own = 0;
        }
    }
}
