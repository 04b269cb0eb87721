package roselle.model;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Norm;
import roselle.checkpoint.Checkpoint;
import roselle.model.spec.DecoderSpec;
import roselle.model.weights.AdaptableWeights;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.Rearrangement;
import roselle.model.weights.Store;
import roselle.model.weights.TensorSource;
import roselle.model.weights.UnusedTensors;
import roselle.quantization.StoredMatrix;

/**
 * All of a decoder that comes from its checkpoint.
 *
 * @param embedding {@code [vocabulary, width]}
 * @param positions {@code [context, width]}; null where positions are not learned
 * @param output {@code [vocabulary, width]}, the embedding itself where they are tied
 */
record DecoderWeights(
        Weight embedding,
        @Nullable Weight positions,
        List<Layer> layers,
        Norm finalNorm,
        Weight output,
        Epilogue outputBias) {
    static DecoderWeights load(
            Checkpoint checkpoint,
            Blueprint blueprint,
            Store store,
            Rearrangement rearrangement,
            Workspace space,
            int contextLimit) {
        DecoderSpec spec = blueprint.spec();
        var tensors = new TensorSource(checkpoint, blueprint.names(), rearrangement);
        StoredMatrix table = tensors.matrix(Part.EMBEDDING, 0, spec.vocabulary(), spec.width());
        Weight embedding =
                spec.output().tied() ? store.load("embedding", 1, List.of(table)) : store.loadTable("embedding", table);
        Weight positions = spec.learnedPositions()
                ? store.loadTable("positions", tensors.matrix(Part.POSITIONS, 0, spec.context(), spec.width()))
                : null;
        var loader = new LayerLoader(spec, tensors, rearrangement, store, space, contextLimit);
        List<Layer> layers = layers(spec, loader);
        Norm finalNorm = loader.norm(Part.FINAL_NORM, 0);
        Weight output = spec.output().tied()
                ? embedding
                : store.load("output", 1, List.of(tensors.matrix(Part.OUTPUT, 0, spec.vocabulary(), spec.width())));
        Epilogue outputBias = Epilogue.bias(
                spec.output().bias() ? store.constants(tensors.bias(Part.OUTPUT, 0, spec.vocabulary())) : null);
        tensors.requireAllUsed(
                new UnusedTensors(spec.layers().size(), spec.output().tied()));
        return new DecoderWeights(embedding, positions, layers, finalNorm, output, outputBias);
    }

    /** Takes out what adapters cannot add to: tokens' rows and logits, and products whose activation is one with them. */
    void leaveAdaptable(AdaptableWeights adaptable) {
        adaptable.remove(embedding);
        adaptable.remove(output);
        for (Layer layer : layers) {
            if (layer.feedForward() instanceof Layer.Plain plain) {
                adaptable.remove(plain.up());
            }
        }
    }

    private static List<Layer> layers(DecoderSpec spec, LayerLoader loader) {
        int[][] groups = spec.groupsOfLayers();
        var used = new int[spec.kvGroups().size()];
        var loaded = new ArrayList<Layer>();
        for (int i = 0; i < groups.length; i++) {
            var places = new ArrayList<LayerPlace>();
            for (int group : groups[i]) {
                places.add(new LayerPlace(group, used[group]++));
            }
            loaded.add(loader.load(i, places));
        }
        return loaded;
    }
}
