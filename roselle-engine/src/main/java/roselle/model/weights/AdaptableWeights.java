package roselle.model.weights;

import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import roselle.backend.memory.AdapterPart;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;

/** A store that remembers which outputs of which weight each tensor became, so that adapters find what they add to. */
public final class AdaptableWeights implements Store {
    private final Store store;
    private final Rearrangement rearrangement;
    private final Map<String, Place> places = new HashMap<>();
    private final Map<String, Place> tables = new HashMap<>();
    private final Map<Integer, Stacks> stacks = new HashMap<>(); // by layer
    private final IdentityHashMap<Weight, Map<String, Place>> matrices = new IdentityHashMap<>(); // of what is stacked
    private final IdentityHashMap<Weight, IntUnaryOperator> orders = new IdentityHashMap<>(); // of stacks

    /**
     * The outputs of a weight that a tensor became.
     *
     * @param use what adapters change of it
     * @param matrix of a stack the one in question; 0 where it is no stack
     * @param order the row of the tensor that an output is, counted from {@code firstOutput}
     */
    public record Place(
            Weight weight, AdapterPart.Use use, int matrix, int firstOutput, int outputs, IntUnaryOperator order) {
        Place with(AdapterPart.Use other) {
            return new Place(weight, other, matrix, firstOutput, outputs, order);
        }
    }

    /**
     * The experts of a layer.
     *
     * @param gateAndUpOrder the row of a tensor of gates and ups that an output is
     */
    public record Stacks(Weight gateAndUp, IntUnaryOperator gateAndUpOrder, Weight down, int experts) {}

    public AdaptableWeights(Store store, Rearrangement rearrangement) {
        this.store = store;
        this.rearrangement = rearrangement;
    }

    /** Where the outputs of a module are, named as its tensor is, without {@code .weight}; empty where it is no single matrix. */
    public Optional<Place> place(String module) {
        return Optional.ofNullable(places.get(module));
    }

    /** The table whose rows a module gives by token. */
    public Optional<Place> table(String module) {
        return Optional.ofNullable(tables.get(module));
    }

    /** The module whose table a weight is. */
    public Optional<String> tableModule(Weight weight) {
        return tables.entrySet().stream()
                .filter(entry -> entry.getValue().weight().equals(weight))
                .map(Map.Entry::getKey)
                .findFirst();
    }

    /** Whether a weight is embedding and output in one. */
    public boolean isTied(Weight weight) {
        return tableModule(weight).isPresent()
                && places.values().stream().anyMatch(place -> place.weight().equals(weight));
    }

    /** The experts of a layer; empty where it has none that adapters can add to. */
    public Optional<Stacks> stacks(int layer) {
        return Optional.ofNullable(stacks.get(layer));
    }

    /** Forgets a weight, whose products adapters cannot add to. */
    public void remove(Weight weight) {
        places.values().removeIf(place -> place.weight().equals(weight));
    }

    /** The products of a weight are activated in their epilogue. */
    public void activate(Weight weight) {
        places.replaceAll(
                (_, place) -> place.weight().equals(weight) ? place.with(AdapterPart.Use.ACTIVATED_PRODUCT) : place);
    }

    /** A table that adapters can change. */
    public void addTable(String module, Weight table) {
        tables.put(module, whole(table, AdapterPart.Use.TABLE, table.columns()));
    }

    /** What gives logits that adapters can change; another weight's module where it is an embedding, too. */
    public void addLogits(String module, Weight output) {
        places.put(module, whole(output, AdapterPart.Use.LOGITS, output.rows()));
    }

    private static Place whole(Weight weight, AdapterPart.Use use, int outputs) {
        return new Place(weight, use, 0, 0, outputs, IntUnaryOperator.identity());
    }

    /** Experts of a layer that adapters can add to. */
    public void addExperts(int layer, Weight gateAndUp, Weight down, int experts) {
        places.putAll(matrices.getOrDefault(gateAndUp, Map.of()));
        places.putAll(matrices.getOrDefault(down, Map.of()));
        IntUnaryOperator order = orders.getOrDefault(gateAndUp, IntUnaryOperator.identity());
        stacks.put(layer, new Stacks(gateAndUp, order, down, experts));
    }

    @Override
    public Weight load(String name, int count, List<StoredMatrix> blocks) {
        Weight weight = store.load(name, count, blocks);
        if (count == 1) {
            places.putAll(placesOf(weight, blocks, AdapterPart.Use.PRODUCT, 0));
        } else {
            matrices.put(weight, placesOf(weight, blocks, AdapterPart.Use.EXPERT, 0));
            orders.put(weight, blocks.size() == count ? order(blocks.getFirst()) : IntUnaryOperator.identity());
        }
        return weight;
    }

    /** The outputs of the shared matrix are counted from its own first one. */
    @Override
    public Weight loadWithShared(String name, int count, List<StoredMatrix> blocks, List<StoredMatrix> shared) {
        Weight weight = store.loadWithShared(name, count, blocks, shared);
        matrices.put(weight, placesOf(weight, blocks, AdapterPart.Use.EXPERT, 0));
        orders.put(weight, blocks.size() == count ? order(blocks.getFirst()) : IntUnaryOperator.identity());
        places.putAll(placesOf(weight, shared, AdapterPart.Use.PRODUCT, count));
        return weight;
    }

    private IntUnaryOperator order(StoredMatrix block) {
        return rearrangement.order(block.name());
    }

    /** The places of blocks, which follow each other from a matrix on; parts of one tensor have none. */
    private Map<String, Place> placesOf(
            Weight weight, List<StoredMatrix> blocks, AdapterPart.Use use, int firstMatrix) {
        var found = new HashMap<String, Place>();
        var seen = new HashSet<String>();
        long first = 0;
        for (StoredMatrix block : blocks) {
            int rows = Math.toIntExact(block.shape().rows());
            String module = module(block.name());
            int matrix = firstMatrix + (int) (first / weight.rows());
            var place = new Place(weight, use, matrix, (int) (first % weight.rows()), rows, order(block));
            if (seen.add(module) || use == AdapterPart.Use.PRODUCT) {
                found.put(module, place);
            } else {
                found.remove(module);
            }
            first += rows;
        }
        return found;
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
    public Rows ones(int columns) {
        return store.ones(columns);
    }

    @Override
    public Weight loadTable(String name, StoredMatrix table) {
        return store.loadTable(name, table);
    }
}
