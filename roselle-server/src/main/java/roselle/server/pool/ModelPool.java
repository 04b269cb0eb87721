package roselle.server.pool;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.api.InvalidRequestException;
import roselle.server.pool.ModelState.Phase;

/**
 * Models that share one memory; thread-safe.
 *
 * <p>A model goes from unloaded over planning (what will it take?), waiting (for that much memory) and loading to loaded, and back
 * over unloading. The monitor of the pool guards all of this and is never held while a model is planned, loaded or closed: tasks of
 * the executor do that. Memory is promised before a load begins and counts as taken until a model has been closed, so the sum of all
 * plans never exceeds the budget. Models wait for memory in the order in which their plans were made, and only the first of them
 * makes others go: a large one is not starved by small ones, nor, after some seconds, by busy ones, and two never fit because each
 * looked alone.
 *
 * @param <E> what a loaded model is
 */
public final class ModelPool<E> implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(ModelPool.class.getName());

    /** A model that could not be loaded is not tried again for so long: each try reads its files. */
    static final Duration BETWEEN_TRIES = Duration.ofSeconds(5);

    /** So long the first that waits for memory leaves models alone that are never idle. */
    static final Duration BEFORE_INSISTING = Duration.ofSeconds(5);

    private static final String ENDING = "the server is ending";

    private final Map<String, PoolEntry<E>> entries = new LinkedHashMap<>();
    private final Map<String, PoolEntry<E>> named = new LinkedHashMap<>();
    private final Set<PoolEntry<E>> retired = new LinkedHashSet<>(); // no members any more, and not unloaded yet
    private final Deque<PoolEntry<E>> queue = new ArrayDeque<>();
    private final PoolPages<E> pages;
    private final Duration patience;
    private final Executor executor;
    private final LongSupplier clock;
    private long budget;
    private long loads;
    private long failures;
    private long evictions;
    private boolean needsPermission;
    private volatile boolean isClosed;

    /**
     * A pool of nothing that is loaded.
     *
     * @param budget bytes of all that is loaded; 0 for what the machine has, as the first plan says
     * @param patience how long {@link #use} waits
     * @param executor runs what takes long, each task on a thread of its own
     * @param clock in nanoseconds
     */
    public ModelPool(
            List<PoolMember<E>> members, long budget, Duration patience, Executor executor, LongSupplier clock) {
        this.budget = budget;
        this.patience = patience;
        this.executor = executor;
        this.clock = clock;
        pages = new PoolPages<>(executor, this::resized);
        for (PoolMember<E> member : members) {
            enter(new PoolEntry<>(member));
        }
    }

    private void enter(PoolEntry<E> entry) {
        entries.put(entry.name, entry);
        named.put(entry.name, entry);
        entry.aliases.forEach(alias -> named.put(alias, entry));
    }

    /** The name of the model that a name or an alias means. */
    public synchronized Optional<String> find(String name) {
        return Optional.ofNullable(named.get(name)).map(entry -> entry.name);
    }

    // ---- which models there are ----

    /**
     * Adds a model, or puts it in the place of the one of its name. Requests that have the old one keep it to their ends, then it is
     * unloaded; those that wait have the new one.
     */
    public synchronized void put(PoolMember<E> member) {
        var entry = new PoolEntry<>(member);
        @Nullable PoolEntry<E> old = entries.get(member.name());
        if (old != null) {
            entry.isPermitted = old.isPermitted;
            entry.waiters.addAll(old.waiters);
            old.waiters.clear();
            retire(old);
        }
        enter(entry);
        if (!entry.waiters.isEmpty()) {
            proceed(entry);
        }
    }

    /** Forgets a model: those that wait for it hear so, those that have it keep it to their ends. Returns whether there was one. */
    public synchronized boolean remove(String name) {
        @Nullable PoolEntry<E> old = entries.get(name);
        if (old == null) {
            return false;
        }
        failWaiters(old, "the model " + name + " is not there any more", null);
        retire(old);
        return true;
    }

    private void retire(PoolEntry<E> old) {
        entries.remove(old.name);
        named.values().removeIf(each -> each == old);
        queue.remove(old);
        old.sleepLevel = 0;
        if (old.phase == Phase.WAITING) {
            old.rest();
        }
        if (old.phase != Phase.UNLOADED) {
            retired.add(old);
            old.endsWhenIdle = true;
            settle(old);
        }
        advance();
    }

    private Stream<PoolEntry<E>> all() {
        return Stream.concat(entries.values().stream(), retired.stream());
    }

    // ---- requests ----

    /**
     * Waits until a model is loaded.
     *
     * @param canceller is given what ends the wait when nobody wants the model any more
     * @throws CapacityException if it takes too long
     * @throws DeviceException if it cannot be loaded
     */
    public Lease<E> use(String name, Consumer<Runnable> canceller) {
        return use(name, canceller, new LoadListener(patience, patience, _ -> {}));
    }

    /** The same, while {@code listener} hears how far it is. */
    public Lease<E> use(String name, Consumer<Runnable> canceller, LoadListener listener) {
        return new LoadWait<>(this, name, patience, listener).await(canceller);
    }

    /** A model as soon as it is loaded; completed at once where it is. */
    public synchronized CompletableFuture<Lease<E>> ask(String name) {
        PoolEntry<E> entry = entry(name);
        var asked = new CompletableFuture<Lease<E>>();
        long now = clock.getAsLong();
        entry.use(now);
        Optional<RuntimeException> refusal = entry.refusal(now, needsPermission);
        if (isClosed) {
            asked.completeExceptionally(new DeviceException(ENDING));
        } else if (refusal.isPresent()) {
            asked.completeExceptionally(refusal.get());
        } else if (entry.isReady()) {
            hand(entry, asked);
        } else {
            entry.waiters.add(asked);
            proceed(entry);
        }
        return asked;
    }

    private PoolEntry<E> entry(String name) {
        return Objects.requireNonNull(named.get(name), name);
    }

    /** Brings a model that is waited for nearer to them. */
    private void proceed(PoolEntry<E> entry) {
        if (entry.phase == Phase.LOADED) { // it no longer answers, or an operator wants it to go first
            entry.endsWhenIdle = true;
            settle(entry);
        } else if (entry.phase == Phase.UNLOADED) {
            entry.phase = Phase.PLANNING;
            entry.failure = "";
            executor.execute(() -> plan(entry));
        }
    }

    private void hand(PoolEntry<E> entry, CompletableFuture<Lease<E>> asked) {
        entry.users++;
        var lease = new Lease<>(this, entry, Objects.requireNonNull(entry.model));
        if (!asked.complete(lease)) {
            entry.users--; // whoever asked has gone
        }
    }

    /** Forgets those that wait no more; returns why it took so long. */
    synchronized String withdraw(String name) {
        @Nullable PoolEntry<E> entry = named.get(name);
        if (entry == null) {
            return "the model " + name + " is not there any more";
        }
        entry.waiters.removeIf(
                CompletableFuture::isDone); // who is handed a model waits no more, so these are cancelled
        String why = "the model " + entry.name + " was not loaded within " + patience.toSeconds() + " s: "
                + entry.waitingFor(clock.getAsLong()) + "; try again later";
        dropUnwanted(entry);
        return why;
    }

    /** Memory that nobody waits for is for the next one. */
    private void dropUnwanted(PoolEntry<E> entry) {
        if (entry.phase == Phase.WAITING && entry.waiters.isEmpty()) {
            queue.remove(entry);
            entry.rest();
            advance();
        }
    }

    synchronized void release(PoolEntry<E> entry) {
        entry.users--;
        entry.idleSince = clock.getAsLong();
        settle(entry);
        advance();
    }

    synchronized void keepAlive(PoolEntry<E> entry, Duration time) {
        entry.keepAlive = time;
    }

    // ---- loading ----

    private void plan(PoolEntry<E> entry) {
        try {
            planned(entry, entry.source.plan());
        } catch (Throwable failure) {
            failed(entry, failure);
        }
    }

    private synchronized void planned(PoolEntry<E> entry, ModelPlan plan) {
        entry.plan = plan;
        if (budget == 0) {
            budget = plan.machineBytes();
        }
        if (retired.contains(entry)) { // somebody has put another in its place
            retired.remove(entry);
            entry.rest();
            notifyAll(); // who closes the pool waits for it
            return;
        }
        long pinned = entries.values().stream()
                .filter(other -> other.isPinned && other != entry && other.phase.holdsMemory())
                .mapToLong(other -> Math.min(other.granted, other.plan.leastBytes()))
                .sum();
        if (plan.leastBytes() > budget - pinned) {
            throw new CapacityException("it needs " + PoolEntry.megabytes(plan.leastBytes())
                    + " of memory, and there are " + PoolEntry.megabytes(budget - pinned) + " for it (--model-memory)");
        }
        entry.phase = Phase.WAITING;
        entry.waitsSince = clock.getAsLong();
        queue.add(entry);
        dropUnwanted(entry);
        advance();
    }

    /** Gives the first that wait their memory, or makes room for the very first. */
    private void advance() {
        boolean goesOn = !isClosed;
        while (goesOn && !queue.isEmpty()) {
            PoolEntry<E> first = queue.getFirst();
            long now = clock.getAsLong();
            Room.Step step = Room.next(first.need(now), tenants(now), budget);
            switch (step) {
                case Room.Step.Load(long bytes) -> {
                    queue.removeFirst();
                    first.granted = bytes;
                    first.phase = Phase.LOADING;
                    LOG.log(System.Logger.Level.INFO, "event=model_loading model={0}", first.name);
                    executor.execute(() -> load(first));
                }
                case Room.Step.Shrink(Map<String, Long> targets) ->
                    targets.forEach((name, bytes) -> pages.resize(entry(name), bytes));
                case Room.Step.Evict(List<String> names) -> evict(names, first);
                case Room.Step.Wait() -> {}
            }
            goesOn = step instanceof Room.Step.Load; // else a model that has given memory back goes on here
        }
        notifyAll();
    }

    private long held() {
        return all().mapToLong(PoolEntry::bytes).sum();
    }

    /** Who has memory. */
    private List<Room.Tenant> tenants(long now) {
        return all().filter(entry -> entry.phase.holdsMemory())
                .map(entry -> entry.tenant(now))
                .toList();
    }

    /**
     * Has models in use take no new requests, where the first that waits has waited for long: those that are busy all the time would
     * never be idle. They go behind the requests that they have.
     */
    private void insist(long now) {
        if (queue.isEmpty() || now - queue.getFirst().waitsSince < BEFORE_INSISTING.toNanos()) {
            return;
        }
        PoolEntry<E> first = queue.getFirst();
        long coming = all().mapToLong(entry -> entry.isEnding() ? entry.bytes() : entry.coming)
                .sum();
        long missing = first.plan.leastBytes() - (budget - held()) - coming;
        if (missing > 0) {
            Predicate<Room.Tenant> isThere =
                    tenant -> tenant.mayGo() && entry(tenant.name()).isLoaded();
            Room.choose(tenants(now), isThere, missing).ifPresent(names -> evict(names, first));
        }
    }

    private void evict(List<String> names, PoolEntry<E> forWhom) {
        for (String name : names) {
            LOG.log(System.Logger.Level.INFO, "event=model_evicted model={0} for={1}", name, forWhom.name);
            evictions++;
            entry(name).makesRoom = true;
            unload(name);
        }
    }

    @SuppressWarnings("ReferenceEquality") // whether it is still that engine
    synchronized void resized(PoolEntry<E> entry, @Nullable E model, @Nullable Throwable failure) {
        if (entry.model == model) {
            entry.settleBytes(failure == null);
            advance();
        }
    }

    /**
     * Has a model sleep until {@link #wake}: on level 1 with its weights, on level 2 without anything. Requests for it are refused
     * meanwhile, those that are being answered fail on level 1 and go on to their ends on level 2.
     *
     * @return completed when the memory is given back
     * @throws InvalidRequestException if it cannot keep its weights alone
     */
    public synchronized CompletableFuture<Void> sleep(String name, int level) {
        PoolEntry<E> entry = entry(name);
        if (level == 1 && entry.isLoaded()) {
            return pages.sleep(entry);
        }
        entry.sleepLevel = 2;
        unload(name);
        return CompletableFuture.completedFuture(null);
    }

    /** Has a model answer again; one that has nothing is loaded. Returns whether it slept. */
    public synchronized boolean wake(String name) {
        PoolEntry<E> entry = entry(name);
        int level = entry.sleepLevel;
        entry.sleepLevel = 0;
        if (level == 1) {
            pages.wake(entry);
        } else if (level > 0) {
            var _ = ask(name).thenAccept(Lease::close);
        }
        return level > 0;
    }

    private void load(PoolEntry<E> entry) {
        long begin = clock.getAsLong();
        try {
            E model = entry.source.open(entry.granted, (bytes, totalBytes) -> {
                requireOpen();
                entry.progress(bytes, totalBytes);
            });
            loaded(entry, model, clock.getAsLong() - begin);
        } catch (Throwable failure) {
            failed(entry, failure);
        }
    }

    /** Breaks off a load that nobody waits for any more. */
    private void requireOpen() {
        if (isClosed) {
            throw new CancellationException(ENDING);
        }
    }

    private synchronized void loaded(PoolEntry<E> entry, E model, long nanos) {
        loads++;
        entry.phase = Phase.LOADED;
        entry.model = model;
        entry.took(nanos);
        entry.keepAlive = entry.usualKeepAlive;
        entry.endsWhenIdle |= isClosed;
        LOG.log(
                System.Logger.Level.INFO,
                "event=model_loaded model={0} millis={1} bytes={2}",
                entry.name,
                Long.toString(nanos / 1_000_000),
                Long.toString(entry.granted));
        entry.users++; // until all that wait have it
        while (!entry.waiters.isEmpty()) {
            hand(entry, entry.waiters.removeFirst());
        }
        release(entry);
    }

    private synchronized void failed(PoolEntry<E> entry, Throwable failure) {
        failures++;
        queue.remove(entry);
        entry.rest();
        entry.failedAt = clock.getAsLong();
        entry.failure = "the model " + entry.name + " could not be loaded: " + message(failure);
        retired.remove(entry);
        LOG.log(System.Logger.Level.WARNING, "event=model_failed model=" + entry.name, failure);
        failWaiters(entry, entry.failure, failure);
        advance();
    }

    private void failWaiters(PoolEntry<E> entry, String why, @Nullable Throwable cause) {
        while (!entry.waiters.isEmpty()) {
            var failure = cause == null ? new DeviceException(why) : new DeviceException(why, cause);
            entry.waiters.removeFirst().completeExceptionally(failure);
        }
    }

    static String message(@Nullable Throwable failure) {
        @Nullable String message = failure == null ? null : failure.getMessage();
        return message == null ? String.valueOf(failure) : message;
    }

    // ---- unloading ----

    /** Unloads a model as soon as nobody uses it or waits for it; returns whether there is anything to unload. */
    public synchronized boolean unload(String name) {
        PoolEntry<E> entry = entry(name);
        if (entry.phase == Phase.UNLOADED) {
            return false;
        }
        entry.endsWhenIdle = true;
        settle(entry);
        return true;
    }

    /** The same, as an operator wants it, who must permit the next load, where that is needed. */
    public synchronized boolean dismiss(String name) {
        entry(name).isPermitted = false;
        return unload(name);
    }

    /** Unloads what nobody has asked for in its time, and sees to who has waited for long; to be called now and then. */
    public synchronized void expire() {
        long now = clock.getAsLong();
        entries.values().stream().filter(entry -> entry.hasExpired(now)).forEach(this::unload);
        if (!queue.isEmpty()) {
            advance(); // who waited for a model in use may have waited for long enough
        }
        insist(now);
        if (queue.isEmpty()) {
            pages.balance(entries.values(), budget - held());
        }
    }

    /** Has a model go that nobody uses, if it is to go then. */
    private void settle(PoolEntry<E> entry) {
        boolean hasNoTime = entry.keepAlive.isZero() && !entry.isPinned;
        if (entry.isIdle() && (entry.endsWhenIdle || hasNoTime)) {
            unload(entry);
        }
    }

    private void unload(PoolEntry<E> entry) {
        E model = Objects.requireNonNull(entry.model);
        Consumer<E> ending = entry.makesRoom && !isClosed ? entry.source::makeRoom : entry.source::close;
        entry.phase = Phase.UNLOADING;
        entry.model = null;
        executor.execute(() -> close(entry, model, ending));
    }

    private void close(PoolEntry<E> entry, E model, Consumer<E> ending) {
        try {
            ending.accept(model);
        } catch (Throwable failure) {
            LOG.log(System.Logger.Level.ERROR, "event=model_not_closed model=" + entry.name, failure);
        }
        unloaded(entry);
    }

    private synchronized void unloaded(PoolEntry<E> entry) {
        LOG.log(System.Logger.Level.INFO, "event=model_unloaded model={0}", entry.name);
        entry.rest();
        retired.remove(entry);
        if (!entry.waiters.isEmpty() && !isClosed) {
            proceed(entry);
        }
        advance();
    }

    // ---- what is told ----

    /** A model that is loaded at the moment; it may be unloaded at any time. */
    public record Loaded<E>(String name, E model) {}

    /** Those that are loaded at the moment. */
    public synchronized List<Loaded<E>> loaded() {
        return entries.values().stream()
                .flatMap(entry ->
                        Optional.ofNullable(entry.model).map(model -> new Loaded<>(entry.name, model)).stream())
                .toList();
    }

    /** The model that a name or an alias means, if it is there. */
    synchronized Optional<ModelState> state(String name) {
        return Optional.ofNullable(named.get(name)).map(entry -> entry.state(clock.getAsLong()));
    }

    /** All models. */
    public synchronized List<ModelState> states() {
        long now = clock.getAsLong();
        return entries.values().stream().map(entry -> entry.state(now)).toList();
    }

    public synchronized PoolTotals totals() {
        return new PoolTotals(budget, held(), loads, failures, evictions, pages.moves());
    }

    /** From now on models are loaded that operators have permitted, and no others. */
    synchronized void requirePermission() {
        needsPermission = true;
    }

    synchronized void permit(String name) {
        @Nullable PoolEntry<E> entry = named.get(name);
        if (entry != null) {
            entry.isPermitted = true;
        }
    }

    /** Fails who waits, unloads everything and waits for that; requests that go on fail. */
    @Override
    public synchronized void close() {
        isClosed = true;
        queue.forEach(PoolEntry::rest);
        queue.clear();
        for (PoolEntry<E> entry : all().toList()) {
            failWaiters(entry, ENDING, null);
            if (entry.phase == Phase.LOADED) {
                unload(entry);
            }
        }
        try {
            while (all().anyMatch(entry -> entry.phase.isMoving())) {
                wait();
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
