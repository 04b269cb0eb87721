package roselle.model.spec;

import org.jspecify.annotations.Nullable;
import roselle.backend.operation.Activation;
import roselle.backend.operation.DeltaHeads;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.PositionScale;

/** The attention of a layer, or what stands in its place. */
public sealed interface AttentionSpec {
    /** Numbers of a head at most: more than any model has, and little enough that each thread can hold a block of rows of them. */
    int MAX_HEAD_SIZE = 1 << 14;

    /** Inputs that a convolution sees at most: those before a page's first token lie in the page before it, however small pages are. */
    int MAX_TAPS = 9;

    static void requireSize(int size) {
        if (size > MAX_HEAD_SIZE) {
            throw new IllegalArgumentException("heads of " + size + " numbers, expected at most " + MAX_HEAD_SIZE);
        }
    }

    /** Which queries and keys are normalised, if any. */
    enum QueryKeyNorm {
        NONE,
        /** Each head by itself. */
        PER_HEAD,
        /** Each head by itself, without weights. */
        PLAIN,
        /** All heads of a row as one. */
        ALL_HEADS
    }

    /** What a value is. */
    enum Value {
        /** A product of the input. */
        PRODUCT,
        /** The same, each head normalised, without weights. */
        NORMED,
        /** A head's key before its norm and rotation, normalised without weights: there is no product for values (Gemma 4). */
        NORMED_KEY
    }

    /** Nothing: the layer is a feed-forward alone. */
    record None() implements AttentionSpec {}

    /**
     * Heads with keys and values of their own, or shared by groups of query heads (Ainslie et al., 2023).
     *
     * @param window tokens that a query sees, itself included; 0 for all
     * @param rope null where positions are not encoded
     * @param bias whether queries, keys and values have one
     * @param scale multiplies the product of query and key
     * @param softCap 0 for none
     * @param sinks whether each query head has a logit without value
     * @param gated whether what is attended is multiplied, number by number, with the sigmoid of a product of the input
     * @param bidirectional whether a query sees what is behind it, too, and the window reaches both ways
     * @param value what a value is
     * @param traits what few families have
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
            boolean sinks,
            boolean gated,
            boolean bidirectional,
            Value value,
            AttentionTraits traits)
            implements AttentionSpec {
        /** Heads as most families have them. */
        public MultiHead(
                HeadShape heads,
                int window,
                @Nullable RopeSpec rope,
                QueryKeyNorm norm,
                boolean bias,
                boolean outputBias,
                float scale,
                float softCap,
                boolean sinks,
                boolean gated,
                boolean bidirectional,
                Value value) {
            this(
                    heads,
                    window,
                    rope,
                    norm,
                    bias,
                    outputBias,
                    scale,
                    softCap,
                    sinks,
                    gated,
                    bidirectional,
                    value,
                    AttentionTraits.NONE);
        }

        /** These within a window, turned so. */
        public MultiHead with(int tokens, @Nullable RopeSpec turn) {
            return new MultiHead(
                    heads,
                    tokens,
                    turn,
                    norm,
                    bias,
                    outputBias,
                    scale,
                    softCap,
                    sinks,
                    gated,
                    bidirectional,
                    value,
                    traits);
        }

        /** These with other sizes. */
        public MultiHead with(HeadShape shape) {
            return new MultiHead(
                    shape,
                    window,
                    rope,
                    norm,
                    bias,
                    outputBias,
                    scale,
                    softCap,
                    sinks,
                    gated,
                    bidirectional,
                    value,
                    traits);
        }

        /** These with other traits. */
        public MultiHead with(AttentionTraits others) {
            return new MultiHead(
                    heads,
                    window,
                    rope,
                    norm,
                    bias,
                    outputBias,
                    scale,
                    softCap,
                    sinks,
                    gated,
                    bidirectional,
                    value,
                    others);
        }

        /** These with other norms of queries and keys, and sinks or not. */
        public MultiHead with(QueryKeyNorm norms, boolean hasSinks) {
            return new MultiHead(
                    heads,
                    window,
                    rope,
                    norms,
                    bias,
                    outputBias,
                    scale,
                    softCap,
                    hasSinks,
                    gated,
                    bidirectional,
                    value,
                    traits);
        }

