package roselle.model;

import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import roselle.backend.Device;
import roselle.backend.memory.AdapterPart;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Activation;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Gate;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Operations;
import roselle.backend.operation.Router;
import roselle.backend.operation.UnfusedOperations;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.backend.step.StepProgram;
import roselle.checkpoint.Checkpoint;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.AdaptableWeights;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Rearrangement;
import roselle.model.weights.Store;
import roselle.tensor.DataType;

/**
 * A decoder-only transformer (Vaswani et al., 2017) with its weights on a device: token ids in, logits out.
 *
 * <p>It is the program of its steps: {@link #run} is the same code for every architecture and for every mixture of prompts and
 * single tokens; what differs is data in {@link DecoderSpec}. It allocates nothing. The checkpoint must stay open for as long
 * as the decoder, whose weights may lie in it.
 */
public final class Decoder implements StepProgram, AutoCloseable {
    /** The module that adapters of tasks add to what embeddings get of them. */
    public static final String TASKS = "tasks";

    private static final Gate SIGMOID = Gate.of(Activation.LOGISTIC);

    private final DecoderSpec spec;
    private final Arena rearranged;
    private final long rearrangedBytes;
    private final Workspace space;
    private final KvCache cache;
    private final StateLayers states;
    private final DecoderWeights weights;
    private final Layer[] layers;
    private final long loadingNanos;
    private final @Nullable OutputSpec output;
    private final boolean scalesLogits;
    private final AdaptableWeights adaptable;
    private final boolean alwaysTakesTasks; // rows without a task would have other bits beside some that have one
    private final Set<AdapterPart.Use> adapted = EnumSet.noneOf(AdapterPart.Use.class);
    private boolean adapts; // in the step that runs
    private boolean takesTasks; // likewise
    private BlockSpec block; // of the layer that runs

    private Decoder(
            Checkpoint checkpoint,
            Blueprint blueprint,
            Device device,
            StepLimits limits,
            KvPages pages,
            Arena rearranged,
            LongConsumer loaded) {
        this.rearranged = rearranged;
        spec = blueprint.spec();
        block = spec.block();
        var rearrangement = new Rearrangement(rearranged);
        adaptable = new AdaptableWeights(Store.of(device, loaded), rearrangement);
        Store store = adaptable;
        space = new Workspace(spec, limits, store, device.activationType());
        int[] pageCounts = pages.pages().stream().mapToInt(Integer::intValue).toArray();
        cache = pages.areReserved()
                ? device.reserveKvCache(spec.kvGroups(), pages.type(), limits.pageTokens(), pageCounts)
                : device.allocateKvCache(spec.kvGroups(), pages.type(), limits.pageTokens(), pageCounts);
        states = new StateLayers(this, cache);
        long begin = System.nanoTime();
        weights = DecoderWeights.load(checkpoint, blueprint, store, rearrangement, space, limits.maxContext());
        layers = weights.layers().toArray(Layer[]::new);
        loadingNanos = System.nanoTime() - begin;
        alwaysTakesTasks =
                weights.tasks() != null && device.activationType() != DataType.F32; // activations apart are rounded
        weights.leaveAdaptable(adaptable, blueprint.names());
        for (AdapterPart.Use use : AdapterPart.Use.values()) {
            if (device.adapts(use)) {
                adapted.add(use);
            }
        }
        rearrangedBytes = rearrangement.bytes();
        output = spec.output();
        scalesLogits = output != null && (output.scale() != 1f || output.softCap() != 0f);
    }

    /**
     * Loads a decoder's weights and allocates all that it will ever need.
     *
     * @param limits the largest step; {@link MemoryPlan} says beforehand what it takes
     */
    public static Decoder open(
            Checkpoint checkpoint, Blueprint blueprint, Device device, StepLimits limits, KvPages pages) {
        return open(checkpoint, blueprint, device, limits, pages, _ -> {});
    }

    /** The same; {@code loaded} hears the bytes of each matrix that is loaded, as the checkpoint stores it. */
    public static Decoder open(
            Checkpoint checkpoint,
            Blueprint blueprint,
            Device device,
            StepLimits limits,
            KvPages pages,
            LongConsumer loaded) {
        device.stepBytes(blueprint.spec().demands(limits, pages.type())); // refuses what the device has no kernels for
        Arena rearranged = Arena.ofShared();
        try {
            return new Decoder(checkpoint, blueprint, device, limits, pages, rearranged, loaded);
        } catch (Throwable failure) {
            rearranged.close();
            throw failure;
        }
    }

