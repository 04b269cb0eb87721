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
    private final boolean sleepsWhole;
    private volatile boolean isAsleep;

    EngineCache(EngineLoop loop, Executor executor) {
        this.loop = loop;
        resizes = executor.givesPagesBack();
        sleepsWhole = executor.sleeps();
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
     * Gives all pages back, and the engine takes no requests until {@link #wake}; what is in flight fails. A device of its own memory
     * gives that of the weights back too, which are in the host's memory then; graphs and compiled kernels stay.
     *
     * @throws InvalidRequestException where it does not {@link #resizes}
     */
    public CompletableFuture<Void> sleep() {
        requireResizing();
        isAsleep = true;
        return post(new EngineLoop.Command.Sleep(new CompletableFuture<>()));
    }

    /**
     * Has the pages again that {@link #sleep} gave back, without what they held, and the weights. Where others have the memory, it
     * sleeps on, and this is completed with a {@link CapacityException}.
     */
    public CompletableFuture<Void> wake() {
        var woken = new CompletableFuture<Void>();
        isAsleep = false;
        CompletableFuture<Void> told =
                woken.whenComplete((_, failure) -> isAsleep |= failure instanceof CapacityException);
        var _ = post(new EngineLoop.Command.Wake(woken));
        return told;
    }

    /** Whether {@link #sleep} gives back all memory of a device, that of the weights too. */
    public boolean sleepsWhole() {
        return sleepsWhole;
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
