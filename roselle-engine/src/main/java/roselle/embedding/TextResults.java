package roselle.embedding;

import java.util.List;

/**
 * What texts gave, in their order: embeddings, or the logits of a classifier.
 *
 * @param vectors one for each text
 * @param tokens of all texts
 */
public record TextResults(List<float[]> vectors, int tokens) {
    public TextResults {
        vectors = List.copyOf(vectors);
    }
}
