package roselle.model;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.ExpertProducts;
import roselle.backend.operation.Norm;
import roselle.checkpoint.Checkpoint;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.HyperConnections;
import roselle.model.spec.LayerInputs;
import roselle.model.spec.Streams;
import roselle.model.spec.TaskSpec;
import roselle.model.weights.AdaptableWeights;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.Rearrangement;
import roselle.model.weights.Store;
import roselle.model.weights.TensorSource;
import roselle.model.weights.UnusedTensors;
import roselle.model.weights.WeightNames;
import roselle.quantization.StoredMatrix;

/**
 * All of a decoder that comes from its checkpoint.
 *
 * @param embedding {@code [vocabulary, width]}
 * @param positions {@code [context, width]}; null where positions are not learned
 * @param types {@code [types, width]}; null where tokens have none
 * @param told what makes all that the layers are told of a token; null for nothing
 * @param tasks what steps with adapters of tasks need; null for nothing
 * @param streams what there is in the place of one residual stream; null where there is one
 * @param embeddingNorm of the sum of the three; null for none
 * @param finalNorm null where each half ends in one
 * @param transform what makes of hidden numbers those that logits are made of; null for nothing
 * @param output {@code [vocabulary, width]}, the embedding itself where they are tied; null where there are no logits
 */
record DecoderWeights(
        Weight embedding,
        @Nullable Weight positions,
        @Nullable Weight types,
        @Nullable ToldInputs told,
        @Nullable TaskInputs tasks,
        @Nullable ResidualStreams streams,
        @Nullable Norm embeddingNorm,
        List<Layer> layers,
        @Nullable Norm finalNorm,
        Layer.@Nullable OutputTransform transform,
        @Nullable Weight output,
        Epilogue outputBias) {
    /** What families call the output whose checkpoints have no matrix of its own. */
    private static final String OUTPUT = "lm_head";

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
                spec.isTied() ? store.load("embedding", 1, List.of(table)) : store.loadTable("embedding", table);
        Weight positions = spec.learnedPositions() ? store.loadTable("positions", positions(tensors, spec)) : null;
        int kinds = spec.input().types();
        Weight types = kinds == 0 ? null : store.loadTable("types", tensors.matrix(Part.TYPES, 0, kinds, spec.width()));
        var loader = new LayerLoader(spec, tensors, rearrangement, store, space, contextLimit);
        List<Layer> layers = layers(spec, loader);
        LayerInputs inputs = spec.input().layers();
        ToldInputs told = inputs == null ? null : loader.toldInputs(inputs);
        TaskSpec ofTasks = spec.input().tasks();
        TaskInputs tasks =
                ofTasks == null ? null : TaskInputs.load(spec, ofTasks, tensors, rearrangement, store, space);
        ResidualStreams streams = streams(spec, loader, space);
        Norm embeddingNorm = spec.input().norms() ? loader.norm(Part.EMBEDDING_NORM, 0) : null;
        Norm finalNorm = spec.block().normsSums() ? null : loader.finalNorm();
        Weight output = spec.isTied() ? embedding : null;
        if (spec.generates() && output == null) {
            output = store.load("output", 1, List.of(tensors.matrix(Part.OUTPUT, 0, spec.vocabulary(), spec.width())));
        }
        Layer.OutputTransform transform = spec.transformsOutput() ? loader.outputTransform() : null;
        boolean hasBias = spec.output() != null && spec.output().bias();
        Epilogue outputBias =
                Epilogue.bias(hasBias ? store.constants(tensors.bias(Part.OUTPUT, 0, spec.vocabulary())) : null);
        tensors.requireAllUsed(UnusedTensors.of(spec));
        return new DecoderWeights(
                embedding,
                positions,
                types,
                told,
                tasks,
                streams,
                embeddingNorm,
                layers,
                finalNorm,
                transform,
                output,
                outputBias);
    }

    private static @Nullable ResidualStreams streams(DecoderSpec spec, LayerLoader loader, Workspace space) {
        Streams side = spec.block().streams();
        HyperConnections connections = spec.block().connections();
        if (side != null && space.streams != null) {
            return loader.sideStreams(side, space.streams);
        }
        return connections == null || space.hyper == null ? null : loader.hyperStreams(connections, space.hyper);
    }

    private static StoredMatrix positions(TensorSource tensors, DecoderSpec spec) {
        int first = spec.input().firstPosition();
        StoredMatrix all = tensors.matrix(Part.POSITIONS, 0, first + (long) spec.context(), spec.width());
        return first == 0 ? all : all.rows(first, spec.context());
    }

    /** Takes out what adapters cannot add to, and tells apart what they change in ways of their own. */
    void leaveAdaptable(AdaptableWeights adaptable, WeightNames names) {
        adaptable.remove(embedding);
        if (output != null) {
            adaptable.remove(output);
        }
        if (output != null && transform == null) {
            adaptable.addLogits(names.name(Part.OUTPUT, 0).orElse(OUTPUT), output);
        }
        if (streams == null) {
            adaptable.addTable(names.name(Part.EMBEDDING, 0).orElseThrow(), embedding);
        }
        if (streams != null) {
            streams.leaveAdaptable(adaptable, layers);
        }
        for (Layer layer : layers) {
            if (layer.attention() instanceof CompressedAttention compressed) {
                compressed.leaveAdaptable(adaptable);
            }
            if (layer.attention() instanceof Layer.Lightning lightning) {
                adaptable.remove(lightning.projections());
            }
            if (layer.feedForward() instanceof Layer.Plain plain) {
                adaptable.activate(plain.up());
            }
        }
        for (int i = 0; i < layers.size(); i++) {
            if (layers.get(i).feedForward() instanceof Layer.Experts experts && experts.areAdaptable()) {
                ExpertProducts products = experts.products();
                adaptable.addExperts(
                        i,
                        products.gateAndUp().experts(),
                        products.down().experts(),
                        experts.router().experts());
            }
        }
    }

    private static List<Layer> layers(DecoderSpec spec, LayerLoader loader) {
        int[][] groups = spec.groupsOfLayers();
        var used = new int[spec.kvGroups().size()];
        var loaded = new ArrayList<Layer>();
        var allPlaces = new ArrayList<List<LayerPlace>>();
        for (int i = 0; i < groups.length; i++) {
            int source = spec.sourceOfKeys(i);
            List<LayerPlace> places = source == i ? new ArrayList<>() : allPlaces.get(source);
            for (int group : source == i ? groups[i] : new int[0]) {
                places.add(new LayerPlace(group, spec.keepsKeys(i) ? used[group]++ : 0));
            }
            allPlaces.add(places);
            loaded.add(loader.load(i, places));
        }
        return loaded;
    }
}
