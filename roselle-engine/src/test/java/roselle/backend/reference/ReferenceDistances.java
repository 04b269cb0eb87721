package roselle.backend.reference;

import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.DistanceScores;

/** What queries and keys add to scores for how far they are from each other. */
final class ReferenceDistances {
    private ReferenceDistances() {}

    /** What a row's query, which lies at a position of its own, and the key at another position add. */
    static double met(AttentionLayer layer, int row, int own, int head, int key) {
        DistanceScores met = layer.traits().met();
        if (met == null) {
            return 0;
        }
        int kinds = met.ofQueries().columns() / layer.heads().queryHeads();
        float[] kind = ReferenceBuffer.of(met.kinds());
        int at = head * kinds + (int) kind[met.index(key, own)];
        return ReferenceBuffer.row(met.ofQueries(), row)[at]
                + (double) ReferenceBuffer.row(met.ofKeys(), row - own + key)[at];
    }
}
