package roselle.model;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.weights.Part;
import roselle.model.weights.Rearrangement;
import roselle.model.weights.TensorSource;
import roselle.model.weights.WeightNames;
import roselle.quantization.SplitBlocks;
import roselle.quantization.StoredMatrix;

/** The experts of a layer as stacks of matrices: gates before ups, whatever the checkpoint's order. */
final class ExpertTensors {
    private final TensorSource tensors;
    private final Rearrangement rearrangement;
    private final FeedForwardSpec.Experts spec;
    private final int width;

    ExpertTensors(TensorSource tensors, Rearrangement rearrangement, FeedForwardSpec.Experts spec, int width) {
        this.tensors = tensors;
        this.rearrangement = rearrangement;
        this.spec = spec;
        this.width = spec.width(width);
    }

    /** Per expert the rows of its gate, then those of its up; of experts without gates the latter alone. */
    List<StoredMatrix> gateAndUp(int layer) {
        if (!spec.traits().gated()) {
            return tensors.experts(Part.EXPERT_UP, layer, spec.experts(), spec.size(), width);
        }
        if (isTransposed()) {
            return transposed(Part.EXPERT_GATE_UP, layer, 2 * spec.size(), width, isAlternating());
        }
        if (tensors.has(Part.EXPERT_GATE_UP, layer)) {
            return tensors.experts(Part.EXPERT_GATE_UP, layer, spec.experts(), 2L * spec.size(), width);
        }
        List<StoredMatrix> gates = tensors.experts(Part.EXPERT_GATE, layer, spec.experts(), spec.size(), width);
        List<StoredMatrix> ups = tensors.experts(Part.EXPERT_UP, layer, spec.experts(), spec.size(), width);
        var both = new ArrayList<StoredMatrix>();
        for (int expert = 0; expert < spec.experts(); expert++) {
            both.add(gates.get(expert));
            both.add(ups.get(expert));
        }
        return both;
    }

    List<StoredMatrix> down(int layer) {
        return isTransposed()
                ? transposed(Part.EXPERT_DOWN, layer, width, spec.size(), false)
                : tensors.experts(Part.EXPERT_DOWN, layer, spec.experts(), width, spec.size());
    }

    /** {@code [experts, 2 * size]} in the order of {@link #gateAndUp}; empty without biases. */
    float[] gateAndUpBias(int layer) {
        if (!spec.bias()) {
            return new float[0];
        }
        int size = spec.size();
        var ordered = new float[spec.experts() * 2 * size];
        if (isAlternating()) {
            float[] stored = tensors.bias(Part.EXPERT_GATE_UP, layer, ordered.length);
            for (int i = 0; i < ordered.length; i++) {
                int expert = i / (2 * size);
                ordered[i] = stored[expert * 2 * size + alternatingRow(i % (2 * size))];
            }
            return ordered;
        }
        float[] gates = tensors.bias(Part.EXPERT_GATE, layer, (long) spec.experts() * size);
        float[] ups = tensors.bias(Part.EXPERT_UP, layer, (long) spec.experts() * size);
        for (int expert = 0; expert < spec.experts(); expert++) {
            System.arraycopy(gates, expert * size, ordered, expert * 2 * size, size);
            System.arraycopy(ups, expert * size, ordered, expert * 2 * size + size, size);
        }
        return ordered;
    }

    /** {@code [experts, width]}; empty without biases. */
    float[] downBias(int layer) {
        return spec.bias() ? tensors.bias(Part.EXPERT_DOWN, layer, (long) spec.experts() * width) : new float[0];
    }

    private boolean isAlternating() {
        return tensors.layout() == WeightNames.Layout.ALTERNATING_EXPERTS;
    }

    private boolean isTransposed() {
        return isAlternating() || tensors.layout() == WeightNames.Layout.TRANSPOSED_EXPERTS;
    }

    /** Stacks stored as {@code [inputs, outputs]}, or as blocks whose scales lie apart; rows of gate and up may alternate. */
    private List<StoredMatrix> transposed(Part part, int layer, int rows, int columns, boolean reorders) {
        int experts = spec.experts();
        IntUnaryOperator order = reorders ? this::alternatingRow : row -> row;
        var matrices = new ArrayList<StoredMatrix>();
        for (SplitBlocks split : tensors.split(part, layer, experts, rows, columns)) {
            matrices.add(rearrangement.gather(split, order));
        }
        if (!matrices.isEmpty()) {
            return matrices;
        }
        for (StoredMatrix stored : tensors.experts(part, layer, experts, /* rows= */ columns, /* columns= */ rows)) {
            matrices.add(rearrangement.transpose(stored, order));
        }
        return matrices;
    }

    private int alternatingRow(int row) {
        return row < spec.size() ? 2 * row : 2 * (row - spec.size()) + 1;
    }
}
