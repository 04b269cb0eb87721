package roselle.model.spec;

import java.util.List;

/**
 * Adapters that an encoder has within its own checkpoint, one for each task that texts may be for (Jina's third embedder). They add to
 * all products of layers, and to embeddings.
 *
 * @param names of the tasks
 * @param rank of each adapter's matrices
 * @param scale multiplies what they add
 */
public record TaskSpec(List<String> names, int rank, float scale) {
    private static final int UNIT = 8; // numbers that fast kernels read at a time

    public TaskSpec {
        names = List.copyOf(names);
    }

    /** What a token has for each task: numbers of its own, then those of its type; a multiple of 8. */
    public int numbers() {
        return (2 * names.size() * rank + UNIT - 1) / UNIT * UNIT;
    }
}
