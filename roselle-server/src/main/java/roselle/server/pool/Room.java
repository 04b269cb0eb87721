package roselle.server.pool;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import roselle.server.pool.Eviction.Candidate;

/**
 * What is to be done next so that a model finds its memory; pure.
 *
 * <p>It takes what is free, if it can run in that. Else pages are had from models that are loaded, down to what each of them is
 * guaranteed: those that were of least use to it lose what they remember, and no model has to be loaded again. Only then models
 * go. Where the least valuable ones are in use or on their way, and only better ones idle, the model waits for the former, some
 * times as long as it would take to load the latter again, which would then push out another: to wait in proportion to the loss,
 * as one rents skis before buying them, costs at most that multiple of what the best would cost that knew how long they stay in use
 * (Karlin et al., Competitive Snoopy Caching, 1988).
 */
final class Room {
    /** Nobody waits longer for a model in use while others are idle. */
    static final long LONGEST_WAIT_NANOS = 5_000_000_000L;

    /** How many times as long as it takes to load the models that are spared; found by {@code HitsTest}. */
    static final int LOADS_WAITED = 5;

    private Room() {}

    /**
     * A model that waits for memory.
     *
     * @param leastBytes with which it can run
     * @param mostBytes that it would take
     * @param waitedNanos since it was planned
     */
    record Need(long leastBytes, long mostBytes, long waitedNanos) {}

    /**
     * A model that has memory.
     *
     * @param bytes that it has
     * @param leastBytes to which its pages can go down; {@code bytes} where they cannot
     * @param comingBytes of these that it is giving back
     * @param uses requests for it, of which older ones count less
     * @param loadNanos how long it takes to load
     * @param isIdle whether nobody uses it, so that it can go at once
     * @param mayGo whether it can be unloaded for others, now or later
     */
    record Tenant(
            String name,
            long bytes,
            long leastBytes,
            long comingBytes,
            double uses,
            long loadNanos,
            boolean isIdle,
            boolean mayGo) {
        long spareBytes() {
            return Math.max(0, bytes - comingBytes - leastBytes);
        }

        /** What it frees beyond its spare bytes. */
        Candidate candidate() {
            return new Candidate(name, bytes - comingBytes - spareBytes(), uses, loadNanos);
        }
    }

    /** What to do. */
    sealed interface Step {
        /** Load it with so much memory. */
        record Load(long bytes) implements Step {}

        /** Have these models go down to so many bytes. */
        record Shrink(Map<String, Long> bytes) implements Step {}

        /** Have these models go. */
        record Evict(List<String> names) implements Step {}

        /** Nothing but time helps. */
        record Wait() implements Step {}
    }

    static Step next(Need need, List<Tenant> tenants, long budget) {
        long free = budget - sum(tenants, Tenant::bytes);
        if (free >= need.leastBytes) {
            return new Step.Load(Math.min(free, need.mostBytes));
        }
        long missing = need.leastBytes - free - sum(tenants, Tenant::comingBytes);
        if (missing <= 0) {
            return new Step.Wait();
        }
        long spare = sum(tenants, Tenant::spareBytes);
        return spare >= missing ? shrink(missing, tenants) : evict(need, missing - spare, tenants);
    }

    private static long sum(List<Tenant> tenants, ToLongFunction<Tenant> bytes) {
        return tenants.stream().mapToLong(bytes).sum();
    }

    private static Step shrink(long missing, List<Tenant> tenants) {
        var cheapest = new ArrayList<>(tenants);
        cheapest.sort(
                Comparator.comparingDouble((Tenant tenant) -> tenant.candidate().worthOfByte())
                        .thenComparing(Tenant::name));
        var targets = new HashMap<String, Long>();
        long left = missing;
        for (Tenant tenant : cheapest) {
            long part = Math.min(left, tenant.spareBytes());
            if (part > 0) {
                targets.put(tenant.name, tenant.bytes - tenant.comingBytes - part);
                left -= part;
            }
        }
        return new Step.Shrink(targets);
    }

    private static Step evict(Need need, long missing, List<Tenant> tenants) {
        Optional<List<String>> best = choose(tenants, Tenant::mayGo, missing);
        Optional<List<String>> idle = choose(tenants, tenant -> tenant.mayGo && tenant.isIdle, missing);
        if (best.isEmpty() || idle.isEmpty()) {
            return new Step.Wait();
        }
        var dearer = new HashSet<>(idle.get());
        best.get().forEach(dearer::remove);
        long toLoadAgain = tenants.stream()
                .filter(tenant -> dearer.contains(tenant.name))
                .mapToLong(Tenant::loadNanos)
                .sum();
        boolean isWorthWaiting = need.waitedNanos < Math.min(LOADS_WAITED * toLoadAgain, LONGEST_WAIT_NANOS);
        return isWorthWaiting ? new Step.Wait() : new Step.Evict(idle.get());
    }

    /** Those that go first, of some, in use or not. */
    static Optional<List<String>> choose(List<Tenant> tenants, Predicate<Tenant> which, long missing) {
        return Eviction.choose(
                tenants.stream().filter(which).map(Tenant::candidate).toList(), missing);
    }
}
