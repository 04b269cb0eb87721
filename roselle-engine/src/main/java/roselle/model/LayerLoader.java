package roselle.model;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Activation;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.Compression;
import roselle.backend.operation.DistanceBias;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Gate;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Norm;
import roselle.backend.operation.PositionIndex;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.AttentionTraits;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.DistanceKinds;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.HyperConnections;
import roselle.model.spec.IndexSpec;
import roselle.model.spec.LayerInputs;
import roselle.model.spec.NormSpec;
import roselle.model.spec.Streams;
import roselle.model.weights.Floats;
import roselle.model.weights.Part;
import roselle.model.weights.Rearrangement;
import roselle.model.weights.RopeTables;
import roselle.model.weights.Store;
import roselle.model.weights.TensorSource;
import roselle.model.weights.WeightNames;
import roselle.quantization.StoredMatrix;

/** Brings one layer after the other from a checkpoint to a device: norms and attention here, the rest beside it. */
final class LayerLoader {
    private final DecoderSpec spec;
    private final TensorSource tensors;
    private final Rearrangement rearrangement;
    private final Store store;
    private final Workspace workspace;
    private final RopeTables ropes;
    private final DistanceLoader distances;
    private final FeedForwardLoader feedForwards;
    private final StateLoader states;
    private final StreamLoader streams;
    private final HyperLoader connections;
    private final CompressedLoader compressed;

    LayerLoader(
            DecoderSpec spec,
            TensorSource tensors,
            Rearrangement rearrangement,
            Store store,
            Workspace workspace,
            int contextLimit) {
        this.spec = spec;
        this.tensors = tensors;
        this.rearrangement = rearrangement;
        this.store = store;
        this.workspace = workspace;
        ropes = new RopeTables(store, contextLimit);
        distances = new DistanceLoader(spec, tensors, rearrangement, store, workspace);
        feedForwards = new FeedForwardLoader(spec, tensors, rearrangement, store, workspace);
        streams = new StreamLoader(spec, tensors, rearrangement, store);
        connections = new HyperLoader(spec, tensors, rearrangement, store);
        compressed = new CompressedLoader(spec, tensors, rearrangement, store, workspace, ropes);
        states = new StateLoader(spec, tensors, rearrangement, store, workspace);
    }

    /** A layer, with a place in each of its groups. */
    Layer load(int index, List<LayerPlace> places) {
        BlockSpec block = spec.block(index);
        FeedForwardSpec feedForward = spec.layers().get(index).feedForward();
        boolean ownNorm = block.normsInputs()
                && !(block.parallel() && block.sharesNorm())
                && !(feedForward instanceof FeedForwardSpec.None);
        boolean attends = !(spec.layers().get(index).attention() instanceof AttentionSpec.None);
        boolean normsBehind = block.normsOutputs() || block.normsSums();
        return new Layer(
                block,
                block.normsInputs() && attends && !(index == 0 && block.firstReadsEmbedding())
                        ? norm(Part.ATTENTION_NORM, index, index == 0 ? 1f : keptByFeedForwards())
                        : null,
                attention(spec.layers().get(index).attention(), index, places),
                normsBehind ? norm(Part.POST_ATTENTION_NORM, index) : null,
                ownNorm
                        ? norm(
                                Part.FEED_FORWARD_NORM,
                                index,
                                block.kept() == null ? 1f : block.kept().attention())
                        : null,
                feedForwards.load(feedForward, index),
                normsBehind ? norm(Part.POST_FEED_FORWARD_NORM, index) : null,
                spec.input().layers() == null ? null : told(spec.input().layers(), index),
                block.scalesLayers() ? tensors.vector(Part.LAYER_SCALE, index, 1)[0] : 1f,
                block.streams() == null
                        ? null
                        : streams.layer(
                                block.streams(),
                                index,
                                norm(Part.STREAM_ROUTER_NORM, index),
                                norm(Part.LAUREL_NORM, index)),
                block.connections() == null ? null : connections.layer(block.connections(), index));
    }

