package roselle.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import roselle.api.CheckpointException;

/** A model of so many bytes, whose loads are counted. */
final class FakeSource implements ModelSource<FakeSource.FakeModel> {
    /** What a model is here. */
    static final class FakeModel {
        volatile boolean isClosed;
        volatile boolean isDead;
    }

    private final long bytes;
    final AtomicInteger open = new AtomicInteger();
    final AtomicInteger loads = new AtomicInteger();
    volatile String failure = "";
    volatile long hostBytes;

    FakeSource(long bytes) {
        this.bytes = bytes;
    }

    @Override
    public ModelPlan plan() {
        return ModelPlan.fixed(bytes, bytes / 2, 100, 1000);
    }

    @Override
    public FakeModel open(Progress progress) {
        if (!failure.isEmpty()) {
            throw new CheckpointException(failure);
        }
        progress.loaded(bytes, bytes);
        loads.incrementAndGet();
        open.incrementAndGet();
        return new FakeModel();
    }

    @Override
    public long hostBytes() {
        return hostBytes;
    }

    @Override
    public boolean isSound(FakeModel model) {
        return !model.isDead;
    }

    @Override
    public void close(FakeModel model) {
        assertThat(model.isClosed).isFalse();
        model.isClosed = true;
        open.decrementAndGet();
    }
}
