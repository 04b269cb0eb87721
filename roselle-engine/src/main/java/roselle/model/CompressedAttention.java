package roselle.model;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.Compression;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Operations;
import roselle.backend.operation.PositionIndex;
import roselle.model.spec.AttentionSpec;
import roselle.model.weights.AdaptableWeights;

/**
 * {@link AttentionSpec.Compressed} of a layer.
 *
 * @param key also the value
 * @param compressor null where there is a window alone
 * @param chooser null where all compressed keys are attended to
 * @param narrowed what groups of heads give
 */
record CompressedAttention(
        Weight queryDown,
        Norm queryNorm,
        Rows compressedQuery,
        Weight queryUp,
        Rows query,
        Weight keyWeight,
        Rows key,
        @Nullable Compressor compressor,
        @Nullable Chooser chooser,
        AttentionLayer layer,
        Rows attended,
        Weight groupOutput,
        Rows narrowed,
        Weight output,
        Epilogue outputEpilogue)
        implements Layer.Attention {
    /**
     * What makes keys of several tokens.
     *
     * @param both what a token gives, and its gates
     * @param room a place for keys
     */
    record Compressor(Weight vectorAndGate, Rows both, Rows vectors, Rows gates, Compression compression, Rows room) {
        void run(Operations operations, Rows input, KvCache cache, int rows) {
            operations.linear(input, vectorAndGate, Epilogue.PLAIN, both, rows);
            operations.ropeAndAppendKv(vectors, vectors, gates, compression.tokens(), cache);
            operations.compress(compression, cache, room);
        }
    }

    /** What chooses among them. */
    record Chooser(
            Weight query, Rows queries, Weight weight, Rows weights, Compressor compressor, PositionIndex index) {
        void run(Operations operations, Rows input, Rows compressedQuery, KvCache cache, int rows) {
            compressor.run(operations, input, cache, rows);
            operations.linear(compressedQuery, query, Epilogue.PLAIN, queries, rows);
            operations.linear(input, weight, Epilogue.PLAIN, weights, rows);
            operations.ropeAndAppendKv(queries, queries, queries, index.keys(), cache); // turns queries alone
            operations.choosePositions(queries, weights, index, cache);
        }
    }

    /** Leaves what the layer attended to in {@code target}. */
    void attend(Operations operations, Rows input, KvCache cache, Rows target, int rows) {
        operations.linear(input, queryDown, Epilogue.PLAIN, compressedQuery, rows);
        operations.norm(compressedQuery, queryNorm, compressedQuery, rows);
        operations.linear(compressedQuery, queryUp, Epilogue.PLAIN, query, rows);
        operations.linear(input, keyWeight, Epilogue.PLAIN, key, rows);
        if (compressor != null) {
            compressor.run(operations, input, cache, rows);
        }
        if (chooser != null) {
            chooser.run(operations, input, compressedQuery, cache, rows);
        }
        operations.ropeAndAppendKv(query, key, key, layer, cache);
        operations.attention(query, layer, cache, attended); // [rows, heads * size]
        operations.headLinear(attended, groupOutput, narrowed, rows); // [rows, groups * groupRank]
        operations.linear(narrowed, output, outputEpilogue, target, rows);
    }

    /** Takes out what adapters cannot add to, which is all of it. */
    void leaveAdaptable(AdaptableWeights adaptable) {
        var all = new ArrayList<Weight>(List.of(queryDown, queryUp, keyWeight, groupOutput, output));
        if (compressor != null) {
            all.add(compressor.vectorAndGate());
        }
        if (chooser != null) {
            all.addAll(List.of(
                    chooser.query(), chooser.weight(), chooser.compressor().vectorAndGate()));
        }
        all.forEach(adaptable::remove);
    }
}
