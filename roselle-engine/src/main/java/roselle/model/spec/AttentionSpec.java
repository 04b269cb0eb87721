package roselle.model.spec;

import org.jspecify.annotations.Nullable;
import roselle.backend.operation.HeadShape;

/** The attention of a layer. */
public sealed interface AttentionSpec {
    /** Numbers of a head at most: more than any model has, and little enough that each thread can hold a block of rows of them. */
    int MAX_HEAD_SIZE = 1 << 14;

    private static void requireSize(int size) {
        if (size > MAX_HEAD_SIZE) {
            throw new IllegalArgumentException("heads of " + size + " numbers, expected at most " + MAX_HEAD_SIZE);
        }
    }

    /** Which queries and keys are normalised, if any. */
    enum QueryKeyNorm {
        NONE,
        /** Each head by itself. */
        PER_HEAD,
        /** All heads of a row as one. */
        ALL_HEADS
    }

    /**
     * Heads with keys and values of their own, or shared by groups of query heads (Ainslie et al., 2023).
     *
     * @param window tokens that a query sees, itself included; 0 for all
     * @param rope null where positions are not encoded
     * @param bias whether queries, keys and values have one
     * @param scale multiplies the product of query and key
     * @param softCap 0 for none
     * @param sinks whether each query head has a logit without value
     */
    record MultiHead(
            HeadShape heads,
            int window,
            @Nullable RopeSpec rope,
            QueryKeyNorm norm,
            boolean bias,
            boolean outputBias,
            float scale,
            float softCap,
            boolean sinks)
            implements AttentionSpec {
        public MultiHead {
            if (window < 0) {
                throw new IllegalArgumentException("a window of " + window + " tokens, expected 0 for all or more");
            }
            requireSize(heads.keySize());
            requireSize(heads.valueSize());
        }
    }

    /**
     * One compressed key and value per token for all heads (DeepSeek-V2, section 2.1), attended in compressed form: the
     * matrices that expand it are applied to the query and to the result.
     *
     * @param queryRank numbers of the compressed query; 0 where it is not compressed
     * @param rank numbers of the compressed key and value
     * @param plainSize numbers of a query head without position
     * @param valueSize numbers of a head's value
     * @param epsilon of the norms of the compressed query, key and value
     */
    record Latent(
            int heads, int queryRank, int rank, int plainSize, int valueSize, RopeSpec rope, float scale, float epsilon)
            implements AttentionSpec {
        public Latent {
            requireSize(rank);
            requireSize(plainSize);
            requireSize(valueSize);
        }

        /** Numbers of an uncompressed query head. */
        public int querySize() {
            return plainSize + rope.dimensions();
        }

        /** Numbers that a token adds to the cache, and of a query head that asks for them. */
        public int cachedSize() {
            return rank + rope.dimensions();
        }
    }
}
