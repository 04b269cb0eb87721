package roselle.quantization.recipe;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import roselle.checkpoint.Metadata;

/**
 * What mixes ask of a model.
 *
 * @param queriesPerKey heads of queries for each head of keys
 * @param valueIn layers that have a matrix of values, in order
 * @param sharesEmbedding whether the embedding is the output, too
 */
record ModelFacts(int layers, int experts, int queriesPerKey, List<Integer> valueIn, boolean sharesEmbedding) {
    private static final String LAYER = "blk.";

    ModelFacts {
        valueIn = List.copyOf(valueIn);
    }

    static ModelFacts of(Metadata config, Set<String> tensors) {
        String family = config.string("general.architecture") + ".";
        int heads = first(config, family + "attention.head_count");
        int keys = first(config, family + "attention.head_count_kv");
        var valueIn = new TreeSet<Integer>();
        for (String name : tensors) {
            if (TensorKind.of(name).makesValues()) {
                valueIn.add(layerOf(name));
            }
        }
        return new ModelFacts(
                config.integer(family + "block_count", 0),
                config.integer(family + "expert_count", 0),
                keys == 0 ? 1 : heads / keys,
                List.copyOf(valueIn),
                !tensors.contains("output.weight"));
    }

    private static int first(Metadata config, String key) {
        int[] numbers = config.has(key) ? config.integers(key) : new int[0];
        return numbers.length == 0 ? 0 : numbers[0];
    }

    /** Layers that have values. */
    int valueLayers() {
        return valueIn.size();
    }

    /** Which of those a layer is. */
    int valueIndex(int layer) {
        return valueIn.indexOf(layer);
    }

    /** The number behind {@code blk.}; 0 where there is none. */
    static int layerOf(String name) {
        int end = LAYER.length();
        while (name.startsWith(LAYER) && end < name.length() && Character.isDigit(name.charAt(end))) {
            end++;
        }
        boolean isNumber = end > LAYER.length() && end < LAYER.length() + 7;
        return isNumber && name.startsWith(LAYER) ? Integer.parseInt(name, LAYER.length(), end, 10) : 0;
    }
}
