package roselle.model.weights;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.quantization.Copies;
import roselle.quantization.NamedTensors;
import roselle.quantization.Quantization;
import roselle.quantization.SplitBlocks;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** A checkpoint's tensors by what they are for, each checked for its shape, and none forgotten. */
public final class TensorSource {
    private final Checkpoint checkpoint;
    private final WeightNames names;
    private final Set<String> used = new HashSet<>();
    private final Quantization quantization;
    private final NamedTensors beside = new Beside();

    private final Copies copies;
    private final Map<String, StoredMatrix> copied = new HashMap<>();

    /** Tensors by a family's names; what is packed is copied. */
    public TensorSource(Checkpoint checkpoint, WeightNames names, Copies copies) {
        this.checkpoint = checkpoint;
        this.names = names;
        this.copies = copies;
        quantization = Quantization.of(checkpoint);
    }

    public WeightNames.Layout layout() {
        return names.layout();
    }

    /** Whether the checkpoint has a tensor for a part. */
    public boolean has(Part part, int layer) {
        return names.name(part, layer)
                .map(base -> base.replace("{expert}", "0"))
                .filter(base -> find(base).isPresent() || isPacked(base))
                .isPresent();
    }

    /** Whether the family's files have a name for a part, be the tensor there or not. */
    public boolean isNamed(Part part, int layer) {
        return names.name(part, layer).isPresent();
    }

    /** A tensor with that many rows of so many columns. */
    public StoredMatrix matrix(Part part, int layer, long rows, long columns) {
        return shaped(base(part, layer), Shape.of(rows, columns));
    }

    /** A matrix that a product multiplies with, {@code [rows, columns]}, whichever way round it is stored. */
    public StoredMatrix product(Part part, int layer, long rows, long columns, Rearrangement rearrangement) {
        return layout() == WeightNames.Layout.TRANSPOSED
                ? rearrangement.transpose(matrix(part, layer, /* rows= */ columns, /* columns= */ rows))
                : matrix(part, layer, rows, columns);
    }

    /** A matrix of one row, which some formats store as a vector. */
    public StoredMatrix oneRow(Part part, int layer, long columns) {
        String base = base(part, layer);
        Tensor tensor = named(base, base + ".weight");
        return stored(
                tensor.shape().rank() == 1
                        ? checked(tensor, Shape.of(columns)).rows(0, 1)
                        : checked(tensor, Shape.of(1, columns)));
    }

    /** A norm of heads: one vector for all, or one for each, also where each has a tensor of its own. */
    public float[] headVector(Part part, int layer, int heads, int size) {
        String base = base(part, layer);
        if (find(base + ".norms.0").isPresent()) {
            var all = new float[heads][];
            for (int head = 0; head < heads; head++) {
                String name = base + ".norms." + head;
                all[head] = numbers(named(name, name + ".weight"), size);
            }
            return Floats.concatenate(all);
        }
        Tensor tensor = named(base, base + ".weight");
        return numbers(tensor, tensor.shape().elements() == size ? size : (long) heads * size);
    }

    public boolean hasBias(Part part, int layer) {
        return checkpoint.tensors().containsKey(base(part, layer) + ".bias");
    }

    /** A vector's numbers. */
    public float[] vector(Part part, int layer, long length) {
        return numbers(named(base(part, layer), base(part, layer) + ".weight"), length);
    }

    /** The numbers of matrices of one size that lie in one tensor. */
    public float[] stack(Part part, int matrices, long rows, long columns) {
        String base = base(part, 0);
        return numbers(checked(named(base, base), Shape.of(matrices, rows, columns)), matrices * rows * columns);
    }

    /** Whole numbers from 0 until an end. */
    public float[] wholeNumbers(Part part, int layer, long length, int end) {
        Tensor tensor = named(base(part, layer), base(part, layer) + ".weight");
        if (tensor.shape().elements() != length) {
            throw misshaped(tensor, length + " numbers");
        }
        used.add(tensor.name());
        float[] numbers = Dequantizer.all(tensor);
        for (float number : numbers) {
            if (!(number >= 0 && number < end && number == Math.rint(number))) {
                throw new CheckpointException(checkpoint.source() + ": tensor " + tensor.name() + " has a " + number
                        + ", expected whole numbers from 0 until " + end);
            }
        }
        return numbers;
    }

    /** The numbers of a part's bias. */
    public float[] bias(Part part, int layer, long length) {
        return numbers(named(base(part, layer) + "_bias", base(part, layer) + ".bias"), length);
    }