    /** What connects layers to several streams. */
    HyperStreams hyperStreams(HyperConnections kind, HyperRows rows) {
        return connections.load(kind, rows);
    }

    /** What makes all that the layers are told. */
    ToldInputs toldInputs(LayerInputs inputs) {
        Norm norm = norm(Part.LAYER_INPUT_NORM, 0, inputs.size(), spec.norm(), false);
        return ToldInputs.load(spec, inputs, tensors, rearrangement, store, workspace, norm);
    }

    /** What mixes streams side by side. */
    SideStreams sideStreams(Streams kind, StreamRows rows) {
        return streams.load(kind, rows, workspace);
    }

    private Layer.Told told(LayerInputs inputs, int layer) {
        Rows all = workspace.layerInputs();
        return new Layer.Told(
                spec.block().streams() != null && spec.block().streams().scales()
                        ? streams.scaled(Part.LAYER_INPUT_GATE, layer, inputs.size())
                        : matrix(Part.LAYER_INPUT_GATE, layer, inputs.size(), spec.width()),
                Rows.of(workspace.inner, inputs.size()),
                Gate.of(inputs.gate()),
                all.columns(layer * inputs.size(), inputs.size()),
                matrix(Part.LAYER_INPUT_UP, layer, spec.width(), inputs.size()),
                norm(Part.POST_LAYER_INPUT_NORM, layer));
    }

    /** What makes of hidden numbers those that logits are made of. */
    Layer.OutputTransform outputTransform() {
        Activation activation = requireNonNull(requireNonNull(spec.output()).transform());
        Buffer bias = store.constants(tensors.bias(Part.OUTPUT_TRANSFORM, 0, spec.width()));
        return new Layer.OutputTransform(
                matrix(Part.OUTPUT_TRANSFORM, 0, spec.width(), spec.width()),
                new Epilogue(bias, activation, 1f, false),
                norm(Part.OUTPUT_TRANSFORM_NORM, 0));
    }

    /** The norm behind all layers. */
    Norm finalNorm() {
        return norm(Part.FINAL_NORM, 0, keptByFeedForwards());
    }

    private float keptByFeedForwards() {
        BlockSpec.Kept kept = spec.block().kept();
        return kept == null ? 1f : kept.feedForward();
    }

    /** A norm of a stream that is so many times smaller than it would be. */
    private Norm norm(Part part, int layer, float times) {
        NormSpec kind = spec.norm();
        var smaller = new NormSpec(kind.kind(), kind.epsilon() / (times * times), kind.weightOffset(), kind.bias());
        return norm(part, layer, spec.width(), smaller, kind.bias());
    }

    /** A norm of the residual stream. */
    Norm norm(Part part, int layer) {
        return norm(part, layer, spec.width(), spec.norm(), spec.norm().bias());
    }

    private Norm norm(Part part, int layer, int size, NormSpec kind, boolean bias) {
        Buffer weight = store.constants(tensors.vector(part, layer, size));
        Buffer offsets = bias ? store.constants(tensors.bias(part, layer, size)) : null;
        return new Norm(kind.kind(), weight, kind.weightOffset(), offsets, kind.epsilon());
    }

    private Layer.Attention attention(AttentionSpec attention, int layer, List<LayerPlace> places) {
        return switch (attention) {
            case AttentionSpec.None _ -> new Layer.NoAttention();
            case AttentionSpec.MultiHead heads -> multiHead(heads, true, layer, places);
            case AttentionSpec.SharedKeys shared -> multiHead(shared.heads(), false, layer, places);
            case AttentionSpec.Latent latent -> latent(latent, layer, places);
            case AttentionSpec.Compressed kind -> compressed.load(kind, layer, places);
            case AttentionSpec.DeltaNet delta -> states.deltaNet(delta, layer, places);
            case AttentionSpec.ShortConvolution convolution ->
                states.shortConvolution(convolution, layer, places.getFirst());
            case AttentionSpec.StateSpace space -> states.stateSpace(space, layer, places);
            case AttentionSpec.Lightning kind -> states.lightning(kind, layer, places.getFirst());
            case AttentionSpec.Scan kind -> states.scan(kind, layer, places);
            case AttentionSpec.HeadsAndSpace both ->
                new Layer.HeadsAndSpace(
                        multiHead(both.heads(), true, layer, places),
                        states.stateSpace(both.space(), layer, places.subList(1, places.size())));
        };
    }

