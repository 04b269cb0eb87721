package roselle.model.weights;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Weight;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;

/** A store that remembers which outputs of which weight each tensor became, so that adapters find what they add to. */
public final class AdaptableWeights implements Store {
    private final Store store;
    private final Rearrangement rearrangement;
    private final Map<String, Place> places = new HashMap<>();

    /**
     * The outputs of a weight that a tensor became.
     *
     * @param order the row of the tensor that an output is, counted from {@code firstOutput}
     */
    public record Place(Weight weight, int firstOutput, int outputs, IntUnaryOperator order) {}

    public AdaptableWeights(Store store, Rearrangement rearrangement) {
        this.store = store;
        this.rearrangement = rearrangement;
    }

    /** Where the outputs of a module are, named as its tensor is, without {@code .weight}; empty where it is no single matrix. */
    public Optional<Place> place(String module) {
        return Optional.ofNullable(places.get(module));
    }

    /** Forgets a weight, whose products adapters cannot add to. */
    public void remove(Weight weight) {
        places.values().removeIf(place -> place.weight().equals(weight));
    }

    @Override
    public Weight load(String name, int matrices, List<StoredMatrix> blocks) {
        Weight weight = store.load(name, matrices, blocks);
        if (matrices == 1) {
            remember(weight, blocks);
        }
        return weight;
    }

    /** The outputs of the shared matrix are counted from its own first one. */
    @Override
    public Weight loadWithShared(String name, int matrices, List<StoredMatrix> blocks, List<StoredMatrix> shared) {
        Weight weight = store.loadWithShared(name, matrices, blocks, shared);
        remember(weight, shared);
        return weight;
    }

    private void remember(Weight weight, List<StoredMatrix> blocks) {
        int first = 0;
        for (StoredMatrix block : blocks) {
            int rows = Math.toIntExact(block.shape().rows());
            places.put(module(block.name()), new Place(weight, first, rows, rearrangement.order(block.name())));
            first += rows;
        }
    }

    @Override
    public boolean stacksSharedExperts() {
        return store.stacksSharedExperts();
    }

    /** A tensor's name without what follows the module: {@code .weight}, or the codes of a quantized one. */
    private static String module(String tensor) {
        int dot = tensor.lastIndexOf('.');
        return dot < 0 ? tensor : tensor.substring(0, dot);
    }

    @Override
    public Buffer allocate(DataType type, long elements) {
        return store.allocate(type, elements);
    }

    @Override
    public Buffer constants(float[] values) {
        return store.constants(values);
    }

    @Override
    public Weight loadTable(String name, StoredMatrix table) {
        return store.loadTable(name, table);
    }
}
