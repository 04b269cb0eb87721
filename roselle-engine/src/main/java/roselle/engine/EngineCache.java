package roselle.engine;

import java.util.concurrent.CompletableFuture;
import roselle.api.CapacityException;
import roselle.api.InvalidRequestException;
import roselle.execution.Executor;

/**
 * How much memory the keys and values of a running engine take: their pages go to others and come back without a restart.
 *
 * <p>What is asked for is completed when it is there, or exceptionally where the engine has ended.
 */
public final class EngineCache {
    private final EngineLoop loop;
    private final boolean resizes;
    private volatile boolean isAsleep;

    EngineCache(EngineLoop loop, Executor executor) {
        this.loop = loop;
        resizes = executor.givesPagesBack();
    }

    /** Whether the device gives memory of pages back while it runs; one that does not keeps all of it until it is closed. */
    public boolean resizes() {
        return resizes;
    }

    /**
     * Takes so many bytes from now on, no less than {@link EnginePlan#leastCacheBytes} and no more than {@link EnginePlan#kvBytes},
     * of each kind of layers the same part. It grows at once; it shrinks as pages become free, cached ones first, and no answer is
     * broken off. {@link EngineStatus#cacheBytes} tells how far it is.
     *
     * @throws InvalidRequestException where it does not {@link #resizes}
     */
    public CompletableFuture<Void> resize(long bytes) {
        requireResizing();
        return post(new EngineLoop.Command.Resize(bytes, new CompletableFuture<>()));
    }

    /**
     * Gives all pages back, and the engine takes no requests until {@link #wake}; what is in flight fails. Weights stay.
     *
     * @throws InvalidRequestException where it does not {@link #resizes}
     */
    public CompletableFuture<Void> sleep() {
        requireResizing();
        isAsleep = true;
        return post(new EngineLoop.Command.Sleep(new CompletableFuture<>()));
    }

    /** Has the pages again that {@link #sleep} gave back, without what they held. */
    public CompletableFuture<Void> wake() {
        CompletableFuture<Void> woken = post(new EngineLoop.Command.Wake(new CompletableFuture<>()));
        isAsleep = false;
        return woken;
    }

    public boolean isAsleep() {
        return isAsleep;
    }

    void requireAwake() {
        if (isAsleep) {
            throw new CapacityException(EngineLoop.ASLEEP);
        }
    }

    private void requireResizing() {
        if (!resizes) {
            throw new InvalidRequestException(
                    "the device of this engine keeps the memory of its pages until the engine is closed");
        }
    }

    private CompletableFuture<Void> post(EngineLoop.Resizing command) {
        loop.post(command);
        loop.refuseIfDead();
        return command.done();
    }
}
