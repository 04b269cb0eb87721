package roselle.model;

import java.util.HashMap;
import java.util.Map;
import roselle.backend.Rope;

/** The inverse frequencies of each kind of rotation, on the device once. */
final class RopeTables {
    private final Store store;
    private final int contextLimit;
    private final Map<RopeSpec, Rope> ropes = new HashMap<>();

    RopeTables(Store store, int contextLimit) {
        this.store = store;
        this.contextLimit = contextLimit;
    }

    Rope of(RopeSpec spec) {
        return ropes.computeIfAbsent(
                spec,
                rope -> new Rope(
                        store.constants(rope.inverseFrequencies(contextLimit)),
                        rope.scaling().attentionFactor(),
                        rope.interleaved()));
    }
}