    public DecoderSpec spec() {
        return spec;
    }

    /** What adapters can add to. */
    public AdaptableWeights adaptable() {
        return adaptable;
    }

    /** The pages that {@link StepInputs#pageTable} refers to. */
    public KvCache cache() {
        return cache;
    }

    /** Bytes that it copied from the checkpoint because their order there is not that of products. */
    public long rearrangedBytes() {
        return rearrangedBytes;
    }

    /** How long its weights took to load. */
    public long loadingNanos() {
        return loadingNanos;
    }

    /** Where a step's logits are, {@code [outputs, vocabulary]}, in the order of {@link StepInputs#outputRow}. */
    public Rows logits() {
        return space.logits;
    }

    /** Where the last hidden states of a step's output rows are, normalised, {@code [outputs, width]}. */
    public Rows states() {
        return space.last;
    }

    /** A step: appends its tokens to the cache and leaves the logits of its output rows in {@link #logits}. */
    @Override
    public void run(Operations operations, StepInputs inputs) {
        int rows = inputs.rows;
        adapts = inputs.adapts;
        operations.embed(weights.embedding(), spec.input().scale(), space.hidden); // [rows, width]
        if (adapts(AdapterPart.Use.TABLE)) {
            operations.adaptTable(weights.embedding(), spec.input().scale(), space.hidden);
        }
        if (weights.told() != null) {
            tell(operations, weights.told(), rows);
        }
        if (weights.positions() != null) {
            operations.addPositions(weights.positions(), space.hidden);
        }
        if (weights.types() != null) {
            operations.addTypes(weights.types(), space.hidden);
        }
        TaskInputs tasks = weights.tasks();
        takesTasks = tasks != null && (adapts || alwaysTakesTasks);
        if (tasks != null && takesTasks) {
            tasks.begin(this, operations, space.hidden, rows);
        }
        if (weights.embeddingNorm() != null) {
            operations.norm(space.hidden, weights.embeddingNorm(), space.hidden, rows);
        }
        ResidualStreams streams = weights.streams();
        if (streams != null) {
            streams.begin(operations, weights.embedding(), spec.input().scale(), rows);
        }
        for (Layer layer : layers) {
            block(operations, layer, rows);
        }
        if (inputs.outputs > 0) {
            if (streams != null) {
                streams.end(operations, space.last, inputs.outputs);
            } else {
                operations.selectOutputs(space.hidden, space.last); // [outputs, width]
            }
            if (weights.finalNorm() != null) {
                operations.norm(space.last, weights.finalNorm(), space.last, inputs.outputs);
            }
            if (output != null && weights.output() != null) {
                logits(operations, weights.output(), output, inputs.outputs);
            }
        }
    }

    /** All that the layers are told of each token, from its embedding and a table. */
    private void tell(Operations operations, ToldInputs told, int rows) {
        operations.embed(told.table(), told.tableScale(), told.all()); // [rows, layers * size]
        linear(operations, space.hidden, told.projection(), told.epilogue(), told.projected(), rows);
        operations.addNormed(told.projectedParts(), told.norm(), ToldInputs.SHARE, told.parts(), rows * told.layers());
    }

    /** What a layer makes of what it is told. */
    private void listen(Operations operations, Layer.Told told, int rows) {
        SideStreams streams = weights.streams() instanceof SideStreams side ? side : null;
        Rows input = streams == null ? space.hidden : streams.rows().streams().getFirst();
        linear(operations, input, told.down(), Epilogue.PLAIN, told.gates(), rows); // [rows, size]
        operations.gatedActivation(told.gates(), told.input(), told.gate(), told.gates(), rows);
        linear(operations, told.gates(), told.up(), Epilogue.PLAIN, space.delta, rows);
        if (streams == null) {
            operations.addNormed(space.delta, told.norm(), 1f, space.hidden, rows);
            return;
        }
        for (int i = 1; i < streams.rows().streams().size(); i++) {
            operations.addNormed(
                    space.delta, told.norm(), 1f, streams.rows().streams().get(i), rows);
        }
    }

