package roselle.server.pool;

import java.util.concurrent.CompletableFuture;

/** A made-up model whose pages can be given up and taken again; what it gives up is free when the test says so, or at once. */
final class ElasticSource implements ModelSource<ElasticSource> {
    private final long least;
    private final long most;
    CompletableFuture<Void> shrinking = CompletableFuture.completedFuture(null);
    long has;
    long wants;
    boolean isAsleep;
    int loads;

    ElasticSource(long least, long most) {
        this.least = least;
        this.most = most;
    }

    @Override
    public ModelPlan plan() {
        return new ModelPlan(most, least, 1, 100, 1000);
    }

    @Override
    public ElasticSource open(Progress progress) {
        loads++;
        has = most;
        return this;
    }

    @Override
    public boolean isSound(ElasticSource model) {
        return true;
    }

    @Override
    public void close(ElasticSource model) {
        has = 0;
    }

    @Override
    public CompletableFuture<Void> resize(ElasticSource model, long bytes) {
        if (bytes >= has) {
            has = bytes;
            return CompletableFuture.completedFuture(null);
        }
        return shrinking.thenRun(() -> has = bytes);
    }

    @Override
    public long wants(ElasticSource model) {
        return wants;
    }

    @Override
    public boolean sleeps(ElasticSource model) {
        return true;
    }

    @Override
    public CompletableFuture<Void> sleep(ElasticSource model) {
        isAsleep = true;
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<Void> wake(ElasticSource model) {
        isAsleep = false;
        return CompletableFuture.completedFuture(null);
    }
}
