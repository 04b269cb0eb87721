package roselle.model;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import roselle.backend.KvGroup;

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