    private void logits(Operations operations, Weight matrix, OutputSpec kind, int outputs) {
        Layer.OutputTransform transform = weights.transform();
        if (transform != null) {
            operations.linear(space.last, transform.product(), transform.activation(), space.transformed, outputs);
            operations.norm(space.transformed, transform.norm(), space.transformed, outputs);
        }
        operations.logits(
                space.transformed, matrix, weights.outputBias(), space.logits, outputs); // [outputs, vocabulary]
        if (adapts(AdapterPart.Use.LOGITS)) {
            operations.adaptLogits(space.transformed, matrix, space.logits, outputs);
        }
        if (scalesLogits) {
            operations.scaleLogits(space.logits, kind.scale(), kind.softCap(), outputs);
        }
    }

    private void block(Operations operations, Layer layer, int rows) {
        block = layer.block();
        if (block.parallel()) {
            parallelBlock(operations, layer, rows);
            return;
        }
        ResidualStreams streams = weights.streams();
        if (streams != null) {
            streams.beforeAttention(operations, layer, space.hidden, rows);
        }
        attention(operations, layer, space.hidden, inPlace(operations, layer.attentionNorm(), rows), rows);
        addNormed(operations, layer.postAttentionNorm(), rows);
        if (streams != null) {
            streams.betweenHalves(operations, layer, space.hidden, rows);
        }
        feed(operations, layer.feedForward(), space.hidden, inPlace(operations, layer.feedForwardNorm(), rows), rows);
        addNormed(operations, layer.postFeedForwardNorm(), rows);
        if (streams != null) {
            streams.afterFeedForward(operations, layer, rows);
        }
        if (layer.told() != null) {
            listen(operations, layer.told(), rows);
        }
        scale(operations, space.hidden, layer.scale(), rows);
    }

    /** Attention and feed-forward read the same residual stream. */
    private void parallelBlock(Operations operations, Layer layer, int rows) {
        Rows input = normed(operations, layer.attentionNorm(), space.normed, rows); // [rows, width]
        Norm ownNorm = layer.feedForwardNorm();
        Rows other = ownNorm == null ? input : normed(operations, ownNorm, space.otherNormed, rows);
        attention(operations, layer, input, null, rows);
        addNormed(operations, layer.postAttentionNorm(), rows);
        feed(operations, layer.feedForward(), other, null, rows);
        addNormed(operations, layer.postFeedForwardNorm(), rows);
    }

    /** What reads rows that are normalised before it where there is a norm. */
    private void attention(Operations operations, Layer layer, Rows input, @Nullable Norm norm, int rows) {
        switch (layer.attention()) {
            case Layer.NoAttention _ -> {}
            case Layer.MultiHead heads -> attend(operations, heads, input, norm, rows);
            case Layer.Latent latent -> attend(operations, latent, ready(operations, input, norm, rows), rows);
            case CompressedAttention kind ->
                kind.attend(operations, ready(operations, input, norm, rows), cache, stream(), rows);
            case Layer.DeltaNet delta -> states.remember(operations, delta, input, norm, rows);
            case Layer.ShortConvolution convolution -> states.convolve(operations, convolution, input, norm, rows);
            case Layer.StateSpace kind -> states.remember(operations, kind, input, norm, rows);
            case Layer.Lightning kind -> states.remember(operations, kind, ready(operations, input, norm, rows), rows);
            case Layer.Scan scan -> states.scan(operations, scan, input, norm, rows);
            case Layer.HeadsAndSpace both ->
                attendAndRemember(operations, both, ready(operations, input, norm, rows), rows);
        }
    }

    private Rows ready(Operations operations, Rows input, @Nullable Norm norm, int rows) {
        return norm == null ? input : normed(operations, norm, space.normed, rows);
    }

    /** Normalises the residual stream itself where the architecture does that; what is left to normalise for who reads it. */
    private @Nullable Norm inPlace(Operations operations, @Nullable Norm norm, int rows) {
        if (norm == null || !block.normsStream()) {
            return norm;
        }
        operations.norm(space.hidden, norm, space.hidden, rows);
        return null;
    }

    /** The residual stream, normalised where the architecture does that. */
    private Rows normed(Operations operations, @Nullable Norm norm, Rows target, int rows) {
        if (norm == null) {
            return space.hidden;
        }
        operations.norm(space.hidden, norm, target, rows);
        return target;
    }

