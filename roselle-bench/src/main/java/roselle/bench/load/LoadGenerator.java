package roselle.bench.load;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.locks.LockSupport;
import roselle.bench.metric.RequestSample;

/**
 * An open-loop load generator: each request leaves at its planned moment, whether earlier ones were answered or not, and its
 * latency counts from that moment.
 *
 * <p>Three threads share the work, so that none makes another late: one makes the bodies shortly before they are needed, one
 * (the caller of {@link #run}) sleeps until a request's moment and sends it, one reads all answers. The one that reads takes
 * the time before it looks at the bytes.
 */
public final class LoadGenerator implements AutoCloseable {
    private static final int AHEAD = 512;
    private static final long LEAD_NANOS = 200_000_000;

    private final Endpoint endpoint;
    private final Streams streams;

    public LoadGenerator(Endpoint endpoint, LoadOptions options) {
        this.endpoint = endpoint;
        try {
            streams = new Streams(endpoint, options);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Sends all requests and waits for all answers; the samples have the order of the requests' indices. */
    public List<RequestSample> run(List<LoadRequest> requests) throws InterruptedException {
        List<LoadRequest> ordered = requests.stream()
                .sorted(Comparator.comparingLong(LoadRequest::offsetNanos))
                .toList();
        var prepared = new ArrayBlockingQueue<Exchange>(AHEAD);
        Thread maker = Thread.ofPlatform().daemon().name("load-bodies").start(() -> prepare(ordered, prepared));
        try {
            streams.expect(ordered.size());
            long start = System.nanoTime() + LEAD_NANOS;
            for (int i = 0; i < ordered.size(); i++) {
                dispatch(prepared.take(), start);
            }
            List<RequestSample> samples = new ArrayList<>(streams.await());
            samples.sort(Comparator.comparingInt(RequestSample::index));
            return samples;
        } finally {
            maker.interrupt();
        }
    }

    private void prepare(List<LoadRequest> requests, BlockingQueue<Exchange> prepared) {
        try {
            for (LoadRequest request : requests) {
                prepared.put(
                        new Exchange(request, endpoint.request(request.body().get())));
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // the run is over
        }
    }

    private void dispatch(Exchange next, long start) throws InterruptedException {
        long intended = start + next.offsetNanos();
        for (long now = System.nanoTime(); now < intended; now = System.nanoTime()) {
            LockSupport.parkNanos(intended - now);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
        next.start(intended, System.nanoTime());
        streams.send(next);
    }

    @Override
    public void close() {
        streams.close();
    }
}
