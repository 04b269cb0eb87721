package roselle.embedding;

import java.util.Arrays;
import java.util.List;
import roselle.checkpoint.Metadata;

/**
 * Which beginnings of a model's vectors are good vectors, too, as its configuration says.
 *
 * @param isTrained whether any are
 * @param dimensions how many numbers they have; empty where any number will do
 */
public record Matryoshka(boolean isTrained, List<Integer> dimensions) {
    private static final String DIMENSIONS = "matryoshka_dimensions";

    public Matryoshka {
        dimensions = List.copyOf(dimensions);
    }

    static Matryoshka of(Metadata config) {
        List<Integer> dimensions = config.has(DIMENSIONS)
                ? Arrays.stream(config.integers(DIMENSIONS)).boxed().toList()
                : List.of();
        return new Matryoshka(!dimensions.isEmpty() || config.flag("is_matryoshka", false), dimensions);
    }

    /** Whether the first so many numbers of a vector are one. */
    public boolean allows(int count) {
        return isTrained && (dimensions.isEmpty() || dimensions.contains(count));
    }
}
