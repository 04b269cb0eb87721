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

    /** The layers by the kinds of pages they need, in the order in which the kinds first appear. */
    public List<KvGroup> kvGroups() {
        var counts = new LinkedHashMap<KvGroup, Integer>();
        for (LayerSpec layer : layers) {
            for (KvGroup kind : kvGroups(layer.attention())) {
                counts.merge(kind, 1, isBidirectional(layer.attention()) ? Math::max : Integer::sum);
            }
        }
        var groups = new ArrayList<KvGroup>();
        counts.forEach((one, layerCount) -> groups.add(one.withLayers(layerCount)));
        return List.copyOf(groups);
    }

    /** For each layer, the indices of its groups in {@link #kvGroups}: one, or that of a convolution and that of a delta rule. */
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
            KvGroup group = groups.get(groupsOf[i][0]);
            heads(layers.get(i).attention())
                    .ifPresent(heads -> attentions.add(new StepDemands.Attention(heads, group)));
        }
        Widths widths = Widths.of(this);
        boolean routes = layers.stream().anyMatch(layer -> layer.feedForward() instanceof FeedForwardSpec.Experts);
        return new StepDemands(
                limits,
                cacheType,
                groups.size(),
                List.copyOf(attentions),
                width,
                widths.columns(this),
                vocabulary,
                routes ? widths.experts() : 0,
                routes ? widths.routed() : 0,
                widths.odd(this));
    }

    /** The heads that attend; none where a state stands in the place of attention. */
    private static Optional<HeadShape> heads(AttentionSpec attention) {
        return switch (attention) {
            case AttentionSpec.MultiHead heads -> Optional.of(heads.heads());
            case AttentionSpec.Latent latent ->
                Optional.of(new HeadShape(latent.heads(), 1, latent.cachedSize(), latent.rank()));
            case AttentionSpec.DeltaNet delta -> Optional.empty();
            case AttentionSpec.ShortConvolution convolution -> Optional.empty();
        };
    }

    /** The groups of one layer alone. */
    private List<KvGroup> kvGroups(AttentionSpec attention) {
        return switch (attention) {
            case AttentionSpec.MultiHead heads ->
                List.of(new KvGroup(
                        heads.window() == 0 ? "full" : "window",
                        1,
                        heads.heads().keyHeads(),
                        heads.heads().keySize(),
                        heads.heads().valueSize(),
                        heads.window()));
            case AttentionSpec.Latent latent -> List.of(new KvGroup("latent", 1, 1, latent.cachedSize(), 0, 0));
            case AttentionSpec.DeltaNet delta ->
                List.of(convolution(delta.heads().channels()), delta.heads().group(1));
            case AttentionSpec.ShortConvolution convolution -> List.of(convolution(width));
        };
    }

    private static KvGroup convolution(int channels) {
        return KvGroup.ofState("convolution", 1, channels, 0);
    }
}
