package roselle.engine;

import java.util.function.LongConsumer;
import roselle.checkpoint.Checkpoint;

/** Sums up the bytes of a checkpoint that are loaded, and tells an observer. */
final class LoadingCount implements LongConsumer {
    private final StartObserver observer;
    private final long total;
    private long done;

    LoadingCount(Checkpoint checkpoint, StartObserver observer) {
        this.observer = observer;
        total = checkpoint.tensorBytes();
    }

    @Override
    public void accept(long bytes) {
        done = Math.min(total, done + bytes);
        observer.loaded(done, total);
    }

    /** All is there that is needed: what a checkpoint has beyond that counts as done. */
    void end() {
        accept(total);
    }
}