    /** Where half a block leaves its result: the residual stream, or what is normalised before it is added to it. */
    Rows stream() {
        return block.givesApart() ? space.delta : space.hidden;
    }

    /** What ends half a block: its result is normalised and added, or the sum is normalised. */
    private void addNormed(Operations operations, @Nullable Norm norm, int rows) {
        if (norm != null && spec.block().normsSums()) {
            operations.norm(space.hidden, norm, space.hidden, rows);
        } else if (norm != null) {
            operations.addNormed(space.delta, norm, spec.block().residualScale(), space.hidden, rows);
        }
    }

    /** A product with rows that are normalised before it where there is a norm. */
    void linear(
            Operations operations,
            Rows input,
            @Nullable Norm norm,
            Weight weight,
            Epilogue epilogue,
            Rows output,
            int rows) {
        if (norm == null) {
            linear(operations, input, weight, epilogue, output, rows);
        } else if (adapts) { // which needs the normalised rows, too
            operations.norm(input, norm, space.normed, rows);
            linear(operations, space.normed, weight, epilogue, output, rows);
        } else {
            operations.normedLinear(input, norm, space.normed, weight, epilogue, output, rows);
        }
    }

    private boolean adapts(AdapterPart.Use use) {
        return adapts && adapted.contains(use);
    }

    /** A product, and what adapters add to it. */
    void linear(Operations operations, Rows input, Weight weight, Epilogue epilogue, Rows output, int rows) {
        operations.linear(input, weight, epilogue, output, rows);
        if (adapts) {
            operations.adapt(input, weight, epilogue.scale(), output);
        }
    }

    private void attend(Operations operations, Layer.MultiHead attention, Rows input, @Nullable Norm norm, int rows) {
        if (attention.chooser() != null) {
            Rows normed = ready(operations, input, norm, rows);
            choose(operations, attention.chooser(), normed, normed, rows);
        }
        linear(operations, input, norm, attention.queryKeyValue(), attention.bias(), attention.all(), rows);
        if (attention.allQueriesNorm() != null && attention.allKeysNorm() != null) {
            operations.norm(attention.query(), attention.allQueriesNorm(), attention.query(), rows);
            operations.norm(attention.key(), attention.allKeysNorm(), attention.key(), rows);
        }
        if (attention.valueNorm() != null) {
            int size = attention.layer().heads().valueSize();
            Rows source = attention.valuesAreKeys() ? attention.key() : attention.value();
            operations.normHeads(source, attention.valueNorm(), size, attention.value(), rows);
        }
        if (attention.distances() != null) {
            Layer.Distances far = attention.distances();
            operations.headLinear(
                    attention.query(), far.forQueries(), far.scores().ofQueries(), rows);
            operations.headLinear(attention.key(), far.forKeys(), far.scores().ofKeys(), rows);
        }
        operations.appendAndAttend(
                attention.query(),
                attention.key(),
                attention.value(),
                attention.layer(),
                cache,
                attention.attended()); // [rows, heads * valueSize]
        if (attention.gates() != null) {
            operations.gatedActivation(attention.gates(), attention.attended(), SIGMOID, attention.attended(), rows);
        }
        linear(operations, attention.attended(), attention.output(), attention.outputEpilogue(), stream(), rows);
    }

    private void attend(Operations operations, Layer.Latent attention, Rows input, int rows) {
        Rows queryInput = input;
        if (attention.queryDown() != null && attention.queryNorm() != null) {
            queryInput = attention.compressedQuery(); // [rows, queryRank]
            linear(operations, input, attention.queryDown(), Epilogue.PLAIN, queryInput, rows);
            operations.norm(queryInput, attention.queryNorm(), queryInput, rows);
        }
        linear(operations, queryInput, attention.queryUp(), Epilogue.PLAIN, attention.query(), rows);
        linear(operations, input, attention.latentDown(), Epilogue.PLAIN, attention.latent(), rows);
        operations.norm(attention.latentValue(), attention.latentNorm(), attention.latentValue(), rows);
        operations.headLinear(
                attention.query(), attention.keyUp(), attention.absorbed(), rows); // [rows, heads * cachedSize]
        operations.ropeAndAppendLatent(
                attention.query(), attention.latent(), attention.absorbed(), attention.layer(), cache);
        if (attention.chooser() != null) {
            choose(operations, attention.chooser(), input, queryInput, rows);
        }
        operations.attention(attention.absorbed(), attention.layer(), cache, attention.attendedLatent());
        operations.headLinear(attention.attendedLatent(), attention.valueUp(), attention.attended(), rows);
        if (attention.gate() != null && attention.gates() != null) {
            linear(operations, input, attention.gate(), Epilogue.PLAIN, attention.gates(), rows);
            operations.gatedActivation(attention.gates(), attention.attended(), SIGMOID, attention.attended(), rows);
        }
        linear(operations, attention.attended(), attention.output(), attention.outputEpilogue(), stream(), rows);
    }

