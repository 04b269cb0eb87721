package roselle.hub.http;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import roselle.hub.request.TransferOptions;
import roselle.hub.text.NetworkText;

/** The bytes of an answer, given up when they come too slowly or nobody wants them any more. */
public final class HubBody implements AutoCloseable {
    /** What a body must bring in the time of {@link TransferOptions.Times#stall}; slower is as good as dead. */
    static final long MIN_BYTES = 16 << 10;

    private final String source;
    private final InputStream in;
    private final Runnable whenClosed;
    private final AtomicLong received = new AtomicLong();
    private long receivedAtCheck; // the watch's alone
    private long checkedAtNanos = System.nanoTime(); // the watch's alone
    private volatile @Nullable String abortReason;

    HubBody(String source, InputStream in, Runnable whenClosed) {
        this.source = source;
        this.in = in;
        this.whenClosed = whenClosed;
    }

    /** The next bytes, or -1 at the end; everything that fails here is the network's. */
    public int read(byte[] buffer, int length) throws PassingFailure {
        try {
            int count = in.read(buffer, 0, length);
            requireWanted();
            received.addAndGet(Math.max(0, count));
            return count;
        } catch (PassingFailure known) {
            throw known;
        } catch (IOException broken) {
            requireWanted();
            throw new PassingFailure(source + " broke off: " + NetworkText.of(broken), broken);
        }
    }

    private void requireWanted() throws PassingFailure {
        String reason = abortReason;
        if (reason != null) {
            throw new PassingFailure(source + " " + reason);
        }
    }

    /** Called now and then by the watch: gives up a body that brought too little since the last look that counted. */
    void check(Duration window) {
        if (System.nanoTime() - checkedAtNanos < window.toNanos()) {
            return;
        }
        long count = received.get();
        if (count - receivedAtCheck < MIN_BYTES) {
            abort("sent only " + (count - receivedAtCheck) + " bytes in " + window.toMillis() + " ms");
        }
        receivedAtCheck = count;
        checkedAtNanos = System.nanoTime();
    }

    void abort(String reason) {
        abortReason = reason;
        closeStream();
    }

    @Override
    public void close() {
        closeStream();
        whenClosed.run();
    }

    /** Closing tells the server that the rest is not wanted; that this fails changes nothing. */
    private void closeStream() {
        try {
            in.close();
        } catch (IOException _) {
            return;
        }
    }
}
