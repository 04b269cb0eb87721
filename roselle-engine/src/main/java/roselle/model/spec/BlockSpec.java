package roselle.model.spec;

import org.jspecify.annotations.Nullable;

/**
 * How attention and feed-forward are wired to the residual stream, the same in all layers.
 *
 * @param normsInputs whether each half normalises what it reads
 * @param normsOutputs whether each half normalises what it adds
 * @param normsSums whether the stream itself is normalised behind each half, as the first transformers did
 * @param parallel whether both halves read the same stream
 * @param sharesNorm whether both halves of a parallel block read the same normalised numbers
 * @param residualScale multiplies what each half adds
 * @param scalesLayers whether what a layer leaves is multiplied by a number of its own
 * @param firstReadsEmbedding whether the first layer's attention reads the embedding as it is, which is normalised (ModernBERT)
 * @param streams how streams lie side by side; null for one alone
 * @param connections how each half is connected to more than one stream; null where it adds to one
 * @param kept how much of the stream is kept, where it is itself normalised before each half; null where it goes on as it is
 */
public record BlockSpec(
        boolean normsInputs,
        boolean normsOutputs,
        boolean normsSums,
        boolean parallel,
        boolean sharesNorm,
        float residualScale,
        boolean scalesLayers,
        boolean firstReadsEmbedding,
        @Nullable Streams streams,
        @Nullable HyperConnections connections,
        @Nullable Kept kept) {
    /**
     * By what the stream is multiplied before what a half gives is added to it, in blocks whose stream itself is normalised before each
     * half (MiniMax 01): in the place of that it is left as it is, what is given is divided by the factor, and the epsilon of the norm
     * behind by its square.
     */
    public record Kept(float attention, float feedForward) {
        public Kept {
            if (!(attention > 0 && feedForward > 0)) {
                throw new IllegalArgumentException("a stream that is multiplied by " + attention + " and " + feedForward
                        + ", expected more than 0");
            }
        }
    }

    /** A stream that goes on as it was normalised before a half, and is kept in part. */
    public static BlockSpec normingStream(Kept kept, float residualScale) {
        return new BlockSpec(true, false, false, false, false, residualScale, false, false, null, null, kept);
    }

    /** Whether the stream itself is normalised before each half. */
    public boolean normsStream() {
        return kept != null;
    }

    /** Without hyper-connections. */
    public BlockSpec(
            boolean normsInputs,
            boolean normsOutputs,
            boolean normsSums,
            boolean parallel,
            boolean sharesNorm,
            float residualScale,
            boolean scalesLayers,
            boolean firstReadsEmbedding,
            @Nullable Streams streams) {
        this(
                normsInputs,
                normsOutputs,
                normsSums,
                parallel,
                sharesNorm,
                residualScale,
                scalesLayers,
                firstReadsEmbedding,
                streams,
                null,
                null);
    }

    /** A norm before each half, which is connected to several streams (DeepSeek V4). */
    public static BlockSpec connected(HyperConnections connections) {
        return new BlockSpec(true, false, false, false, false, 1f, false, false, null, connections, null);
    }

    /** Whether what a half gives is something by itself, before it becomes part of a stream. */
    public boolean givesApart() {
        return normsOutputs || connections != null;
    }

    /** BERT's wiring (Devlin et al., 2019). */
    public static final BlockSpec POST_NORM = new BlockSpec(false, false, true, false, false, 1f, false, false, null);

    /** Norms before each half but the first, which reads the normalised embedding (ModernBERT). */
    public static final BlockSpec NORMED_EMBEDDING =
            new BlockSpec(true, false, false, false, false, 1f, false, true, null);

    /** A stream that is normalised once, at its end. */
    public BlockSpec(
            boolean normsInputs, boolean normsOutputs, boolean parallel, boolean sharesNorm, float residualScale) {
        this(normsInputs, normsOutputs, false, parallel, sharesNorm, residualScale, false, false, null);
    }

    /** Norms before and behind each half, and layers that are scaled or not (Gemma 4). */
    public static BlockSpec normedOnBothSides(boolean scalesLayers) {
        return new BlockSpec(true, true, false, false, false, 1f, scalesLayers, false, null);
    }

    /** The same with streams side by side (Gemma 3n). */
    public static BlockSpec ofStreams(Streams streams) {
        return new BlockSpec(true, true, false, false, false, 1f, false, false, streams);
    }

    public BlockSpec {
        if (connections != null && (!normsInputs || normsOutputs || normsSums || parallel || streams != null)) {
            throw new IllegalArgumentException(
                    "halves that are connected to several streams normalise their input alone");
        }
        if (normsSums && (normsInputs || normsOutputs || parallel)) {
            throw new IllegalArgumentException("a block that normalises sums normalises nothing else");
        }
        if (parallel && (normsOutputs || !normsInputs || scalesLayers)) {
            throw new IllegalArgumentException("a parallel block normalises its input alone, and is not scaled");
        }
        if (firstReadsEmbedding && (!normsInputs || parallel)) {
            throw new IllegalArgumentException(
                    "only a block that normalises each half's input can leave out the first");
        }
    }
}
