package roselle.embedding;

/**
 * A vector of a vocabulary, most of whose numbers are 0.
 *
 * @param indices token ids, ascending
 * @param values more than 0, as many
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, and never compared
public record SparseVector(int[] indices, float[] values) {
    public SparseVector {
        if (indices.length != values.length) {
            throw new IllegalArgumentException(indices.length + " indices, but " + values.length + " values");
        }
        indices = indices.clone();
        values = values.clone();
    }

    /** One of pairs of an index and a value, behind each other, as {@link TextResults} has it. */
    public static SparseVector of(float[] pairs) {
        var indices = new int[pairs.length / 2];
        var values = new float[indices.length];
        for (int i = 0; i < indices.length; i++) {
            indices[i] = (int) pairs[2 * i]; // vocabularies are far below 2^24
            values[i] = pairs[2 * i + 1];
        }
        return new SparseVector(indices, values);
    }
}
