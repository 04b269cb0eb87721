package roselle.hub;

import java.io.IOException;
import java.io.Serial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import roselle.hub.request.PullObserver;
import roselle.hub.request.TransferOptions;

/** What the files of one download share: connections, the observer, and the end of all when one fails. */
final class Transfers implements AutoCloseable {
    private final TransferOptions options;
    private final PullObserver observer;
    private final Runnable abort;
    private final Semaphore connections;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private volatile boolean isStopped;

    /** {@code abort} breaks off every answer under way. */
    Transfers(TransferOptions options, PullObserver observer, Runnable abort) {
        this.options = options;
        this.observer = observer;
        this.abort = abort;
        this.connections = new Semaphore(options.connections());
    }

    /** Ends work after a failure elsewhere, which is what the caller gets to see. */
    private static final class StoppedException extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1L;

        StoppedException() {
            super("another part of the download failed");
        }
    }

    /** Something that moves bytes. */
    interface Work {
        void run() throws IOException;
    }

    /** A connection that is taken until it is closed. */
    interface Lease extends AutoCloseable {
        @Override
        void close();
    }

    TransferOptions options() {
        return options;
    }

    PullObserver observer() {
        return observer;
    }

    Duration patience() {
        return options.times().patience();
    }

    /** Waits until fewer than all connections are in use. */
    Lease connection() {
        connections.acquireUninterruptibly();
        return connections::release;
    }

    /** Fails what is under way once something else has failed. */
    void requireGoing() {
        if (isStopped) {
            throw new StoppedException();
        }
    }

    /** Runs all side by side; the first failure ends the others, and is thrown when they have ended. */
    void all(Stream<Work> works) throws IOException {
        List<Future<Boolean>> futures = new ArrayList<>();
        works.forEach(work -> futures.add(threads.submit(guarded(work))));
        Throwable first = null;
        for (Future<Boolean> future : futures) {
            Throwable failure = failure(future);
            boolean isCause = first == null || (isEcho(first) && failure != null && !isEcho(failure));
            first = isCause ? failure : first;
        }
        rethrow(first);
    }

    private Callable<Boolean> guarded(Work work) {
        return () -> {
            try {
                requireGoing();
                work.run();
                return true;
            } catch (IOException | RuntimeException failure) {
                isStopped = true;
                abort.run();
                throw failure;
            }
        };
    }

    private static boolean isEcho(Throwable failure) {
        return failure instanceof StoppedException;
    }

    private static @Nullable Throwable failure(Future<Boolean> future) throws IOException {
        try {
            future.get();
            return null;
        } catch (ExecutionException failed) {
            return failed.getCause();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", interrupted);
        }
    }

    private static void rethrow(@Nullable Throwable failure) throws IOException {
        switch (failure) {
            case null -> {}
            case IOException disk -> throw disk;
            case RuntimeException known -> throw known;
            case Error error -> throw error;
            case Throwable other -> throw new IllegalStateException(other);
        }
    }

    @Override
    public void close() {
        threads.close();
    }
}
