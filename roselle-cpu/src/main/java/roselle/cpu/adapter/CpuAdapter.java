package roselle.cpu.adapter;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Adapter;
import roselle.backend.memory.LowRank;
import roselle.backend.memory.Weight;

/**
 * An adapter in native memory, by the weights that it adds to.
 *
 * <p>Its arena is the collector's: a step that was launched ahead may still read an adapter that nobody else knows of any more.
 */
public final class CpuAdapter implements Adapter {
    private final IdentityHashMap<Weight, Addition> additions = new IdentityHashMap<>();
    private final long bytes;

    private CpuAdapter(IdentityHashMap<Weight, List<LowRank>> byWeight) {
        Arena arena = Arena.ofAuto();
        long sum = 0;
        for (Map.Entry<Weight, List<LowRank>> each : byWeight.entrySet()) {
            var addition = new Addition(each.getValue(), arena);
            additions.put(each.getKey(), addition);
            sum += addition.bytes();
        }
        bytes = sum;
    }

    /** Copies the matrices. */
    public static CpuAdapter of(List<LowRank> matrices) {
        var byWeight = new IdentityHashMap<Weight, List<LowRank>>();
        for (LowRank each : matrices) {
            byWeight.computeIfAbsent(each.weight(), _ -> new ArrayList<>()).add(each);
        }
        return new CpuAdapter(byWeight);
    }

    @Nullable
    Addition to(Weight weight) {
        return additions.get(weight);
    }

    @Override
    public long bytes() {
        return bytes;
    }
}
