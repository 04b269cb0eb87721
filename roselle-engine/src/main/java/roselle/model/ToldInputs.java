package roselle.model;

import java.util.List;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Norm;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.LayerInputs;
import roselle.model.weights.Part;
import roselle.model.weights.Rearrangement;
import roselle.model.weights.Store;
import roselle.model.weights.TensorSource;

/**
 * What makes all that the layers are told of a token: a row of a table and a product of its embedding, normalised by layers, each
 * with half of the sum's variance.
 *
 * @param table {@code [vocabulary, layers * size]}
 * @param projection {@code [layers * size, width]}
 * @param projected what it leaves
 * @param projectedParts the same by layers, a row each
 * @param all {@code [rows, layers * size]}
 * @param parts the same by layers, a row each
 */
record ToldInputs(
        Weight table,
        float tableScale,
        Weight projection,
        Epilogue epilogue,
        Rows projected,
        Rows projectedParts,
        Norm norm,
        Rows all,
        Rows parts,
        int layers) {
    static final float SHARE = (float) Math.sqrt(0.5);

    static ToldInputs load(
            DecoderSpec spec,
            LayerInputs inputs,
            TensorSource tensors,
            Rearrangement rearrangement,
            Store store,
            Workspace space,
            Norm norm) {
        int size = inputs.size();
        int numbers = spec.layerInputs();
        return new ToldInputs(
                store.loadTable("layers' inputs", tensors.matrix(Part.LAYER_INPUTS, 0, inputs.tokens(), numbers)),
                (float) Math.sqrt(size) * SHARE,
                store.load(
                        "layers' inputs, projection",
                        1,
                        List.of(tensors.product(Part.LAYER_INPUT_PROJECTION, 0, numbers, spec.width(), rearrangement))),
                new Epilogue(null, Activation.NONE, (float) (1 / Math.sqrt(spec.width())), false),
                Rows.of(space.inner, numbers),
                Rows.of(space.inner, size),
                norm,
                space.layerInputs(),
                Rows.of(space.layerInputs().buffer(), size),
                spec.layers().size());
    }
}
