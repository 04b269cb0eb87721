package roselle.model;

import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.Compression;
import roselle.backend.operation.Convolution;
import roselle.backend.operation.DeltaRule;
import roselle.backend.operation.DistanceScores;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.ExpertProducts;
import roselle.backend.operation.ExpertSum;
import roselle.backend.operation.Gate;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.Norm;
import roselle.backend.operation.PositionIndex;
import roselle.backend.operation.Router;
import roselle.backend.operation.Routing;
import roselle.backend.operation.SelectiveScan;
import roselle.backend.operation.Xielu;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.IndexSpec;

/**
 * A layer with its weights; norms that the architecture does not have are null.
 *
 * @param block how it is wired to the stream
 * @param told what the layer is told of a token by itself; null for nothing
 * @param scale multiplies what the layer leaves
 * @param streams what predicts and corrects streams; null where there is one
 * @param hyper what connects its halves to several streams; null where they add to one
 */
record Layer(
        BlockSpec block,
        @Nullable Norm attentionNorm,
        Attention attention,
        @Nullable Norm postAttentionNorm,
        @Nullable Norm feedForwardNorm,
        FeedForward feedForward,
        @Nullable Norm postFeedForwardNorm,
        @Nullable Told told,
        float scale,
        @Nullable Streams streams,
        HyperStreams.@Nullable Halves hyper) {

    /** The weights of one kind of attention, and where its rows lie in the workspace. */
    sealed interface Attention
            permits NoAttention,
                    MultiHead,
                    Latent,
                    CompressedAttention,
                    DeltaNet,
                    ShortConvolution,
                    StateSpace,
                    Lightning,
                    Scan,
                    HeadsAndSpace {}

    /**
     * {@link roselle.model.spec.LayerInputs} of a layer.
     *
     * @param gates what the first product leaves, {@code [rows, size]}
     * @param input the layer's part of what all layers are told, {@code [rows, size]}
     */
    record Told(Weight down, Rows gates, Gate gate, Rows input, Weight up, Norm norm) {}

    /**
     * {@link roselle.model.spec.Streams} of a layer.
     *
     * @param prediction coefficients of the streams, and of one more for the layer to work in, by {@code predictionBias}
     * @param correction those of the streams and of what the layer made of the last
     */
    record Streams(
            Norm routerNorm,
            Weight router,
            Weight prediction,
            Epilogue predictionBias,
            Weight correction,
            Epilogue correctionBias,
            Weight laurelDown,
            Weight laurelUp,
            Norm laurelNorm) {}

    /** {@link AttentionSpec.None}. */
    record NoAttention() implements Attention {}

    /**
     * {@link AttentionSpec.MultiHead}, or {@link AttentionSpec.SharedKeys}, which has queries alone.
     *
     * @param valuesAreKeys whether keys are normalised to become values, else values are where there is a norm
     */
    record MultiHead(
            Weight queryKeyValue,
            Epilogue bias,
            Rows all,
            Rows query,
            Rows key,
            Rows value,
            @Nullable Norm allQueriesNorm,
            @Nullable Norm allKeysNorm,
            boolean valuesAreKeys,
            @Nullable Norm valueNorm,
            AttentionLayer layer,
            Rows attended,
            @Nullable Rows gates,
            Weight output,
            Epilogue outputEpilogue,
            @Nullable Chooser chooser,
            @Nullable Distances distances)
            implements Attention {}

    /**
     * What queries and keys add to scores by distance.
     *
     * @param forQueries {@code [heads, kinds, keySize]}: with what a query is multiplied, a key of each kind of distance
     * @param forKeys the same for keys, queries
     */
    record Distances(Weight forQueries, Weight forKeys, DistanceScores scores) {}

    /**
     * {@link IndexSpec} of a layer that chooses; without weights of heads, {@code weights} is {@code queries}.
     *
     * @param pool what makes one key of several tokens; null where each token has one
     */
    record Chooser(
            Weight query,
            Rows queries,
            Weight key,
            Rows keys,
            @Nullable Weight weight,
            Rows weights,
            @Nullable Pool pool,
            PositionIndex index) {}

    /**
     * What makes one key of several tokens of what each gives and its gates.
     *
     * @param room a place for keys
     */
    record Pool(Weight gate, Rows gates, Compression compression, Rows room) {}

    /**
     * {@link AttentionSpec.Latent}; without query compression, {@code queryUp} reads the input itself.
     *
     * @param chooser null where all positions are attended to, or those that a layer before has chosen
     * @param gate what makes {@code gates} of the input; null for none
     */
    record Latent(
            @Nullable Weight queryDown,
            @Nullable Norm queryNorm,
            Rows compressedQuery,
            Weight queryUp,
            Rows query,
            Weight latentDown,
            Rows latent,
            Norm latentNorm,
            Rows latentValue,
            Weight keyUp,
            Rows absorbed,
            AttentionLayer layer,
            Rows attendedLatent,
            Weight valueUp,
            Rows attended,
            Weight output,
            Epilogue outputEpilogue,
            @Nullable Chooser chooser,
            @Nullable Weight gate,
            @Nullable Rows gates)
            implements Attention {}

    /**
     * {@link AttentionSpec.DeltaNet}.
     *
     * @param raises what makes gates and {@code a} of {@code net} of parts of {@code all}, which else they are themselves
     */
    record DeltaNet(
            Weight projections,
            Rows all,
            List<Raise> raises,
            roselle.backend.operation.DeltaNet net,
            Weight output,
            Epilogue outputEpilogue)
            implements Attention {}

    /** {@link AttentionSpec.Scan}; norms are null where there are none. */
    record Scan(
            Weight projections,
            Epilogue bias,
            Rows all,
            Rows x,
            Rows gates,
            Convolution convolution,
            Rows convolved,
            Weight told,
            Rows telling,
            Rows narrow,
            Rows b,
            Rows c,
            @Nullable Norm timeNorm,
            @Nullable Norm bNorm,
            @Nullable Norm cNorm,
            Weight widened,
            Rows times,
            SelectiveScan scan,
            Rows attended,
            Weight output,
            Epilogue outputEpilogue)
            implements Attention {}

    /** {@link AttentionSpec.Lightning}; {@code times} are any numbers: they do not count. */
    record Lightning(
            Weight projections,
            Epilogue activation,
            Rows all,
            Weight gate,
            Rows gates,
            Rows query,
            Rows key,
            Rows value,
            Rows times,
            DeltaRule rule,
            Rows attended,
            Norm norm,
            Weight output,
            Epilogue outputEpilogue)
            implements Attention {}

    /** The second of two products with fewer numbers between them. */
    record Raise(Rows input, Weight weight, Rows output) {}

    /** {@link AttentionSpec.ShortConvolution}. */
    record ShortConvolution(
            Weight projections,
            Epilogue bias,
            Rows all,
            Rows b,
            Rows c,
            Rows x,
            Convolution convolution,
            Rows convolved,
            Rows gated,
            Weight output,
            Epilogue outputEpilogue)
            implements Attention {}

    /**
     * {@link AttentionSpec.StateSpace}; {@code c}, {@code b} and {@code x} are what queries, keys and values are to its rule.
     *
     * @param parts of {@code attended}, each with its norm
     */
    record StateSpace(
            Weight projections,
            Epilogue bias,
            Rows all,
            Rows gates,
            Rows mixed,
            Rows times,
            Convolution convolution,
            Rows convolved,
            Rows x,
            Rows b,
            Rows c,
            float gateScale,
            float timeScale,
            DeltaRule rule,
            Rows attended,
            List<NormedPart> parts,
            Weight output,
            Epilogue outputEpilogue)
            implements Attention {}

    /** {@link AttentionSpec.HeadsAndSpace}. */
    record HeadsAndSpace(MultiHead heads, StateSpace space) implements Attention {}

    /** Columns that are normalised by themselves. */
    record NormedPart(Rows rows, Norm norm) {}

    /** The weights of one kind of feed-forward. */
    sealed interface FeedForward {}

    /** {@link FeedForwardSpec.None}. */
    record NoFeedForward() implements FeedForward {}

    /**
     * {@link FeedForwardSpec.Plain}.
     *
     * @param apart the activation by itself, for steps in which adapters add before it
     */
    record Plain(
            Weight up,
            Epilogue activation,
            @Nullable Xielu xielu,
            Rows inner,
            Weight down,
            Epilogue downEpilogue,
            ActivationApart apart)
            implements FeedForward {}

    /** What makes of hidden numbers those that logits are made of. */
    record OutputTransform(Weight product, Epilogue activation, Norm norm) {}

    /** A bias, and behind it an activation as the gate of rows of ones. */
    record ActivationApart(Epilogue bias, Gate gate, Rows ones) {}

    /** {@link FeedForwardSpec.Gated}. */
    record Gated(GatedLinear product, Weight down, Epilogue downEpilogue, float deviations, float gateScale)
            implements FeedForward {
        boolean isSparse() {
            return deviations != FeedForwardSpec.Gated.ALL;
        }

        /** The same with another factor of what it gives. */
        Gated scaled(float factor) {
            return new Gated(product, down, downEpilogue.scaled(factor), deviations, gateScale);
        }

        /** The same without the residual connection. */
        Gated intoDelta() {
            var plain = new Epilogue(downEpilogue.bias(), downEpilogue.activation(), 1f, false);
            return new Gated(product, down, plain, deviations, gateScale);
        }
    }

    /**
     * {@link FeedForwardSpec.Experts}.
     *
     * @param routerProducts the logits, and beside them what the gate of the shared expert gives where its row is the weight's last
     * @param last where the numbers of a shared expert are that is one of the stack; null where none is
     * @param shared one with products of its own; null for none
     * @param weigher a router with the weights of what experts read; null where they read the stream as it is
     * @param latent null where experts read and give numbers of the stream
     * @param bias what is added to the stream whichever were chosen, a row for each type of tokens, all alike; null for nothing
     */
    record Experts(
            Weight routerWeight,
            Epilogue routerBias,
            Rows routerProducts,
            Rows routerLogits,
            Router router,
            Routing routing,
            ExpertProducts products,
            ExpertSum sum,
            @Nullable LastChoice last,
            @Nullable Shared shared,
            @Nullable Router weigher,
            @Nullable LatentStream latent,
            @Nullable Weight bias)
            implements FeedForward {
        /** Whether adapters may add to single experts, between which and what follows is nothing else. */
        boolean areAdaptable() {
            return latent == null && weigher == null && products.ups() != null;
        }
    }

    /** What a row's last choice leaves among those of its others: the two products, and the gated numbers between them. */
    record LastChoice(Rows both, Rows gates, Rows output) {
        static LastChoice of(ExpertProducts products, int chosen) {
            return new LastChoice(
                    last(products.both(), chosen), last(products.gates(), chosen), last(products.outputs(), chosen));
        }

        /** Of rows that have one for each choice. */
        private static Rows last(Rows choices, int chosen) {
            int stride = choices.stride();
            return new Rows(
                    choices.buffer(),
                    choices.offset() + (long) chosen * stride,
                    choices.columns(),
                    (chosen + 1) * stride);
        }
    }

    /** What brings the stream to the numbers that experts read, and the sum of what they give back to it. */
    record LatentStream(Weight down, Rows input, Rows sum, Weight up, Epilogue upEpilogue) {}

    /** {@link FeedForwardSpec.Beside}. */
    record Beside(Gated dense, Norm denseNorm, Norm routerNorm, Norm expertsNorm, Experts experts, Norm behindExperts)
            implements FeedForward {}

    /**
     * An expert for every token; without a gate of its own it adds to the residual stream at once.
     *
     * @param gate null where it has none, or the router's product has left what it gives
     * @param gateLogit what its gate gives; null where it has none
     */
    record Shared(
            FeedForward expert,
            @Nullable Weight gate,
            @Nullable Rows gateLogit) {}
}