    /** Chooses the positions that the layer attends to, and those behind it that do not choose. */
    private void choose(Operations operations, Layer.Chooser chooser, Rows input, Rows compressedQuery, int rows) {
        linear(operations, compressedQuery, chooser.query(), Epilogue.PLAIN, chooser.queries(), rows);
        linear(operations, input, chooser.key(), Epilogue.PLAIN, chooser.keys(), rows);
        if (chooser.weight() != null) {
            linear(operations, input, chooser.weight(), Epilogue.PLAIN, chooser.weights(), rows);
        }
        Layer.Pool pool = chooser.pool();
        if (pool == null) {
            operations.ropeAndAppendKv(
                    chooser.queries(),
                    chooser.keys(),
                    chooser.keys(),
                    chooser.index().keys(),
                    cache);
        } else {
            linear(operations, input, pool.gate(), Epilogue.PLAIN, pool.gates(), rows);
            AttentionLayer given = pool.compression().tokens();
            operations.ropeAndAppendKv(chooser.keys(), chooser.keys(), pool.gates(), given, cache);
            operations.compress(pool.compression(), cache, pool.room());
        }
        operations.choosePositions(chooser.queries(), chooser.weights(), chooser.index(), cache);
    }

    private void attendAndRemember(Operations operations, Layer.HeadsAndSpace both, Rows input, int rows) {
        attend(operations, both.heads(), input, null, rows);
        states.remember(operations, both.space(), input, null, rows);
    }

    static void scale(Operations operations, Rows target, float factor, int rows) {
        if (factor != 1f) {
            operations.scaleLogits(target, factor, 0f, rows);
        }
    }

    private void feed(Operations operations, Layer.FeedForward feedForward, Rows input, @Nullable Norm norm, int rows) {
        switch (feedForward) {
            case Layer.NoFeedForward _ -> {}
            case Layer.Plain plain -> feed(operations, plain, input, norm, rows);
            case Layer.Gated gated -> feed(operations, gated, input, norm, stream(), rows);
            case Layer.Experts experts -> feed(operations, experts, ready(operations, input, norm, rows), rows);
            case Layer.Beside both -> feed(operations, both, input, norm, rows);
        }
    }

    private void feed(Operations operations, Layer.Plain plain, Rows input, @Nullable Norm norm, int rows) {
        if (takesTasks || adapts(AdapterPart.Use.ACTIVATED_PRODUCT)) {
            Layer.ActivationApart apart = plain.apart();
            linear(operations, input, norm, plain.up(), apart.bias(), plain.inner(), rows);
            operations.gatedActivation(plain.inner(), apart.ones(), apart.gate(), plain.inner(), rows);
        } else {
            linear(operations, input, norm, plain.up(), plain.activation(), plain.inner(), rows); // [rows, size]
        }
        if (plain.xielu() != null) {
            operations.xielu(plain.inner(), plain.xielu(), rows);
        }
        linear(operations, plain.inner(), plain.down(), plain.downEpilogue(), stream(), rows);
    }

    private void feed(
            Operations operations, Layer.Gated gated, Rows input, @Nullable Norm norm, Rows target, int rows) {
        GatedLinear product = gated.product();
        boolean isPlain = !gated.isSparse() && gated.gateScale() == 1f; // nothing is between the product and its gates
        if (adapts && isPlain) {
            operations.adaptedGatedLinear(ready(operations, input, norm, rows), product, rows);
        } else if (!isPlain) {
            linear(operations, input, norm, product.gateAndUp(), product.epilogue(), product.both(), rows);
            if (gated.isSparse()) {
                operations.sparsify(product.gates(), gated.deviations(), rows);
            }
            scale(operations, product.gates(), gated.gateScale(), rows);
            operations.gatedActivation(product.gates(), product.ups(), product.gate(), product.gates(), rows);
        } else {
            operations.gatedLinear(input, norm, space.normed, product, rows); // [rows, size]
        }
        linear(operations, gated.product().gates(), gated.down(), gated.downEpilogue(), target, rows);
    }