    /** Heads that append keys and values, or queries alone to those that are there. */
    private Layer.MultiHead multiHead(
            AttentionSpec.MultiHead attention, boolean appends, int layer, List<LayerPlace> places) {
        LayerPlace place = places.getFirst();
        IndexSpec index = attention.traits().index();
        HeadShape heads = attention.heads();
        int queries = heads.queryHeads() * heads.keySize();
        int keys = appends ? heads.keyHeads() * heads.keySize() : 0;
        int values = appends ? heads.keyHeads() * heads.valueSize() : 0;
        int attended = heads.queryHeads() * heads.valueSize();
        int gates = attention.gated() ? attended : 0;
        int products = queries + gates + keys + values;
        Rows whole = Rows.of(workspace.projected, products + (index == null ? 0 : index.products()));
        Rows all = whole.columns(0, products);
        Rows query = all.columns(0, queries);
        Rows key = appends ? all.columns(queries + gates, keys) : query;
        Rows value = appends ? all.columns(queries + gates + keys, values) : query;
        boolean isKey = attention.value() == AttentionSpec.Value.NORMED_KEY;
        boolean normsValues = appends && attention.value() != AttentionSpec.Value.PRODUCT;
        boolean perHead = attention.norm() == AttentionSpec.QueryKeyNorm.PER_HEAD;
        Norm plain = attention.norm() == AttentionSpec.QueryKeyNorm.PLAIN ? plainNorm(heads.keySize()) : null;
        DistanceKinds kinds = attention.traits().distances();
        Layer.Distances met = kinds == null ? null : distances.met(kinds, heads, layer);
        boolean allHeads = attention.norm() == AttentionSpec.QueryKeyNorm.ALL_HEADS;
        var fixed = new AttentionLayer(
                place.group(),
                place.layer(),
                heads,
                attention.rope() == null ? null : ropes.of(attention.rope()),
                perHead ? headNorm(Part.QUERY_NORM, layer, heads.queryHeads(), heads.keySize()) : plain,
                perHead && appends ? headNorm(Part.KEY_NORM, layer, heads.keyHeads(), heads.keySize()) : plain,
                attention.scale(),
                attention.softCap(),
                attention.sinks() ? store.constants(tensors.vector(Part.SINKS, layer, heads.queryHeads())) : null,
                attention.bidirectional(),
                appends,
                met == null ? traits(attention) : AttentionLayer.Traits.ofDistances(met.scores()));
        return new Layer.MultiHead(
                appends
                        ? store.load("layer " + layer + " query, key, value", 1, projections(attention, layer))
                        : matrix(Part.QUERY, layer, queries, spec.width()),
                Epilogue.bias(attention.bias() ? projectionBias(heads, layer) : null),
                isKey ? all.columns(0, queries + keys) : all,
                query,
                key,
                value,
                allHeads ? norm(Part.QUERY_NORM, layer, queries, spec.norm(), false) : null,
                allHeads ? norm(Part.KEY_NORM, layer, keys, spec.norm(), false) : null,
                isKey,
                normsValues ? plainNorm(heads.valueSize()) : null,
                fixed,
                Rows.of(workspace.attended, attended),
                attention.gated() ? all.columns(queries, gates) : null,
                matrix(Part.ATTENTION_OUTPUT, layer, spec.width(), attended),
                attentionOutput(attention, layer),
                index == null
                        ? null
                        : chooser(
                                index,
                                spec.width(),
                                whole.columns(products, index.products()),
                                layer,
                                places.subList(1, places.size())),
                met);
    }

