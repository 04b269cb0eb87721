package roselle.model.weights;

import java.util.HashMap;
import java.util.Map;
import roselle.backend.operation.Rope;
import roselle.model.spec.RopeSpec;

/** The inverse frequencies of each kind of rotation, on the device once. */
public final class RopeTables {
    private final Store store;
    private final int contextLimit;
    private final Map<RopeSpec, Rope> ropes = new HashMap<>();

    public RopeTables(Store store, int contextLimit) {
        this.store = store;
        this.contextLimit = contextLimit;
    }

    public Rope of(RopeSpec spec) {
        return ropes.computeIfAbsent(
                spec,
                rope -> new Rope(
                        store.constants(rope.inverseFrequencies(contextLimit)),
                        rope.scaling().attentionFactor(),
                        rope.interleaved()));
    }
}