    /** A matrix per expert, whether they are stored one by one or stacked, also with the rows of all behind each other. */
    public List<StoredMatrix> experts(Part part, int layer, int experts, long rows, long columns) {
        String base = base(part, layer);
        var matrices = new ArrayList<StoredMatrix>();
        if (!base.contains("{expert}")) {
            boolean isFlat =
                    find(base).filter(tensor -> tensor.shape().rank() == 2).isPresent();
            StoredMatrix stack =
                    shaped(base, isFlat ? Shape.of(experts * rows, columns) : Shape.of(experts, rows, columns));
            for (int expert = 0; expert < experts; expert++) {
                matrices.add(stack.rows(expert * rows, rows));
            }
            return matrices;
        }
        for (int expert = 0; expert < experts; expert++) {
            matrices.add(shaped(base.replace("{expert}", Integer.toString(expert)), Shape.of(rows, columns)));
        }
        return matrices;
    }

    /** A matrix per expert whose codes and scales lie apart; empty where they are not stored so. */
    public List<SplitBlocks> split(Part part, int layer, int experts, long rows, long columns) {
        return quantization.split(base(part, layer), experts, Shape.of(rows, columns), beside);
    }

    /** What the checkpoint calls a part. */
    String base(Part part, int layer) {
        return names.name(part, layer)
                .orElseThrow(() -> new IllegalStateException("a family's file does not name " + part));
    }

    /** Fails where the checkpoint has a tensor that nothing asked for: ignoring it would change the computation. */
    public void requireAllUsed(UnusedTensors allowed) {
        for (String name : checkpoint.tensors().keySet()) {
            if (!used.contains(name) && !allowed.mayIgnore(name) && !saysNothing(name)) {
                throw new CheckpointException(checkpoint.source() + ": tensor " + name
                        + " is not part of this architecture as Roselle knows it; the model needs a newer version");
            }
        }
    }

    private boolean saysNothing(String name) {
        return quantization.saysNothing(checkpoint.tensor(name));
    }

    private boolean isPacked(String base) {
        return quantization
                .codesEnding()
                .filter(ending -> checkpoint.tensors().containsKey(base + ending))
                .isPresent();
    }

    private StoredMatrix shaped(String base, Shape shape) {
        StoredMatrix known = copied.get(base);
        if (known != null) {
            return known;
        }
        Optional<StoredMatrix> integers = quantization.integers(base, shape, beside, copies);
        if (integers.isPresent()) {
            copied.put(base, integers.get());
            return integers.get();
        }
        return stored(checked(named(base, base + ".weight"), shape));
    }

    private StoredMatrix stored(Tensor codes) {
        if (codes.type() == DataType.F64 || !codes.type().isFloating()) {
            throw mistyped(codes, "f32, f16, bf16, 8-bit floats and quantized blocks");
        }
        return quantization.matrix(codes, beside);
    }

    private Tensor checked(Tensor tensor, Shape shape) {
        if (!tensor.shape().equals(shape)) {
            throw misshaped(tensor, shape.toString());
        }
        used.add(tensor.name());
        return tensor;
    }

    private Tensor named(String name, String alternative) {
        return find(alternative)
                .or(() -> find(name))
                .orElseThrow(() -> new CheckpointException(
                        checkpoint.source() + ": tensor " + alternative + " is missing; the file is not complete"));
    }

    private Optional<Tensor> find(String name) {
        return Optional.ofNullable(checkpoint.tensors().get(name))
                .or(() -> Optional.ofNullable(checkpoint.tensors().get(name + ".weight")));
    }

    private float[] numbers(Tensor tensor, long length) {
        if (tensor.shape().elements() != length) {
            throw misshaped(tensor, length + " numbers");
        }
        if (!tensor.type().isFloating()) {
            throw mistyped(tensor, "floats");
        }
        used.add(tensor.name());
        return Dequantizer.all(tensor);
    }

    private CheckpointException mistyped(Tensor tensor, String supported) {
        return new CheckpointException(checkpoint.source() + ": tensor " + tensor.name() + " is of type "
                + tensor.type().label() + ", but weights are " + supported);
    }

    private CheckpointException misshaped(Tensor tensor, String expected) {
        return new CheckpointException(checkpoint.source() + ": tensor " + tensor.name() + " has shape "
                + tensor.shape() + ", expected " + expected);
    }

    /** What a matrix has beside the tensor of its codes; whoever asks for it reads it. */
    private final class Beside implements NamedTensors {
        @Override
        public String source() {
            return checkpoint.source().toString();
        }

        @Override
        public Optional<Tensor> find(String name) {
            Optional<Tensor> tensor = Optional.ofNullable(checkpoint.tensors().get(name));
            tensor.ifPresent(found -> used.add(found.name()));
            return tensor;
        }
    }
}
