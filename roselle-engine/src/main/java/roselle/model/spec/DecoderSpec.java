package roselle.model.spec;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.SelectiveScan;
import roselle.backend.step.StepDemands;
import roselle.backend.step.StepLimits;

/**
 * A decoder as data, or an encoder, which is one without logits: what one family's configuration says, with nothing left to look
 * up.
 *
 * @param architecture the family, as its checkpoints name it
 * @param vocabulary tokens that have an embedding and a logit
 * @param width numbers of the residual stream
 * @param context tokens of the longest sequence the model was made for
 * @param output null where last hidden states are all that there is
 */
public record DecoderSpec(
        String architecture,
        int vocabulary,
        int width,
        int context,
        InputSpec input,
        NormSpec norm,
        BlockSpec block,
        List<LayerSpec> layers,
        @Nullable OutputSpec output) {
    public DecoderSpec {
        layers = List.copyOf(layers);
        if (input.layers() != null && block.parallel()) {
            throw new IllegalArgumentException("layers of parallel blocks are told nothing of a token");
        }
        for (int i = 0; i < layers.size(); i++) {
            BlockSpec own = layers.get(i).block();
            requireFit(layers, i, own == null ? block : own);
        }
    }

    /** How a layer is wired to the stream. */
    public BlockSpec block(int layer) {
        BlockSpec own = layers.get(layer).block();
        return own == null ? block : own;
    }

    /** The same with layers that have a wiring of their own where an entry is not null. */
    public DecoderSpec withBlocks(List<Optional<BlockSpec>> blocks) {
        var own = new ArrayList<LayerSpec>();
        for (int i = 0; i < layers.size(); i++) {
            LayerSpec layer = layers.get(i);
            own.add(new LayerSpec(
                    layer.attention(), layer.feedForward(), blocks.get(i).orElse(null)));
        }
        return new DecoderSpec(architecture, vocabulary, width, context, input, norm, block, own, output);
    }

    /** The positions of a row at most that layers attend to which choose them, of all choices; 0 where none does. */
    public int chosenPositions() {
        IndexSpec index = anyIndex();
        return index == null ? 0 : index.room() * index.choices();
    }

    private static int chosen(AttentionSpec attention) {
        IndexSpec index = index(attention);
        return index == null ? 0 : index.chosen();
    }

    /** Kinds of distances that queries and keys of any layer meet; null for none. */
    public @Nullable DistanceKinds distanceKinds() {
        for (LayerSpec layer : layers) {
            if (layer.attention() instanceof AttentionSpec.MultiHead heads
                    && heads.traits().distances() != null) {
                return heads.traits().distances();
            }
        }
        return null;
    }

    /** Numbers of a row that adapters of tasks need; 0 without such. */
    public int taskNumbers() {
        return input.tasks() == null ? 0 : input.tasks().numbers();
    }

    /** Numbers of a row of what its query, or its key, adds to scores by distance; 0 for none. */
    public int distanceScores() {
        DistanceKinds kinds = distanceKinds();
        return kinds != null && layers.getFirst().attention() instanceof AttentionSpec.MultiHead heads
                ? heads.heads().queryHeads() * kinds.count()
                : 0;
    }

    /** What chooses the positions that a layer attends to; null for all. */
    private static @Nullable IndexSpec index(AttentionSpec attention) {
        return switch (attention) {
            case AttentionSpec.Latent latent -> latent.index();
            case AttentionSpec.MultiHead heads -> heads.traits().index();
            case AttentionSpec.Compressed compressed -> compressed.index();
            default -> null;
        };
    }

    /** An index of the decoder, all of which choose as many positions in as many ways; null for none. */
    public @Nullable IndexSpec anyIndex() {
        for (LayerSpec layer : layers) {
            if (index(layer.attention()) != null) {
                return index(layer.attention());
            }
        }
        return null;
    }

    /** Of how many tokens each key is made that layers choose; 1 where they choose positions. */
    public int chosenTokens() {
        for (LayerSpec layer : layers) {
            if (layer.attention() instanceof AttentionSpec.Compressed compressed && compressed.index() != null) {
                return compressed.tokens();
            }
        }
        return 1;
    }

    /** Shared keys are those of an earlier layer of the same kind; what lies side by side is normalised behind. */
    private static void requireFit(List<LayerSpec> layers, int index, BlockSpec block) {
        LayerSpec layer = layers.get(index);
        if (layer.attention() instanceof AttentionSpec.Latent latent
                && latent.index() != null
                && !latent.index().isOwn()
                && (index == 0
                        || chosen(layers.get(index - 1).attention())
                                != latent.index().chosen())) {
            throw new IllegalArgumentException("layer " + index + " attends to what the one before it has not chosen");
        }
        if (layer.attention() instanceof AttentionSpec.SharedKeys shared
                && (shared.source() < 0
                        || shared.source() >= index
                        || !(layers.get(shared.source()).attention() instanceof AttentionSpec.MultiHead own)
                        || !kvGroup(own).equals(kvGroup(shared.heads())))) {
            throw new IllegalArgumentException("layer " + index + " cannot read the keys of layer " + shared.source()
                    + ", which has no such keys");
        }
        if (layer.feedForward() instanceof FeedForwardSpec.Beside && (!block.normsOutputs() || block.parallel())) {
            throw new IllegalArgumentException(
                    "experts beside a dense feed-forward need a block that normalises outputs");
        }
        if (layer.feedForward() instanceof FeedForwardSpec.Experts experts
                && experts.sharedSize() != 0
                && block.normsStream()) {
            throw new IllegalArgumentException(
                    "layer " + index + " shares an expert that would read what others add to the stream");
        }
        boolean isHalf =
                layer.feedForward() instanceof FeedForwardSpec.None || layer.attention() instanceof AttentionSpec.None;
        if (isHalf && (block.parallel() || block.givesApart() || block.normsSums())) {
            throw new IllegalArgumentException(
                    "layer " + index + " is half a block, which needs one that normalises inputs alone");
        }
        if (layer.feedForward() instanceof FeedForwardSpec.Experts experts
                && experts.sharedGate()
                && block.givesApart()) {
            throw new IllegalArgumentException("layer " + index + " gates a shared expert and normalises what it adds");
        }
        if (layer.feedForward() instanceof FeedForwardSpec.Experts experts
                && (experts.traits().latent() != 0 || experts.traits().weighsInputs())
                && (block.parallel() || block.givesApart() || !block.normsInputs())) {
            throw new IllegalArgumentException(
                    "layer " + index
                            + " has experts that read something else than the stream, which needs a block that normalises inputs alone");
        }
    }

    /** Whether it has logits, from which text can be generated. */
    public boolean generates() {
        return output != null;
    }

    /** Whether the output matrix is the embedding. */
    public boolean isTied() {
        return output != null && output.tied();
    }

    /** The same without logits. */
    public DecoderSpec withoutOutput() {
        return new DecoderSpec(architecture, vocabulary, width, context, input, norm, block, layers, null);
    }

    /** The same with logits. */
    public DecoderSpec with(OutputSpec logits) {
        return new DecoderSpec(architecture, vocabulary, width, context, input, norm, block, layers, logits);
    }

    /** Whether logits are made of what a product and a norm make of hidden numbers. */
    public boolean transformsOutput() {
        return output != null && output.transform() != null;
    }

    /** The same with an output matrix of its own, or the embedding in its place. */
    public DecoderSpec withTied(boolean tied) {
        OutputSpec same = output == null ? null : output.withTied(tied);
        return new DecoderSpec(architecture, vocabulary, width, context, input, norm, block, layers, same);
    }

    /** Whether a token's state depends on the tokens behind it: then a sequence is computed in one step. */
    public boolean isBidirectional() {
        return layers.stream().anyMatch(layer -> isBidirectional(layer.attention()));
    }

    private static boolean isBidirectional(AttentionSpec attention) {
        return attention instanceof AttentionSpec.MultiHead heads && heads.bidirectional();
    }

    public boolean learnedPositions() {
        return input.learnedPositions();
    }

    /** Whether a layer's keys and values outlive it; those of bidirectional layers of a kind have one place in turn. */
    public boolean keepsKeys(int layer) {
        return !isBidirectional(layers.get(layer).attention());
    }

    /** Whether tokens are routed to experts. */
    public boolean routesTokens() {
        return layers.stream()
                .map(LayerSpec::feedForward)
                .anyMatch(one -> one instanceof FeedForwardSpec.Experts || one instanceof FeedForwardSpec.Beside);
    }

    /** Numbers that all layers together are told of a token, beside the residual stream. */
    public int layerInputs() {
        return input.layers() == null ? 0 : layers.size() * input.layers().size();
    }

    /** The layer whose keys and values a layer attends to: most often itself. */
    public int sourceOfKeys(int layer) {
        return layers.get(layer).attention() instanceof AttentionSpec.SharedKeys shared ? shared.source() : layer;
    }

    /** The layers by the kinds of pages they need, in the order in which the kinds first appear. */
    public List<KvGroup> kvGroups() {
        var counts = new LinkedHashMap<KvGroup, Integer>();
        for (LayerSpec layer : layers) {
            if (layer.attention() instanceof AttentionSpec.SharedKeys) {
                continue; // another layer's keys
            }
            for (KvGroup kind : kvGroups(layer.attention())) {
                counts.merge(kind, 1, isBidirectional(layer.attention()) ? Math::max : Integer::sum);
            }
        }
        var groups = new ArrayList<KvGroup>();
        counts.forEach((one, layerCount) -> groups.add(one.withLayers(layerCount)));
        return List.copyOf(groups);
    }

    /** For each layer, the indices of its groups in {@link #kvGroups}: one, or that of a convolution and that of states. */
    public int[][] groupsOfLayers() {
        var kinds = new ArrayList<KvGroup>();
        var groups = new int[layers.size()][];
        for (int i = 0; i < groups.length; i++) {
            List<KvGroup> needed = kvGroups(layers.get(i).attention());
            groups[i] = new int[needed.size()];
            for (int j = 0; j < groups[i].length; j++) {
                if (!kinds.contains(needed.get(j))) {
                    kinds.add(needed.get(j));
                }
                groups[i][j] = kinds.indexOf(needed.get(j));
            }
        }
        return groups;
    }

    /** What a device must know of it to be ready for steps. */
    public StepDemands demands(StepLimits limits, KvType cacheType) {
        List<KvGroup> groups = kvGroups();
        int[][] groupsOf = groupsOfLayers();
        var attentions = new LinkedHashSet<StepDemands.Attention>();
        for (int i = 0; i < groupsOf.length; i++) {
            if (groupsOf[i].length != 0) {
                KvGroup group = groups.get(groupsOf[i][0]);
                boolean bothWays = isBidirectional(layers.get(i).attention());
                heads(layers.get(i).attention())
                        .ifPresent(heads -> attentions.add(new StepDemands.Attention(heads, group, bothWays)));
            }
            for (int j = 1; j < groupsOf[i].length; j++) { // for whose pages a device makes room all the same
                KvGroup kept = groups.get(groupsOf[i][j]);
                if (!kept.isState() && kept.valueSize() != 0) {
                    var heads = new HeadShape(kept.heads(), kept.heads(), kept.keySize(), kept.valueSize());
                    attentions.add(new StepDemands.Attention(heads, kept, false));
                }
            }
        }
        Widths widths = Widths.of(this);
        boolean routes = routesTokens();
        return new StepDemands(
                limits,
                cacheType,
                groups.size(),
                List.copyOf(attentions),
                width,
                widths.columns(this),
                generates() ? vocabulary : 0,
                routes ? widths.experts() : 0,
                routes ? widths.routed() : 0,
                widths.odd(this),
                special());
    }

    private static final String BLOCKS = "attention to chosen blocks";

    /** What not every device has kernels for, in words. */
    public List<String> special() {
        var all = new LinkedHashSet<String>();
        for (LayerSpec layer : layers) {
            switch (layer.attention()) {
                case AttentionSpec.MultiHead heads when heads.traits().index() != null -> all.add(BLOCKS);
                case AttentionSpec.SharedKeys shared
                when shared.heads().traits().index() != null -> all.add(BLOCKS);
                case AttentionSpec.Latent latent
                when latent.index() != null -> all.add("attention to chosen positions");
                case AttentionSpec.Compressed _ -> all.add("attention to keys of several tokens");
                default -> {}
            }
        }
        return List.copyOf(all);
    }

    /** The heads that attend; none where a state stands in the place of attention. */
    private static Optional<HeadShape> heads(AttentionSpec attention) {
        return switch (attention) {
            case AttentionSpec.None none -> Optional.empty();
            case AttentionSpec.MultiHead heads -> Optional.of(heads.heads());
            case AttentionSpec.SharedKeys shared -> heads(shared.heads());
            case AttentionSpec.Latent latent ->
                Optional.of(new HeadShape(latent.heads(), 1, latent.cachedSize(), latent.rank()));
            case AttentionSpec.Compressed compressed ->
                Optional.of(new HeadShape(compressed.heads(), 1, compressed.size(), compressed.size()));
            case AttentionSpec.DeltaNet delta -> Optional.empty();
            case AttentionSpec.ShortConvolution convolution -> Optional.empty();
            case AttentionSpec.StateSpace space -> Optional.empty();
            case AttentionSpec.Lightning lightning -> Optional.empty();
            case AttentionSpec.Scan scan -> Optional.empty();
            case AttentionSpec.HeadsAndSpace both -> heads(both.heads());
        };
    }

    /** The groups of one layer alone. */
    private List<KvGroup> kvGroups(AttentionSpec attention) {
        return switch (attention) {
            case AttentionSpec.None none -> List.of();
            case AttentionSpec.MultiHead heads ->
                withIndex(kvGroup(heads), heads.traits().index());
            case AttentionSpec.SharedKeys shared -> List.of(kvGroup(shared.heads()));
            case AttentionSpec.Latent latent -> latentGroups(latent);
            case AttentionSpec.Compressed compressed -> compressedGroups(compressed);
            case AttentionSpec.DeltaNet delta ->
                List.of(convolution(delta.heads().channels()), delta.heads().group(1));
            case AttentionSpec.ShortConvolution convolution -> List.of(convolution(width));
            case AttentionSpec.StateSpace space -> spaceGroups(space);
            case AttentionSpec.Lightning lightning -> List.of(lightning.heads().spaceGroup(1));
            case AttentionSpec.Scan scan ->
                List.of(convolution(scan.channels()), SelectiveScan.kvGroup(scan.channels(), scan.stateSize()));
            case AttentionSpec.HeadsAndSpace both ->
                List.of(
                        kvGroup(both.heads()),
                        spaceGroups(both.space()).getFirst(),
                        spaceGroups(both.space()).getLast());
        };
    }

    private static List<KvGroup> spaceGroups(AttentionSpec.StateSpace space) {
        return List.of(convolution(space.heads().channels()), space.heads().spaceGroup(1));
    }

    private static List<KvGroup> latentGroups(AttentionSpec.Latent latent) {
        return withIndex(new KvGroup("latent", 1, 1, latent.cachedSize(), 0, 0), latent.index());
    }

    /** The window; what tokens give to keys that are not complete, and these; the same of the index. */
    private static List<KvGroup> compressedGroups(AttentionSpec.Compressed attention) {
        var groups = new ArrayList<KvGroup>();
        groups.add(new KvGroup("window", 1, 1, attention.size(), 0, attention.window()));
        if (attention.tokens() > 0) {
            addCompressed("", attention, attention.size(), groups);
        }
        if (attention.index() != null) {
            addCompressed("index ", attention, attention.index().size(), groups);
        }
        return groups;
    }

    private static void addCompressed(
            String prefix, AttentionSpec.Compressed attention, int size, List<KvGroup> groups) {
        int given = attention.given(size);
        int tokens = attention.tokens();
        boolean overlaps = attention.index() != null;
        groups.add(new KvGroup(
                prefix + "given", 1, 1, given, given, overlaps ? 2 * tokens : tokens, KvGroup.NO_STATE, !overlaps));
        groups.add(KvGroup.compressed(prefix + "compressed", size, tokens));
    }

    private static List<KvGroup> withIndex(KvGroup keys, @Nullable IndexSpec index) {
        if (index == null || !index.isOwn()) {
            return List.of(keys);
        }
        if (!index.isPooled()) {
            return List.of(keys, new KvGroup("index", 1, 1, index.size(), 0, 0));
        }
        int size = index.size();
        return List.of(
                keys,
                new KvGroup("index given", 1, 1, size, size, index.block(), KvGroup.NO_STATE, true),
                KvGroup.compressed("index compressed", size, index.block()));
    }

    private static KvGroup kvGroup(AttentionSpec.MultiHead attention) {
        HeadShape heads = attention.heads();
        boolean isChunked = attention.traits().isChunked();
        String windowed = isChunked ? "chunk" : "window";
        return new KvGroup(
                attention.window() == 0 ? "full" : windowed,
                1,
                heads.keyHeads(),
                heads.keySize(),
                heads.valueSize(),
                attention.window(),
                KvGroup.NO_STATE,
                isChunked);
    }

    private static KvGroup convolution(int channels) {
        return KvGroup.ofState("convolution", 1, channels, 0);
    }
}
