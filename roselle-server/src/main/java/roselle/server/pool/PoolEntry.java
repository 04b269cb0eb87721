package roselle.server.pool;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.server.pool.ModelState.Phase;

/** One model of a pool, which alone changes it, one thread at a time; but for the progress of a load. */
final class PoolEntry<E> {
    final String name;
    final List<String> aliases;
    final ModelSource<E> source;
    final boolean isPinned;
    final Duration usualKeepAlive;
    final double share;
    final Deque<CompletableFuture<Lease<E>>> waiters = new ArrayDeque<>();

    Phase phase = Phase.UNLOADED;
    ModelPlan plan = ModelPlan.UNKNOWN;

    @Nullable
    E model;

    /** Bytes that it was given, while it holds memory. */
    long granted;

    /** Of these, what it is about to give back. */
    long coming;

    /** Whether it has failed to give pages up, and is not asked again. */
    boolean isStiff;

    /** 1 where it has its weights alone, 2 where it has nothing, and nobody may ask for it; 0 where it is awake. */
    int sleepLevel;

    /** Whether an operator has allowed it to be loaded, where that is needed. */
    boolean isPermitted;

    int users;
    Duration keepAlive;
    boolean endsWhenIdle;

    /** Whether it ends for another, and may come back soon. */
    boolean makesRoom;

    long loadNanos;
    long idleSince;
    long waitsSince;
    String failure = "";
    long failedAt;
    private double uses;
    private long usedAt;
    private volatile int percent;

    PoolEntry(PoolMember<E> member) {
        name = member.name();
        aliases = member.aliases();
        source = member.source();
        isPinned = member.isPinned();
        usualKeepAlive = member.keepAlive();
        keepAlive = usualKeepAlive;
        share = member.share();
    }

    void use(long now) {
        uses = faded(now) + 1;
        usedAt = now;
    }

    private double faded(long now) {
        return Eviction.faded(uses, now - usedAt);
    }

    /** It takes nothing any more, and nobody has said what is to become of it. */
    void rest() {
        phase = Phase.UNLOADED;
        endsWhenIdle = false;
        makesRoom = false;
        granted = 0;
        coming = 0;
        isStiff = false;
        percent = 0;
    }

    void progress(long bytes, long totalBytes) {
        percent = totalBytes == 0 ? 0 : (int) (100 * Math.min(bytes, totalBytes) / totalBytes);
    }

    /** Whether it is loaded, and will answer who asks. */
    boolean isReady() {
        return isLoaded() && model != null && source.isSound(model);
    }

    /** Whether it has its memory, and nobody has said yet that it goes. */
    boolean isLoaded() {
        return phase == Phase.LOADED && !endsWhenIdle;
    }

    /** Whether its memory becomes free as soon as nobody uses it. */
    boolean isEnding() {
        return phase == Phase.UNLOADING || (phase == Phase.LOADED && endsWhenIdle);
    }

    boolean isIdle() {
        return phase == Phase.LOADED && users == 0;
    }

    /** Whether it may go for another. */
    boolean mayGo() {
        return isIdle() && !isPinned && waiters.isEmpty() && sleepLevel == 0;
    }

    /** Whether nobody has asked for it for as long as it is kept. */
    boolean hasExpired(long now) {
        return mayGo() && !keepAlive.isNegative() && now - idleSince >= keepAlive.toNanos();
    }

    long bytes() {
        return phase.holdsMemory() ? granted : 0;
    }

    /**
     * Takes note how long a load took. What disturbs a load makes it longer, so the shortest one tells the most; it counts a quarter
     * more with each load that took longer.
     */
    void took(long nanos) {
        loadNanos = loadNanos == 0 ? nanos : Math.min(nanos, loadNanos + loadNanos / 4);
    }

    /** What it was about to give back is free; or it has failed to, and has it still. */
    void settleBytes(boolean isFree) {
        granted -= isFree ? coming : 0;
        coming = 0;
        isStiff |= !isFree;
    }

    /** Whether its pages can be moved to others and back. */
    boolean isElastic() {
        return isLoaded() && !isStiff && sleepLevel == 0 && coming == 0 && plan.leastBytes() < plan.bytes();
    }

    Room.Tenant tenant(long now) {
        boolean isUnloading = phase == Phase.UNLOADING;
        return new Room.Tenant(
                name,
                granted,
                isElastic() ? plan.leastBytes() : granted,
                isUnloading ? granted : coming,
                faded(now),
                loadNanos,
                mayGo(),
                (isLoaded() || phase == Phase.LOADING) && !isPinned && sleepLevel == 0);
    }

    Room.Need need(long now) {
        return new Room.Need(plan.leastBytes(), plan.bytes(), now - waitsSince);
    }

    /** Why whoever asks for it is sent away, if so. */
    Optional<RuntimeException> refusal(long now, boolean needsPermission) {
        if (sleepLevel > 0) {
            return Optional.of(
                    new CapacityException("the model " + name + " sleeps: an operator wakes it up (/wake_up)"));
        }
        if (needsPermission && !isPermitted) {
            return Optional.of(new CapacityException("the model " + name + " is not loaded: an operator loads it"));
        }
        boolean hasJustFailed = !failure.isEmpty() && now - failedAt < ModelPool.BETWEEN_TRIES.toNanos();
        return phase == Phase.UNLOADED && hasJustFailed ? Optional.of(new DeviceException(failure)) : Optional.empty();
    }

    /** What whoever asks for it waits for. */
    String waitingFor(long now) {
        return switch (phase) {
            case WAITING ->
                "it needs " + megabytes(plan.leastBytes()) + " of memory, and the models that are loaded are in use";
            case PLANNING, LOADING -> "it is being loaded, " + state(now).percent() + " % of it so far";
            case UNLOADED, LOADED, UNLOADING -> "it is unloaded first";
        };
    }

    static String megabytes(long bytes) {
        return Math.ceilDiv(bytes, 1 << 20) + " MiB";
    }

    ModelState state(long now) {
        return new ModelState(
                name,
                aliases,
                phase,
                plan,
                bytes(),
                source.hostBytes(),
                sleepLevel,
                phase == Phase.LOADED ? 100 : percent,
                users,
                isPinned,
                remaining(now),
                failure);
    }

    private Optional<Duration> remaining(long now) {
        if (phase != Phase.LOADED || isPinned || keepAlive.isNegative()) {
            return Optional.empty();
        }
        long passed = users > 0 ? 0 : now - idleSince;
        return Optional.of(Duration.ofNanos(Math.max(0, keepAlive.toNanos() - passed)));
    }
}
