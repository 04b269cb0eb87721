package roselle.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.ChosenPositions;
import roselle.backend.operation.Compression;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Norm;
import roselle.backend.operation.PositionIndex;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.IndexSpec;
import roselle.model.weights.Part;
import roselle.model.weights.Rearrangement;
import roselle.model.weights.RopeTables;
import roselle.model.weights.Store;
import roselle.model.weights.TensorSource;
import roselle.quantization.StoredMatrix;

/** Brings attention to keys of several tokens from a checkpoint to a store. */
final class CompressedLoader {
    private final DecoderSpec spec;
    private final TensorSource tensors;
    private final Rearrangement rearrangement;
    private final Store store;
    private final Workspace workspace;
    private final RopeTables ropes;

    CompressedLoader(
            DecoderSpec spec,
            TensorSource tensors,
            Rearrangement rearrangement,
            Store store,
            Workspace workspace,
            RopeTables ropes) {
        this.spec = spec;
        this.tensors = tensors;
        this.rearrangement = rearrangement;
        this.store = store;
        this.workspace = workspace;
        this.ropes = ropes;
    }

    /** The parts of a row, one behind the other. */
    private static final class Columns {
        private final Rows all;
        private int used;

        Columns(Rows all) {
            this.all = all;
        }

        Rows take(int count) {
            used += count;
            return all.columns(used - count, count);
        }
    }

    /** A layer; its places are those of its groups in their order. */
    CompressedAttention load(AttentionSpec.Compressed attention, int layer, List<LayerPlace> places) {
        var columns = new Columns(Rows.of(workspace.projected, attention.products()));
        int queries = attention.heads() * attention.size();
        int narrow = attention.groups() * attention.groupRank();
        IndexSpec index = attention.index();
        ChosenPositions chosen = index == null ? null : workspace.chosen();
        AttentionLayer keys = attention.tokens() == 0 ? null : keys(attention, null, layer, places.get(2), chosen);
        var shape = new HeadShape(attention.heads(), 1, attention.size(), attention.size());
        var fixed = new AttentionLayer(
                places.getFirst().group(),
                places.getFirst().layer(),
                shape,
                ropes.of(attention.rope()),
                norm(ones(attention.size()), attention),
                norm(tensors.vector(Part.KEY_NORM, layer, attention.size()), attention),
                (float) (1 / Math.sqrt(attention.size())),
                0f,
                store.constants(tensors.vector(Part.SINKS, layer, attention.heads())),
                false,
                true,
                AttentionLayer.Traits.ofEnds(keys));
        return new CompressedAttention(
                matrix(Part.QUERY_DOWN, layer, attention.queryRank(), spec.width()),
                norm(tensors.vector(Part.QUERY_DOWN_NORM, layer, attention.queryRank()), attention),
                columns.take(attention.queryRank()),
                matrix(Part.QUERY_UP, layer, queries, attention.queryRank()),
                columns.take(queries),
                matrix(Part.KEY, layer, attention.size(), spec.width()),
                columns.take(attention.size()),
                keys == null ? null : compressor(attention, keys, false, layer, places.get(1), columns),
                index == null || chosen == null ? null : chooser(attention, index, chosen, layer, places, columns),
                fixed,
                Rows.of(workspace.attended, queries),
                groupOutput(attention, layer),
                columns.take(narrow),
                matrix(Part.ATTENTION_OUTPUT, layer, spec.width(), narrow),
                LayerLoader.addedTo(spec.block(), null));
    }