    private void feed(Operations operations, Layer.Experts experts, Rows input, int rows) {
        route(operations, experts, input, rows);
        Layer.Shared shared = experts.shared();
        boolean isSummed = experts.sum().shared() != null; // with the others
        if (shared != null && (isSummed || block.givesApart())) { // before the sum, which takes it in
            feed(operations, shared, input, rows);
        }
        if (experts.latent() != null) {
            feedLatent(operations, experts, experts.latent(), input, rows);
        } else if (experts.weigher() != null) {
            feedWeighed(operations, experts, experts.weigher(), input, rows);
        } else if ((adapts(AdapterPart.Use.EXPERT) && experts.areAdaptable()) || (adapts && experts.last() != null)) {
            AdaptedExperts.feed(operations, experts, adapts(AdapterPart.Use.EXPERT), input, rows);
        } else {
            operations.feedExperts(input, experts.products(), experts.routing(), experts.sum(), rows);
        }
        if (shared != null && !isSummed && !block.givesApart()) {
            feed(operations, shared, input, rows);
        }
        if (experts.bias() != null) {
            operations.addTypes(experts.bias(), stream());
        }
    }

    /** Experts that read and give fewer numbers than the stream has. */
    private void feedLatent(
            Operations operations, Layer.Experts experts, Layer.LatentStream latent, Rows input, int rows) {
        linear(operations, input, latent.down(), Epilogue.PLAIN, latent.input(), rows);
        operations.feedExperts(latent.input(), experts.products(), experts.routing(), experts.sum(), rows);
        linear(operations, latent.sum(), latent.up(), latent.upEpilogue(), space.hidden, rows);
    }

    /** One expert for each token, whose weight multiplies what it reads; what it gives counts once. */
    private void feedWeighed(Operations operations, Layer.Experts experts, Router weigher, Rows input, int rows) {
        operations.routeExperts(experts.routerLogits(), weigher, experts.routing(), rows);
        operations.combineExperts(input, experts.routing(), 1f, false, space.otherNormed, rows);
        UnfusedOperations.compute(operations, space.otherNormed, experts.products(), experts.routing(), rows);
        operations.routeExperts(experts.routerLogits(), experts.router(), experts.routing(), rows);
        AdaptedExperts.sum(operations, experts, rows);
    }

    /** A dense feed-forward, and experts that read the same stream; each is normalised, and their sum again behind it. */
    private void feed(Operations operations, Layer.Beside both, Rows input, @Nullable Norm norm, int rows) {
        Layer.Experts experts = both.experts();
        feed(operations, both.dense(), input, norm, space.delta, rows);
        operations.norm(space.delta, both.denseNorm(), space.delta, rows);
        operations.norm(input, both.routerNorm(), space.normed, rows);
        route(operations, experts, space.normed, rows);
        operations.norm(input, both.expertsNorm(), space.normed, rows);
        operations.feedExperts(space.normed, experts.products(), experts.routing(), experts.sum(), rows);
        operations.addNormed(experts.sum().output(), both.behindExperts(), 1f, space.delta, rows);
    }

    private void route(Operations operations, Layer.Experts experts, Rows input, int rows) {
        linear(operations, input, experts.routerWeight(), experts.routerBias(), experts.routerProducts(), rows);
        operations.routeExperts(experts.routerLogits(), experts.router(), experts.routing(), rows);
    }

    /** A shared expert; what one with a gate gives is left for the sum of the others. */
    private void feed(Operations operations, Layer.Shared shared, Rows input, int rows) {
        if (shared.gateLogit() == null) {
            feed(operations, shared.expert(), input, null, rows);
            return;
        }
        if (shared.gate() != null) {
            linear(operations, input, shared.gate(), Epilogue.PLAIN, shared.gateLogit(), rows); // [rows, 1]
        }
        feed(operations, (Layer.Gated) shared.expert(), input, null, space.delta, rows);
    }

    /** Frees what was copied from the checkpoint; buffers and pages belong to the device. */
    @Override
    public void close() {
        rearranged.close();
    }
}
