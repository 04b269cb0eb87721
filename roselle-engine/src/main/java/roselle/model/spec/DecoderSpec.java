package roselle.model.spec;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import roselle.backend.memory.KvGroup;
import roselle.backend.operation.HeadShape;
import roselle.backend.step.StepDemands;
import roselle.backend.step.StepLimits;
import roselle.tensor.DataType;

/**
 * A decoder as data: what one family's configuration says, with nothing left to look up.
 *
 * @param architecture the family, as its checkpoints name it
 * @param vocabulary tokens that have an embedding and a logit
 * @param width numbers of the residual stream
 * @param context tokens of the longest sequence the model was made for
 * @param embeddingScale multiplies embeddings
 * @param learnedPositions whether each position has an embedding of its own
 */
public record DecoderSpec(
        String architecture,
        int vocabulary,
        int width,
        int context,
        float embeddingScale,
        boolean learnedPositions,
        NormSpec norm,
        BlockSpec block,
        List<LayerSpec> layers,
        OutputSpec output) {
    public DecoderSpec {
        layers = List.copyOf(layers);
    }

    /** The layers by the kind of pages they need, in the order in which the kinds first appear. */
    public List<KvGroup> kvGroups() {
        var counts = new LinkedHashMap<KvGroup, Integer>();
        for (LayerSpec layer : layers) {
            counts.merge(kvGroup(layer.attention()), 1, Integer::sum);
        }
        var groups = new ArrayList<KvGroup>();
        counts.forEach((one, layerCount) -> groups.add(
                new KvGroup(one.name(), layerCount, one.heads(), one.keySize(), one.valueSize(), one.window())));
        return List.copyOf(groups);
    }

    /** For each layer, the index of its group in {@link #kvGroups}. */
    public int[] groupOfLayer() {
        var kinds = new ArrayList<KvGroup>();
        var group = new int[layers.size()];
        for (int i = 0; i < group.length; i++) {
            KvGroup kind = kvGroup(layers.get(i).attention());
            if (!kinds.contains(kind)) {
                kinds.add(kind);
            }
            group[i] = kinds.indexOf(kind);
        }
        return group;
    }

    /** What a device must know of it to be ready for steps. */
    public StepDemands demands(StepLimits limits, DataType cacheType) {
        List<KvGroup> groups = kvGroups();
        int[] groupOf = groupOfLayer();
        var attentions = new LinkedHashSet<StepDemands.Attention>();
        for (int i = 0; i < groupOf.length; i++) {
            attentions.add(new StepDemands.Attention(heads(layers.get(i).attention()), groups.get(groupOf[i])));
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

    private static HeadShape heads(AttentionSpec attention) {
        return switch (attention) {
            case AttentionSpec.MultiHead heads -> heads.heads();
            case AttentionSpec.Latent latent -> new HeadShape(latent.heads(), 1, latent.cachedSize(), latent.rank());
        };
    }

    /** The group of one layer alone. */
    private static KvGroup kvGroup(AttentionSpec attention) {
        return switch (attention) {
            case AttentionSpec.MultiHead heads ->
                new KvGroup(
                        heads.window() == 0 ? "full" : "window",
                        1,
                        heads.heads().keyHeads(),
                        heads.heads().keySize(),
                        heads.heads().valueSize(),
                        heads.window());
            case AttentionSpec.Latent latent -> new KvGroup("latent", 1, 1, latent.cachedSize(), 0, 0);
        };
    }
}