        public MultiHead {
            if (window < 0) {
                throw new IllegalArgumentException("a window of " + window + " tokens, expected 0 for all or more");
            }
            requireSize(heads.keySize());
            requireSize(heads.valueSize());
            if (traits.normsTurned() && norm == QueryKeyNorm.ALL_HEADS) {
                throw new IllegalArgumentException("norms behind a rotation are those of single heads");
            }
            if (traits.index() != null
                    && (traits.index().choices() != heads.keyHeads()
                            || !traits.index().isOwn()
                            || window != 0
                            || bidirectional)) {
                throw new IllegalArgumentException(
                        "each head of keys has blocks chosen for it, from all that are before");
            }
            if (traits.distances() != null
                    && (!bidirectional || rope != null || heads.queryHeads() != heads.keyHeads())) {
                throw new IllegalArgumentException(
                        "who meets distances sees all, is not turned, and has a head of keys for each");
            }
            if (traits.isChunked() && (window == 0 || bidirectional)) {
                throw new IllegalArgumentException("chunks of attention have a length and do not look ahead");
            }
            if (traits.outputScale() != 1f && outputBias) {
                throw new IllegalArgumentException("what is attended is not scaled before a bias");
            }
            if (value == Value.NORMED_KEY && (heads.keySize() != heads.valueSize() || bias || gated)) {
                throw new IllegalArgumentException("values that are keys are as long, and have no bias and no gates");
            }
        }
    }

    /**
     * Queries alone: what they attend to is what an earlier layer appended (Brandon et al., 2024).
     *
     * @param heads these queries, with the keys and values of that layer
     * @param source the layer
     */
    record SharedKeys(MultiHead heads, int source) implements AttentionSpec {
        public SharedKeys {
            if (heads.bias() || heads.gated() || heads.bidirectional() || heads.norm() == QueryKeyNorm.ALL_HEADS) {
                throw new IllegalArgumentException(
                        "queries to another layer's keys are normalised by heads or not at all,"
                                + " have no bias and no gates, and see what is before them");
            }
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
     * @param rope null where all of a head is without position
     * @param epsilon of the norms of the compressed query, key and value
     * @param queryScale by what a query is multiplied once it is turned; null for nothing
     * @param index what chooses the positions that are attended to; null for all
     * @param sinks whether each head has a logit without value
     * @param gates by what is attended is multiplied: sigmoids of a product of the input
     */
    record Latent(
            int heads,
            int queryRank,
            int rank,
            int plainSize,
            int valueSize,
            @Nullable RopeSpec rope,
            float scale,
            float epsilon,
            @Nullable PositionScale queryScale,
            @Nullable IndexSpec index,
            boolean sinks,
            LatentGates gates)
            implements AttentionSpec {
        /** With all positions attended to. */
        public Latent(
                int heads,
                int queryRank,
                int rank,
                int plainSize,
                int valueSize,
                @Nullable RopeSpec rope,
                float scale,
                float epsilon,
                @Nullable PositionScale queryScale) {
            this(
                    heads,
                    queryRank,
                    rank,
                    plainSize,
                    valueSize,
                    rope,
                    scale,
                    epsilon,
                    queryScale,
                    null,
                    false,
                    LatentGates.NONE);
        }

        /** The same where nothing turns: the part of queries and keys that would is one more without position. */
        public Latent withoutPositions() {
            if (rope == null) {
                return this;
            }
            var none = new RopeScaling.Proportional(0, 1);
            var still = new RopeSpec(rope.dimensions(), rope.theta(), rope.interleaved(), none);
            return with(still, index, sinks, gates);
        }

        /** These with positions that are chosen. */
        public Latent with(IndexSpec choice) {
            return with(rope, choice, sinks, gates);
        }

        /** These with sinks or not, and gates. */
        public Latent with(boolean hasSinks, LatentGates kind) {
            return with(rope, index, hasSinks, kind);
        }

        private Latent with(@Nullable RopeSpec turn, @Nullable IndexSpec choice, boolean hasSinks, LatentGates kind) {
            return new Latent(
                    heads,
                    queryRank,
                    rank,
                    plainSize,
                    valueSize,
                    turn,
                    scale,
                    epsilon,
                    queryScale,
                    choice,
                    hasSinks,
                    kind);
        }

        /** Gates of a row. */
        public int gateNumbers() {
            return gates == LatentGates.NONE ? 0 : heads * valueSize;
        }

        public Latent {
            if (index != null && queryRank == 0) {
                throw new IllegalArgumentException(
                        "an index of positions reads compressed queries, and there are none");
            }
            requireSize(rank);
            requireSize(plainSize);
            requireSize(valueSize);
        }

        /** Numbers of a query head, and of the key that all heads share, that turn. */
        public int turned() {
            return rope == null ? 0 : rope.dimensions();
        }

        /** Numbers of an uncompressed query head. */
        public int querySize() {
            return plainSize + turned();
        }

        /** Numbers that a token adds to the cache, and of a query head that asks for them. */
        public int cachedSize() {
            return rank + turned();
        }
    }

    /**
     * Queries of all heads to one key a token, which is its value, too, within a window; and to keys that are made of several tokens
     * each (DeepSeek V4; {@link roselle.backend.operation.Compression}). What is attended is turned back, and groups of heads have a
     * narrow product each before the one that all share.
     *
     * @param size numbers of a query head and of a key
     * @param queryRank numbers of the compressed query
     * @param rope of the last numbers
     * @param epsilon of all norms
     * @param groups of heads
     * @param groupRank numbers that a group's product gives
     * @param tokens that a compressed key is made of; 0 for none
     * @param index what chooses among compressed keys, which overlap then; null for all of them
     */
    record Compressed(
            int heads,
            int size,
            int queryRank,
            int window,
            RopeSpec rope,
            float epsilon,
            int groups,
            int groupRank,
            int tokens,
            @Nullable IndexSpec index)
            implements AttentionSpec {
        public Compressed {
            requireSize(2 * size);
            if (heads < 1
                    || size < 1
                    || queryRank < 1
                    || window < 1
                    || groups < 1
                    || heads % groups != 0
                    || groupRank < 1
                    || tokens < 0
                    || rope.dimensions() > size
                    || (index != null && (tokens < 2 || index.isOfBlocks() || !index.isOwn()))) {
                throw new IllegalArgumentException("impossible attention to compressed keys: " + heads + " heads of "
                        + size + " in " + groups + " groups, keys of " + tokens + " tokens");
            }
        }

        /** Numbers that a token gives to keys of such a size. */
        public int given(int keySize) {
            return index == null ? keySize : 2 * keySize;
        }

        /** Numbers of a row: queries, a key, the compressed query, and what it gives to compressed keys and to those of the index. */
        public int products() {
            int narrow = groups * groupRank;
            int own = heads * size + size + queryRank + narrow;
            int compressed = tokens == 0 ? 0 : 2 * given(size) + size;
            return own + compressed + (index == null ? 0 : indexProducts(index));
        }

        /** Numbers of a row of the index: queries, weights, and what it gives to keys. */
        public int indexProducts(IndexSpec of) {
            return of.heads() * of.size() + of.heads() + 2 * given(of.size()) + of.size();
        }
    }

    /**
     * A gated delta net (Yang et al., 2025): queries, keys and values pass a short convolution, then the
     * {@link roselle.backend.operation.DeltaRule}; what it gives is normalised by heads and gated.
     *
     * @param taps inputs that an output of the convolution sees
     * @param gate of the heads' outputs
     * @param epsilon of the norm of the heads' outputs
     * @param rank numbers between the two products that make gates, and the two that make decays; 0 for one product each
     * @param strength multiplies how much of a correction is taken: with 2, states may have negative eigenvalues (OLMo Hybrid)
     * @param least bound of decays of channels, below 0; 0 for none
     */
    record DeltaNet(DeltaHeads heads, int taps, Activation gate, float epsilon, int rank, float strength, float least)
            implements AttentionSpec {
        public DeltaNet {
            if (rank < 0) {
                throw new IllegalArgumentException("a rank of " + rank);
            }
            requireSize(heads.keySize());
            requireSize(heads.valueSize());
            requireTaps(taps);
        }

        /** With corrections that are taken once at most. */
        public DeltaNet(DeltaHeads heads, int taps, Activation gate, float epsilon, int rank) {
            this(heads, taps, gate, epsilon, rank, 1f, 0f);
        }

        /** With gates and decays of one product each. */
        public DeltaNet(DeltaHeads heads, int taps, Activation gate, float epsilon) {
            this(heads, taps, gate, epsilon, 0);
        }

        /** What the first product gives: queries, keys and values, gates, decays, and how much of a correction is taken. */
        public int products() {
            return rank == 0
                    ? heads.channels() + heads.values() + heads.decays() + heads.valueHeads()
                    : heads.channels() + 2 * rank + heads.valueHeads();
        }

        /** What further products make of it: gates and decays. */
        public int raised() {
            return rank == 0 ? 0 : heads.values() + heads.decays();
        }
    }

    /**
     * A gated short convolution (LFM2): of three products of the input, {@code c * convolution(b * x)}.
     *
     * @param taps inputs that an output sees
     * @param bias whether products and convolution have one
     */
    record ShortConvolution(int taps, boolean bias) implements AttentionSpec {
        public ShortConvolution {
            requireTaps(taps);
        }
    }

    /**
     * A selective state space (Mamba 2; Dao and Gu, 2024): of products of the input, the values and both vectors of a state pass a
     * short convolution with SiLU, then the recurrence of {@link roselle.backend.operation.DeltaRule.Space}; what it gives is gated
     * with SiLU and then normalised, each group of heads by itself.
     *
     * @param heads groups as key heads, heads as value heads, numbers of a state as the size of a key
     * @param taps inputs that an output of the convolution sees
     * @param bias whether the products have one
     * @param convolutionBias whether the convolution has one
     * @param shortest least time that a token takes
     * @param longest most time; positive infinity for no bound
     * @param epsilon of the norm
     * @param normalizes whether there is one
     * @param scales by what its parts are multiplied
     */
    record StateSpace(
            DeltaHeads heads,
            int taps,
            boolean bias,
            boolean convolutionBias,
            float shortest,
            float longest,
            float epsilon,
            boolean normalizes,
            Scales scales)
            implements AttentionSpec {
        /**
         * By what the products of the input are multiplied before anything else, and what is given at the end (Falcon-H1).
         *
         * @param x of values
         * @param b of what is written to a state
         * @param c of what reads it
         */
        public record Scales(float gate, float x, float b, float c, float time, float output) {
            public static final Scales NONE = new Scales(1f, 1f, 1f, 1f, 1f, 1f);
        }

        /** With a norm, and multiplied by nothing. */
        public StateSpace(
                DeltaHeads heads,
                int taps,
                boolean bias,
                boolean convolutionBias,
                float shortest,
                float longest,
                float epsilon) {
            this(heads, taps, bias, convolutionBias, shortest, longest, epsilon, true, Scales.NONE);
        }

        /** This with a norm or without, and multiplied. */
        public StateSpace with(boolean norms, Scales factors) {
            return new StateSpace(heads, taps, bias, convolutionBias, shortest, longest, epsilon, norms, factors);
        }

        public StateSpace {
            requireSize(heads.keySize());
            requireSize(heads.valueSize());
            requireTaps(taps);
        }
    }

    /**
     * Lightning attention (Qin et al., 2024; MiniMax 01): linear attention with a fixed decay for each head, of queries, keys and values
     * behind SiLU. It is a selective state space all of whose tokens take a time of 1 ({@link roselle.backend.operation.DeltaRule.Space});
     * what it gives is normalised, all heads as one, and gated with a sigmoid.
     *
     * @param share by what the rates of decays, which are powers of two, are multiplied
     * @param epsilon of the norm
     * @param outputScale multiplies what it gives
     */
    record Lightning(DeltaHeads heads, float share, float epsilon, float outputScale) implements AttentionSpec {
        public Lightning {
            requireSize(heads.keySize());
            requireSize(heads.valueSize());
        }
    }

    /**
     * A selective state space of channels (Mamba; Gu and Dao, 2023): of products of the input, one half passes a short convolution with
     * SiLU, and tells by further products what it writes to its states, when, and what reads them; then the
     * {@link roselle.backend.operation.SelectiveScan}, gated by the other half.
     *
     * @param rank numbers of the product that the times of channels are made of
     * @param bias whether the first product and the last have one
     * @param normalizes whether times, and both vectors of the states, are normalised
     * @param epsilon of these norms
     */
    record Scan(
            int channels,
            int stateSize,
            int rank,
            int taps,
            boolean bias,
            boolean convolutionBias,
            boolean normalizes,
            float epsilon)
            implements AttentionSpec {
        public Scan {
            requireSize(stateSize);
            requireTaps(taps);
        }

        /** Numbers of a row: both halves, the first convolved, what it tells, and times. */
        public int products() {
            return 4 * channels + rank + 2 * stateSize;
        }
    }

    /** Heads that attend and a state space beside them, which read the same rows and whose results are added (Falcon-H1). */
    record HeadsAndSpace(MultiHead heads, StateSpace space) implements AttentionSpec {
        public HeadsAndSpace {
            if (heads.bidirectional() || heads.traits().index() != null) {
                throw new IllegalArgumentException("heads beside a state space see all that is before them");
            }
        }
    }

    private static void requireTaps(int taps) {
        if (taps < 1 || taps > MAX_TAPS) {
            throw new IllegalArgumentException("a convolution of " + taps + " taps, expected 1 to " + MAX_TAPS);
        }
    }
}