    private Epilogue attentionOutput(AttentionSpec.MultiHead attention, int layer) {
        return added(attention.outputBias() ? tensors.bias(Part.ATTENTION_OUTPUT, layer, spec.width()) : null, layer)
                .scaled(attention.traits().outputScale());
    }

    private AttentionLayer.Traits traits(AttentionSpec.MultiHead attention) {
        AttentionTraits traits = attention.traits();
        DistanceBias far = distances.bias(attention.heads().queryHeads());
        boolean isPlain = traits.slope() == 0 && !traits.normsTurned() && traits.queryScale() == null;
        if (isPlain && far == null && traits.index() == null) {
            return AttentionLayer.Traits.NONE;
        }
        float[] slopes = slopes(attention.heads().queryHeads(), traits.slope());
        return new AttentionLayer.Traits(
                traits.normsTurned(),
                traits.queryScale(),
                traits.slope() == 0 ? null : store.constants(slopes),
                far,
                traits.index() == null ? null : workspace.chosen());
    }

    /** By what the scores of each head fall with a key's distance: powers of two, and between them those of twice as many heads. */
    private static float[] slopes(int heads, float factor) {
        int power = Integer.highestOneBit(heads);
        var slopes = new float[heads];
        for (int head = 0; head < heads; head++) {
            double exponent = head < power ? 8.0 / power * (head + 1) : 4.0 / power * (2 * (head - power) + 1);
            slopes[head] = -factor * (float) StrictMath.pow(2, -exponent);
        }
        return slopes;
    }

    /** A norm without weights. */
    private Norm plainNorm(int size) {
        var ones = new float[size];
        Arrays.fill(ones, 1f);
        return new Norm(
                spec.norm().kind(), store.constants(ones), 0f, null, spec.norm().epsilon());
    }

    /** A norm of single heads, with one weight for all or a part for each. */
    private Norm headNorm(Part part, int layer, int heads, int size) {
        float[] weight = tensors.headVector(part, layer, heads, size);
        boolean bias = tensors.hasBias(part, layer);
        Buffer offsets = bias ? store.constants(tensors.bias(part, layer, weight.length)) : null;
        NormSpec kind = spec.norm();
        return new Norm(kind.kind(), store.constants(weight), kind.weightOffset(), offsets, kind.epsilon());
    }

    private List<StoredMatrix> projections(AttentionSpec.MultiHead attention, int layer) {
        HeadShape heads = attention.heads();
        int queries = heads.queryHeads() * heads.keySize();
        int keys = heads.keyHeads() * heads.keySize();
        int values = heads.keyHeads() * heads.valueSize();
        if (attention.value() == AttentionSpec.Value.NORMED_KEY) {
            return List.of(plain(Part.QUERY, layer, queries, spec.width()), plain(Part.KEY, layer, keys, spec.width()));
        }
        if (attention.gated() && tensors.has(Part.ATTENTION_GATE, layer)) {
            return List.of(
                    plain(Part.QUERY, layer, queries, spec.width()),
                    gates(attention, layer),
                    plain(Part.KEY, layer, keys, spec.width()),
                    plain(Part.VALUE, layer, values, spec.width()));
        }
        if (attention.gated()) {
            return List.of(
                    gatedQueries(heads, layer),
                    plain(Part.KEY, layer, keys, spec.width()),
                    plain(Part.VALUE, layer, values, spec.width()));
        }
        if (!tensors.has(Part.QUERY_KEY_VALUE, layer)) {
            return List.of(
                    plain(Part.QUERY, layer, queries, spec.width()),
                    plain(Part.KEY, layer, keys, spec.width()),
                    plain(Part.VALUE, layer, values, spec.width()));
        }
        StoredMatrix all = plain(Part.QUERY_KEY_VALUE, layer, queries + keys + values, spec.width());
        return List.of(
                tensors.layout() == WeightNames.Layout.PER_HEAD
                        ? rearrangement.reorder(all, row -> perHeadRow(row, heads))
                        : all);
    }

