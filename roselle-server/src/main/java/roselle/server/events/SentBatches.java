package roselle.server.events;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The latest batches, for subscribers that missed some: bounded in number and in bytes, the oldest go first. */
final class SentBatches {
    private static final int MOST = 10_000;
    private static final long MOST_BYTES = 64L << 20;

    private final Deque<Sent> sent = new ArrayDeque<>();
    private long bytes;

    /**
     * One batch.
     *
     * @param sequence its number: the first of the process is 0, each one more
     */
    @SuppressWarnings("ArrayRecordComponent") // bytes on their way, which nobody compares
    record Sent(String topic, long sequence, byte[] payload) {}

    void add(Sent batch) {
        sent.addLast(batch);
        bytes += batch.payload().length;
        while (sent.size() > MOST || (bytes > MOST_BYTES && sent.size() > 1)) {
            bytes -= sent.removeFirst().payload().length;
        }
    }

    /** Those from {@code sequence} on that are still there, in order. */
    List<Sent> from(long sequence) {
        return sent.stream().filter(batch -> batch.sequence() >= sequence).toList();
    }
}
