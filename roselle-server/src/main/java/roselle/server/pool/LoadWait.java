package roselle.server.pool;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import roselle.api.CapacityException;
import roselle.api.DeviceException;

/**
 * One request that waits for a model, on its own thread.
 *
 * @param patience how long it does at most
 */
record LoadWait<E>(ModelPool<E> pool, String name, Duration patience, LoadListener listener) {
    Lease<E> await(Consumer<Runnable> canceller) {
        CompletableFuture<Lease<E>> asked = pool.ask(name);
        if (!asked.isDone()) {
            canceller.accept(() -> asked.cancel(false));
        }
        try {
            return await(asked);
        } catch (ExecutionException failed) {
            String why = ModelPool.message(failed.getCause());
            throw failed.getCause() instanceof CapacityException
                    ? new CapacityException(why, failed)
                    : new DeviceException(why, failed);
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
            drop(asked);
            throw new DeviceException("interrupted while the model " + name + " was loaded", interruption);
        } catch (CapacityException late) { // who has withdrawn already
            throw late;
        } catch (RuntimeException gone) { // whoever asked, or is told how far it is
            drop(asked);
            throw gone;
        }
    }

    private void drop(CompletableFuture<Lease<E>> asked) {
        if (!asked.cancel(false)) {
            var _ = asked.thenAccept(Lease::close); // it came at the same moment
        }
        pool.withdraw(name);
    }

    private Lease<E> await(CompletableFuture<Lease<E>> asked) throws ExecutionException, InterruptedException {
        Duration left = patience;
        Duration part = listener.after();
        while (part.compareTo(left) < 0) {
            try {
                return asked.get(part.toNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException _) {
                pool.state(name).ifPresent(listener.told());
            }
            left = left.minus(part);
            part = listener.every();
        }
        return awaitLast(asked, left);
    }

    private Lease<E> awaitLast(CompletableFuture<Lease<E>> asked, Duration left)
            throws ExecutionException, InterruptedException {
        try {
            return asked.get(left.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            if (asked.cancel(false)) {
                throw new CapacityException(pool.withdraw(name), late);
            }
            return asked.get(); // it has come, or failed, at the last moment
        }
    }
}
