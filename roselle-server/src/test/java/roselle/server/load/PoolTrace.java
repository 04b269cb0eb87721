package roselle.server.load;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The models that requests asked for, in their order, and what policies save that keep models in a memory. A model that is asked for
 * must be loaded.
 *
 * @param models one for each request
 * @param bytes of each model
 * @param budget bytes that those that are loaded may take together
 */
record PoolTrace(List<Integer> models, List<Long> bytes, long budget) {
    private static final long UNIT = 1 << 20;

    PoolTrace {
        models = List.copyOf(models);
        bytes = List.copyOf(bytes);
    }

    /**
     * The most that the best choice of models saves that stay loaded all the time, beside which the others have the rest of the memory,
     * in the order of their last use. The choice knows the whole trace; for the worth of 1 of each model what it saves are hits.
     *
     * <p>The rest must have room for the largest that does not stay. For each model that this may be, the choice is the solution of
     * the knapsack problem, in whole mebibytes.
     *
     * @param worth what it saves that a model is loaded
     */
    double bestStatic(IntToDoubleFunction worth) {
        double best = 0;
        for (int largest = 0; largest < bytes.size(); largest++) {
            long left = bytes.get(largest);
            Set<Integer> needed = new TreeSet<>(IntStream.range(0, bytes.size())
                    .filter(model -> bytes.get(model) > left)
                    .boxed()
                    .toList());
            long room = budget - left - needed.stream().mapToLong(bytes::get).sum();
            if (room >= 0) {
                needed.addAll(knapsack(needed, largest, room, worth));
                best = Math.max(best, savedBeside(needed, worth));
            }
        }
        return best;
    }

    private Set<Integer> knapsack(Set<Integer> taken, int without, long room, IntToDoubleFunction worth) {
        double[] gain = new double[bytes.size()];
        models.forEach(model -> gain[model] += worth.applyAsDouble(model));
        int units = (int) (room / UNIT);
        double[] most = new double[units + 1];
        List<Set<Integer>> chosen = new ArrayList<>();
        for (int unit = 0; unit <= units; unit++) {
            chosen.add(Set.of());
        }
        for (int model = 0; model < gain.length; model++) {
            int size = (int) ((bytes.get(model) + UNIT - 1) / UNIT);
            if (taken.contains(model) || model == without || gain[model] == 0) {
                continue;
            }
            for (int unit = units; unit >= size; unit--) {
                if (most[unit - size] + gain[model] > most[unit]) {
                    most[unit] = most[unit - size] + gain[model];
                    Set<Integer> more = new HashSet<>(chosen.get(unit - size));
                    more.add(model);
                    chosen.set(unit, more);
                }
            }
        }
        return chosen.get(units);
    }

    private double savedBeside(Set<Integer> kept, IntToDoubleFunction worth) {
        long room = budget - kept.stream().mapToLong(bytes::get).sum();
        var seen = new HashSet<Integer>();
        var others = new LinkedHashSet<Integer>();
        double saved = 0;
        for (int model : models) {
            boolean isThere = kept.contains(model) ? !seen.add(model) : others.remove(model);
            saved += isThere ? worth.applyAsDouble(model) : 0;
            if (!kept.contains(model)) {
                others.add(model);
                while (others.stream().mapToLong(bytes::get).sum() > room) {
                    others.removeFirst();
                }
            }
        }
        return saved;
    }
}