    /** All queries, then all gates; a checkpoint has the gates of each head behind its query. */
    private StoredMatrix gatedQueries(HeadShape heads, int layer) {
        int size = heads.keySize();
        int queries = heads.queryHeads() * size;
        StoredMatrix both = plain(Part.QUERY, layer, 2 * queries, spec.width());
        return rearrangement.reorder(both, row -> (row % queries / size * 2 + row / queries) * size + row % size);
    }

    /** What gates each number of each head; the one gate of a head is repeated for all its numbers. */
    private StoredMatrix gates(AttentionSpec.MultiHead attention, int layer) {
        HeadShape heads = attention.heads();
        int size = heads.valueSize();
        if (!attention.traits().gatesHeads()) {
            return plain(Part.ATTENTION_GATE, layer, heads.queryHeads() * size, spec.width());
        }
        return rearrangement.repeat(plain(Part.ATTENTION_GATE, layer, heads.queryHeads(), spec.width()), size);
    }

    private Buffer projectionBias(HeadShape heads, int layer) {
        int queries = heads.queryHeads() * heads.keySize();
        int keys = heads.keyHeads() * heads.keySize();
        int values = heads.keyHeads() * heads.valueSize();
        if (!tensors.has(Part.QUERY_KEY_VALUE, layer)) {
            return store.constants(Floats.concatenate(
                    tensors.bias(Part.QUERY, layer, queries),
                    tensors.bias(Part.KEY, layer, keys),
                    tensors.bias(Part.VALUE, layer, values)));
        }
        float[] all = tensors.bias(Part.QUERY_KEY_VALUE, layer, queries + keys + values);
        if (tensors.layout() != WeightNames.Layout.PER_HEAD) {
            return store.constants(all);
        }
        var ordered = new float[all.length];
        for (int row = 0; row < ordered.length; row++) {
            ordered[row] = all[perHeadRow(row, heads)];
        }
        return store.constants(ordered);
    }

    /** Where a row of queries, then keys, then values lies among {@code [key head, its queries, then key and value, size]}. */
    private static int perHeadRow(int row, HeadShape heads) {
        int size = heads.keySize();
        int shared = heads.queryHeads() / heads.keyHeads();
        int head = row / size;
        if (head < heads.queryHeads()) {
            return (head / shared * (shared + 2) + head % shared) * size + row % size;
        }
        int keyOrValue = head - heads.queryHeads();
        int group = keyOrValue % heads.keyHeads();
        return (group * (shared + 2) + shared + keyOrValue / heads.keyHeads()) * size + row % size;
    }

