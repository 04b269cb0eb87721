package roselle.server.http;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** The memory for the bodies of all requests that are being answered; thread-safe. */
final class BodyRoom {
    private static final long LEAST = 256L << 20;
    private static final Duration SOON = Duration.ofSeconds(1);

    private final long most;
    private final AtomicLong taken = new AtomicLong();

    /** Room for 256 MiB, or one body of the greatest size if that is more. */
    BodyRoom(long bodyBytes) {
        most = Math.max(LEAST, bodyBytes);
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
         * @throws ApiException 503 if others have it
         */
        void take(long bytes) {
            if (taken.addAndGet(bytes) > most) {
                taken.addAndGet(-bytes);
                throw ApiException.busy(
                        503,
                        ApiException.SERVER_ERROR,
                        "overloaded",
                        "the bodies of the requests being answered fill the room for them: try again later",
                        SOON);
            }
            own += bytes;
        }

        @Override
        public void close() {
            taken.addAndGet(-own);
            own = 0;
        }
    }
}
