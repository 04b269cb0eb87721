package roselle.model.weights;

import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * What a checkpoint calls the parts of a decoder: names without {@code .weight} and {@code .bias}, with {@code {layer}} and
 * {@code {expert}} where numbers go.
 *
 * @param layout how matrices are stored
 */
public record WeightNames(Map<Part, String> templates, Layout layout) {
    /** How a checkpoint stores matrices. */
    public enum Layout {
        /** {@code [outputs, inputs]}, queries before keys before values. */
        PLAIN,
        /** {@code [inputs, outputs]}, except for embeddings (GPT-2). */
        TRANSPOSED,
        /** {@code [outputs, inputs]}, the queries, the key and the value of each key head together (GPT-NeoX, Falcon). */
        PER_HEAD,
        /** Experts {@code [inputs, outputs]} with gate and up alternating, or blocks of them whose scales lie apart (gpt-oss). */
        ALTERNATING_EXPERTS,
        /** Experts {@code [inputs, outputs]} with gates before ups. */
        TRANSPOSED_EXPERTS
    }

    public WeightNames {
        templates = Map.copyOf(templates);
    }

    /** These names with some replaced. */
    public WeightNames with(Map<Part, String> replaced) {
        var all = new EnumMap<Part, String>(templates);
        all.putAll(replaced);
        return new WeightNames(all, layout);
    }

    public WeightNames with(Layout other) {
        return new WeightNames(templates, other);
    }

    /** The name of a part of the whole decoder or of a layer. */
    public Optional<String> name(Part part, int layer) {
        return Optional.ofNullable(templates.get(part)).map(name -> name.replace("{layer}", Integer.toString(layer)));
    }
}