    private Layer.Latent latent(AttentionSpec.Latent attention, int layer, List<LayerPlace> places) {
        LayerPlace place = places.getFirst();
        IndexSpec index = attention.index();
        int heads = attention.heads();
        int queries = heads * attention.querySize();
        int absorbed = heads * attention.cachedSize();
        int attendedLatent = heads * attention.rank();
        boolean compressed = attention.queryRank() > 0;
        int queryInput = compressed ? attention.queryRank() : spec.width();
        int compressedSize = Math.max(1, attention.queryRank());
        int products = queries + absorbed + attendedLatent + attention.cachedSize() + compressedSize;
        int choosing = index == null ? 0 : index.products();
        Rows all = Rows.of(workspace.projected, products + choosing + attention.gateNumbers());
        Rows latent = all.columns(queries + absorbed + attendedLatent, attention.cachedSize());
        var norm = new NormSpec(Norm.Kind.RMS, attention.epsilon(), 0f, false);
        var shape = new HeadShape(heads, 1, attention.cachedSize(), attention.rank());
        var fixed = new AttentionLayer(
                place.group(),
                place.layer(),
                shape,
                attention.rope() == null ? null : ropes.of(attention.rope()),
                null,
                null,
                attention.scale(),
                0f,
                attention.sinks() ? store.constants(tensors.vector(Part.SINKS, layer, heads)) : null,
                false,
                true,
                new AttentionLayer.Traits(
                        false, attention.queryScale(), null, null, index == null ? null : workspace.chosen()));
        return new Layer.Latent(
                compressed ? matrix(Part.QUERY_DOWN, layer, attention.queryRank(), spec.width()) : null,
                compressed ? norm(Part.QUERY_DOWN_NORM, layer, attention.queryRank(), norm, false) : null,
                all.columns(queries + absorbed + attendedLatent + attention.cachedSize(), compressedSize),
                matrix(compressed ? Part.QUERY_UP : Part.QUERY, layer, queries, queryInput),
                all.columns(0, queries),
                matrix(Part.LATENT_DOWN, layer, attention.cachedSize(), spec.width()),
                latent,
                norm(Part.LATENT_NORM, layer, attention.rank(), norm, false),
                latent.columns(0, attention.rank()),
                keyUp(attention, layer),
                all.columns(queries, absorbed),
                fixed,
                all.columns(queries + absorbed, attendedLatent),
                valueUp(attention, layer),
                Rows.of(workspace.attended, heads * attention.valueSize()),
                matrix(Part.ATTENTION_OUTPUT, layer, spec.width(), heads * attention.valueSize()),
                added(null, layer),
                index == null || !index.isOwn()
                        ? null
                        : chooser(
                                index,
                                attention.queryRank(),
                                all.columns(products, index.products()),
                                layer,
                                places.subList(1, places.size())),
                latentGates(attention, layer),
                attention.gateNumbers() == 0 ? null : all.columns(products + choosing, attention.gateNumbers()));
    }

    /** What gates each number of each head; the one gate of a head is repeated for all its numbers. */
    private @Nullable Weight latentGates(AttentionSpec.Latent attention, int layer) {
        return switch (attention.gates()) {
            case NONE -> null;
            case OF_NUMBERS -> matrix(Part.ATTENTION_GATE, layer, attention.gateNumbers(), spec.width());
            case OF_HEADS -> {
                StoredMatrix heads = plain(Part.ATTENTION_GATE, layer, attention.heads(), spec.width());
                yield store.load(
                        "layer " + layer + " " + Part.ATTENTION_GATE,
                        1,
                        List.of(rearrangement.repeat(heads, attention.valueSize())));
            }
        };
    }

    /** What chooses; its keys lie in its last group. */
    private Layer.Chooser chooser(
            IndexSpec index, int queryColumns, Rows products, int layer, List<LayerPlace> places) {
        LayerPlace place = places.getLast();
        int queries = index.heads() * index.size();
        boolean isOfBlocks = index.isOfBlocks();
        var norm = new NormSpec(Norm.Kind.LAYER, index.epsilon(), 0f, true);
        Norm keyNorm = isOfBlocks
                ? headNorm(Part.INDEX_KEY_NORM, layer, 1, index.size())
                : norm(Part.INDEX_KEY_NORM, layer, index.size(), norm, true);
        var keys = new AttentionLayer(
                place.group(),
                place.layer(),
                new HeadShape(index.heads(), 1, index.size(), index.size()),
                index.rope() == null ? null : ropes.of(index.rope()),
                isOfBlocks ? headNorm(Part.INDEX_QUERY_NORM, layer, index.heads(), index.size()) : null,
                index.isPooled() ? null : keyNorm, // of what each token gives, then
                (float) (1 / Math.sqrt((double) index.heads() * index.size())),
                0f,
                null,
                false,
                true,
                index.turnsEnds() ? AttentionLayer.Traits.ofEnds(null) : AttentionLayer.Traits.NONE);
        Rows asked = products.columns(0, queries);
        return new Layer.Chooser(
                matrix(Part.INDEX_QUERY, layer, queries, queryColumns),
                asked,
                matrix(Part.INDEX_KEY, layer, index.size(), spec.width()),
                products.columns(queries, index.size()),
                isOfBlocks ? null : matrix(Part.INDEX_WEIGHT, layer, index.heads(), spec.width()),
                isOfBlocks ? asked : products.columns(queries + index.size(), index.heads()),
                index.isPooled() ? pool(index, keyNorm, keys, products, layer, places.getFirst()) : null,
                new PositionIndex(keys, index.localBlocks(), workspace.chosen()));
    }

