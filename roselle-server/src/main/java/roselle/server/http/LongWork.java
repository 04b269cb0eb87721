package roselle.server.http;

import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;

/**
 * Does what takes long on a platform thread, a few at a time: a request's own thread is virtual and gives way to others only where it
 * waits.
 */
final class LongWork {
    private final Semaphore places;

    LongWork(int places) {
        this.places = new Semaphore(places, true);
    }

    /** One for every four processors. */
    static LongWork forProcessors(int processors) {
        return new LongWork(Math.max(1, processors / 4));
    }

    /** Returns what the work returns, and throws what it throws. */
    <T> T call(Callable<T> work) {
        places.acquireUninterruptibly();
        try {
            var task = new FutureTask<>(work);
            Thread.ofPlatform().name("roselle-body").daemon(true).start(task);
            return task.get();
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
            throw new CancellationException("interrupted while a body was read");
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof Error error) {
                throw error;
            }
            throw failed.getCause() instanceof RuntimeException known ? known : new IllegalStateException(failed);
        } finally {
            places.release();
        }
    }
}
