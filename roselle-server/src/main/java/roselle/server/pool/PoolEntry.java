package roselle.server.pool;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import roselle.server.pool.ModelState.Phase;

/** One model of a pool, which alone changes it, one thread at a time; but for the progress of a load. */
final class PoolEntry<E> {
    final String name;
    final List<String> aliases;
    final ModelSource<E> source;
    final boolean isPinned;
    final Duration usualKeepAlive;
    final Deque<CompletableFuture<Lease<E>>> waiters = new ArrayDeque<>();

    Phase phase = Phase.UNLOADED;
    ModelPlan plan = ModelPlan.UNKNOWN;

    @Nullable
    E model;

    int users;
    Duration keepAlive;
    boolean endsWhenIdle;
    long loadNanos;
    long idleSince;
    long waitsSince;
    String failure = "";
    long failedAt;
    private double uses;
    private long usedAt;
    private volatile int percent;

    PoolEntry(ModelPool.Member<E> member) {
        name = member.name();
        aliases = member.aliases();
        source = member.source();
        isPinned = member.isPinned();
        usualKeepAlive = member.keepAlive();
        keepAlive = usualKeepAlive;
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
        return isIdle() && !isPinned && waiters.isEmpty();
    }

    /** Whether nobody has asked for it for as long as it is kept. */
    boolean hasExpired(long now) {
        return mayGo() && !keepAlive.isNegative() && now - idleSince >= keepAlive.toNanos();
    }

    long bytes() {
        return phase.holdsMemory() ? plan.bytes() : 0;
    }

    Eviction.Candidate candidate(long now) {
        return new Eviction.Candidate(name, plan.bytes(), faded(now), loadNanos);
    }

    ModelState state(long now) {
        return new ModelState(
                name,
                aliases,
                phase,
                plan,
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