    /** Keys of several tokens, or those of an index; queries to them turn, but nothing is appended by each token. */
    private AttentionLayer keys(
            AttentionSpec.Compressed attention,
            @Nullable IndexSpec index,
            int layer,
            LayerPlace place,
            @Nullable ChosenPositions chosen) {
        int heads = index == null ? attention.heads() : index.heads();
        int size = index == null ? attention.size() : index.size();
        Part norm = index == null ? Part.COMPRESSED_NORM : Part.INDEX_COMPRESSED_NORM;
        return new AttentionLayer(
                place.group(),
                place.layer(),
                new HeadShape(heads, 1, size, size),
                ropes.of(attention.rope()),
                null,
                norm(tensors.vector(norm, layer, size), attention),
                (float) (1 / Math.sqrt(index == null ? size : (double) heads * size)),
                0f,
                null,
                false,
                false,
                new AttentionLayer.Traits(false, null, null, null, chosen, true, null));
    }

    private CompressedAttention.Chooser chooser(
            AttentionSpec.Compressed attention,
            IndexSpec index,
            ChosenPositions chosen,
            int layer,
            List<LayerPlace> places,
            Columns columns) {
        int queries = index.heads() * index.size();
        AttentionLayer keys = keys(attention, index, layer, places.get(4), null);
        return new CompressedAttention.Chooser(
                matrix(Part.INDEX_QUERY, layer, queries, attention.queryRank()),
                columns.take(queries),
                matrix(Part.INDEX_WEIGHT, layer, index.heads(), spec.width()),
                columns.take(index.heads()),
                compressor(attention, keys, true, layer, places.get(3), columns),
                new PositionIndex(keys, 0, chosen));
    }

    private CompressedAttention.Compressor compressor(
            AttentionSpec.Compressed attention,
            AttentionLayer keys,
            boolean isIndex,
            int layer,
            LayerPlace place,
            Columns columns) {
        int size = keys.heads().keySize();
        int given = attention.given(size);
        var tokens = new AttentionLayer(
                place.group(), place.layer(), new HeadShape(1, 1, given, given), null, null, null, 1f, 0f, null);
        float[] bias = tensors.vector(
                isIndex ? Part.INDEX_COMPRESSED_BIAS : Part.COMPRESSED_BIAS, layer, (long) attention.tokens() * given);
        Rows both = columns.take(2 * given);
        return new CompressedAttention.Compressor(
                store.load(
                        "layer " + layer + (isIndex ? " index" : "") + " compressed vector, gate",
                        1,
                        List.of(
                                plain(
                                        isIndex ? Part.INDEX_COMPRESSED_VECTOR : Part.COMPRESSED_VECTOR,
                                        layer,
                                        given,
                                        spec.width()),
                                plain(
                                        isIndex ? Part.INDEX_COMPRESSED_GATE : Part.COMPRESSED_GATE,
                                        layer,
                                        given,
                                        spec.width()))),
                both,
                both.columns(0, given),
                both.columns(given, given),
                new Compression(tokens, keys, attention.index() != null, store.constants(bias)),
                columns.take(size));
    }

    /** A matrix for each group of heads. */
    private Weight groupOutput(AttentionSpec.Compressed attention, int layer) {
        int rank = attention.groupRank();
        int columns = attention.heads() / attention.groups() * attention.size();
        StoredMatrix all = plain(Part.GROUP_OUTPUT, layer, attention.groups() * rank, columns);
        var matrices = new ArrayList<StoredMatrix>();
        for (int group = 0; group < attention.groups(); group++) {
            matrices.add(all.rows((long) group * rank, rank));
        }
        return store.load("layer " + layer + " " + Part.GROUP_OUTPUT, attention.groups(), matrices);
    }

    private Norm norm(float[] weight, AttentionSpec.Compressed attention) {
        return new Norm(Norm.Kind.RMS, store.constants(weight), 0f, null, attention.epsilon());
    }

    private static float[] ones(int count) {
        var ones = new float[count];
        Arrays.fill(ones, 1f);
        return ones;
    }

    private Weight matrix(Part part, int layer, int rows, int columns) {
        return store.load("layer " + layer + " " + part, 1, List.of(plain(part, layer, rows, columns)));
    }

    private StoredMatrix plain(Part part, int layer, int rows, int columns) {
        return tensors.product(part, layer, rows, columns, rearrangement);
    }
}