    private Layer.Pool pool(
            IndexSpec index, Norm norm, AttentionLayer keys, Rows products, int layer, LayerPlace place) {
        int size = index.size();
        int behind = products.columns() - 2 * size;
        var given = new AttentionLayer(
                place.group(), place.layer(), new HeadShape(1, 1, size, size), null, null, norm, 1f, 0f, null);
        float[] bias = tensors.vector(Part.INDEX_COMPRESSED_BIAS, layer, (long) index.block() * size);
        return new Layer.Pool(
                matrix(Part.INDEX_COMPRESSED_GATE, layer, size, spec.width()),
                products.columns(behind, size),
                new Compression(given, keys, false, store.constants(bias)),
                products.columns(behind + size, size));
    }

    /** Per head {@code [rank, plainSize]}: what turns a query without position into one that asks for latents. */
    private Weight keyUp(AttentionSpec.Latent attention, int layer) {
        int heads = attention.heads();
        String name = "layer " + layer + " latent keys";
        if (tensors.has(Part.LATENT_KEY_UP, layer)) {
            List<StoredMatrix> stack =
                    tensors.experts(Part.LATENT_KEY_UP, layer, heads, attention.rank(), attention.plainSize());
            return store.load(name, heads, stack);
        }
        var matrices = new ArrayList<StoredMatrix>();
        for (int head = 0; head < heads; head++) {
            matrices.add(transposedFloats(expansion(attention, layer), head, attention));
        }
        return store.load(name, heads, matrices);
    }

    /** Per head {@code [valueSize, rank]}: what expands an attended latent into a value. */
    private Weight valueUp(AttentionSpec.Latent attention, int layer) {
        int heads = attention.heads();
        String name = "layer " + layer + " latent values";
        if (tensors.has(Part.LATENT_VALUE_UP, layer)) {
            List<StoredMatrix> stack =
                    tensors.experts(Part.LATENT_VALUE_UP, layer, heads, attention.valueSize(), attention.rank());
            return store.load(name, heads, stack);
        }
        int perHead = attention.plainSize() + attention.valueSize();
        var matrices = new ArrayList<StoredMatrix>();
        for (int head = 0; head < heads; head++) {
            matrices.add(expansion(attention, layer)
                    .rows((long) head * perHead + attention.plainSize(), attention.valueSize()));
        }
        return store.load(name, heads, matrices);
    }

    private StoredMatrix expansion(AttentionSpec.Latent attention, int layer) {
        long perHead = (long) attention.plainSize() + attention.valueSize();
        return tensors.matrix(Part.LATENT_UP, layer, attention.heads() * perHead, attention.rank());
    }

    /** The key rows {@code [plainSize, rank]} of a head as float32 {@code [rank, plainSize]}. */
    private StoredMatrix transposedFloats(StoredMatrix expansion, int head, AttentionSpec.Latent attention) {
        int perHead = attention.plainSize() + attention.valueSize();
        StoredMatrix rows = expansion.rows((long) head * perHead, attention.plainSize());
        return rearrangement.transposeToFloats(rows);
    }

    /** The epilogue of a product that ends half a block. */
    private Epilogue added(float @Nullable [] bias, int layer) {
        return addedTo(spec.block(layer), bias == null ? null : store.constants(bias));
    }

    static Epilogue addedTo(BlockSpec block, @Nullable Buffer bias) {
        return block.givesApart() ? Epilogue.bias(bias) : Epilogue.residual(bias, block.residualScale());
    }

    private Weight matrix(Part part, int layer, int rows, int columns) {
        return store.load("layer " + layer + " " + part, 1, List.of(plain(part, layer, rows, columns)));
    }

    private StoredMatrix plain(Part part, int layer, int rows, int columns) {
        return tensors.product(part, layer, rows, columns, rearrangement);
    }
}
