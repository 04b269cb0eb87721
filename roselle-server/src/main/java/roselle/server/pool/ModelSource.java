package roselle.server.pool;

import java.util.concurrent.CompletableFuture;

/**
 * Where a pool gets one model from; {@link #plan}, {@link #open} and {@link #close} are called on threads of the pool's, one at a
 * time, the others at any time.
 *
 * @param <E> what a loaded model is
 */
public interface ModelSource<E> {
    /** Hears how loading gets on. */
    @FunctionalInterface
    interface Progress {
        void loaded(long bytes, long totalBytes);
    }

    /** What {@link #open} would take at most; fails as it would. */
    ModelPlan plan();

    /** Loads the model, within the plan that was told last. */
    E open(Progress progress);

    /** The same, so that it takes so many bytes in all at first, which is less than its plan where its pages can be moved. */
    default E open(long bytes, Progress progress) {
        E model = open(progress);
        resize(model, bytes).join();
        return model;
    }

    /** Whether a loaded model still answers; one that does not is loaded anew. */
    boolean isSound(E model);

    /** Returns all that a loaded model has taken. */
    void close(E model);

    /** Returns all that a loaded model has taken of the pool's memory, for another's sake: it may soon be asked for again. */
    default void makeRoom(E model) {
        close(model);
    }

    /** Bytes of the machine's memory in which the model waits that {@link #makeRoom} was called for; 0 where it does not. Never waits. */
    default long hostBytes() {
        return 0;
    }

    /** Has a loaded model take so many bytes in all, within its plan; completed when that is so. */
    default CompletableFuture<Void> resize(E model, long bytes) {
        return CompletableFuture.completedFuture(null);
    }

    /** Bytes in all that a loaded model could use at this moment. */
    default long wants(E model) {
        return 0;
    }

    /** Whether a loaded model can give up what it has beside its weights, and go on later. */
    default boolean sleeps(E model) {
        return false;
    }

    /** Has a loaded model keep its weights alone and answer nobody; completed when that is so. */
    default CompletableFuture<Void> sleep(E model) {
        throw new UnsupportedOperationException();
    }

    /** Has a model that sleeps answer again; completed when that is so. */
    default CompletableFuture<Void> wake(E model) {
        throw new UnsupportedOperationException();
    }
}
