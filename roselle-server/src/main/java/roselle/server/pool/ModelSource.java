package roselle.server.pool;

/**
 * Where a pool gets one model from; its methods are called on threads of the pool's, one at a time.
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

    /** Whether a loaded model still answers; one that does not is loaded anew. */
    boolean isSound(E model);

    /** Returns all that a loaded model has taken. */
    void close(E model);
}
