package roselle.server.pool;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import roselle.api.InvalidRequestException;

/**
 * Moves pages between the models of a pool that are loaded; it is called with the pool's monitor held.
 *
 * <p>What grows counts at once, what shrinks when its engine says that the memory is free: the sum never exceeds the budget.
 */
final class PoolPages<E> {
    private static final System.Logger LOG = System.getLogger(ModelPool.class.getName());

    /** Pages of a model move to others where it is at least one such part of those that it can give. */
    private static final int MOVED_PARTS = 16;

    private final Executor executor;
    private final Resized<E> resized;
    private long moves;

    /** Is told that a model, which may have been unloaded meanwhile, has given up what it was to, or has failed to. */
    interface Resized<E> {
        void tell(PoolEntry<E> entry, @Nullable E model, @Nullable Throwable failure);
    }

    /** {@code resized} is told on a thread of the executor. */
    PoolPages(Executor executor, Resized<E> resized) {
        this.executor = executor;
        this.resized = resized;
    }

    /** How often a model was given pages or gave them up. */
    long moves() {
        return moves;
    }

    /** Has a model go to so many bytes. */
    void resize(PoolEntry<E> entry, long bytes) {
        @Nullable E model = entry.model;
        if (model == null || !entry.isElastic()) {
            return;
        }
        LOG.log(
                System.Logger.Level.INFO,
                "event=model_resized model={0} from={1} to={2}",
                entry.name,
                Long.toString(entry.granted),
                Long.toString(bytes));
        moves++;
        if (bytes < entry.granted) {
            entry.coming = entry.granted - bytes;
        } else {
            entry.granted = bytes;
        }
        var _ = tell(entry, entry.source.resize(model, bytes));
    }

    private CompletableFuture<Void> tell(PoolEntry<E> entry, CompletableFuture<Void> done) {
        @Nullable E model = entry.model;
        return done.whenCompleteAsync((_, failure) -> resized.tell(entry, model, failure), executor);
    }

    /** Gives what is free, and what others have beyond their part, to the models that are short of pages. */
    void balance(Collection<PoolEntry<E>> entries, long freeBytes) {
        List<PoolEntry<E>> elastic =
                entries.stream().filter(PoolEntry::isElastic).toList();
        List<PageShares.Holder> holders = elastic.stream().map(this::holder).toList();
        if (holders.stream().noneMatch(holder -> holder.wants() > holder.has())) {
            return;
        }
        long free = freeBytes;
        long bytes = free + holders.stream().mapToLong(PageShares.Holder::has).sum();
        List<Long> targets = PageShares.targets(holders, bytes);
        for (int index = 0; index < targets.size(); index++) {
            PageShares.Holder holder = holders.get(index);
            long change = targets.get(index) - holder.has();
            if (change > 0) {
                long more = Math.min(change, free);
                free -= more;
                if (more > 0) {
                    resize(elastic.get(index), holder.has() + more);
                }
            } else if (-change * MOVED_PARTS > holder.most() - holder.guaranteed()) {
                resize(elastic.get(index), targets.get(index));
            }
        }
    }

    private PageShares.Holder holder(PoolEntry<E> entry) {
        @Nullable E model = entry.model;
        long wants = model == null ? 0 : Math.min(entry.plan.bytes(), entry.source.wants(model));
        return new PageShares.Holder(entry.plan.leastBytes(), entry.plan.bytes(), entry.granted, wants, entry.share);
    }

    /** Has a loaded model keep its weights, and what it is guaranteed as a promise. */
    CompletableFuture<Void> sleep(PoolEntry<E> entry) {
        E model = java.util.Objects.requireNonNull(entry.model);
        if (!entry.source.sleeps(model)) {
            throw new InvalidRequestException("the model " + entry.name
                    + " cannot keep its weights alone where it is loaded: level 2 unloads it");
        }
        if (entry.isElastic()) {
            entry.coming = Math.max(0, entry.granted - entry.plan.leastBytes());
        }
        entry.sleepLevel = 1;
        return tell(entry, entry.source.sleep(model));
    }

    void wake(PoolEntry<E> entry) {
        @Nullable E model = entry.model;
        if (model != null) {
            var _ = entry.source.resize(model, entry.granted - entry.coming);
            var _ = entry.source.wake(model);
        }
    }
}
