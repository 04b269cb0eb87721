package roselle.quantization;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.checkpoint.summary.ModelSummary.TypeUse;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** {@code mxfp4}: stacks of experts as tensors {@code _blocks} and {@code _scales} (gpt-oss); all else is plain. */
final class Mxfp4 implements Quantization {
    private static final Set<String> FIELDS = Set.of("quant_method", "modules_to_not_convert");
    private static final String BLOCKS = "_blocks";
    private static final String SCALES = "_scales";
    private static final Scheme SCHEME =
            Scheme.withScales(DataType.MXFP4, Scheme.of(DataType.MXFP4).group(), SCALES);

    Mxfp4(MethodFields fields) {
        fields.requireOnly(FIELDS);
        fields.modules("modules_to_not_convert"); // what is packed is told by its tensors
    }

    @Override
    public Optional<String> description() {
        return Optional.of(SCHEME.describe());
    }

    @Override
    public StoredMatrix matrix(Tensor codes, NamedTensors tensors) {
        return StoredMatrix.of(codes);
    }

    @Override
    public List<SplitBlocks> split(String name, int matrices, Shape one, NamedTensors tensors) {
        Optional<Tensor> blocks = tensors.find(name + BLOCKS);
        if (blocks.isEmpty()) {
            return List.of();
        }
        Tensor scales = tensors.find(name + SCALES)
                .orElseThrow(() -> new CheckpointException(
                        tensors.source() + ": tensor " + name + SCALES + " is missing; the file is not complete"));
        Shape grid = SCHEME.group().grid(one);
        int bytes = DataType.MXFP4.blockElements() / 2;
        require(tensors, blocks.get(), Shape.of(matrices, grid.rows(), grid.columns(), bytes));
        require(tensors, scales, Shape.of(matrices, grid.rows(), grid.columns()));
        if (one.columns() % DataType.MXFP4.blockElements() != 0) {
            throw new CheckpointException(tensors.source() + ": tensor " + name + BLOCKS + " has rows of "
                    + one.columns() + " numbers, which is not a multiple of " + DataType.MXFP4.blockElements());
        }
        var all = new ArrayList<SplitBlocks>();
        for (int i = 0; i < matrices; i++) {
            all.add(new SplitBlocks(name, one, part(blocks.get(), i, matrices), part(scales, i, matrices)));
        }
        return all;
    }

    /** A byte of blocks is two numbers. */
    @Override
    public TypeUse use(Tensor tensor) {
        long bytes = tensor.data().byteSize();
        if (tensor.type() == DataType.U8 && tensor.name().endsWith(BLOCKS)) {
            return new TypeUse(SCHEME.type(), 1, 2 * bytes, bytes);
        }
        return isScales(tensor.name()) && tensor.type() == DataType.U8
                ? new TypeUse(SCHEME.type(), 0, 0, bytes)
                : TypeUse.of(tensor);
    }

    @Override
    public boolean isScales(String name) {
        return name.endsWith(SCALES);
    }

    private static void require(NamedTensors tensors, Tensor tensor, Shape shape) {
        if (!tensor.shape().equals(shape) || tensor.type() != DataType.U8) {
            throw new CheckpointException(tensors.source() + ": tensor " + tensor.name() + " has shape "
                    + tensor.shape() + " of " + tensor.type().label() + ", expected " + shape + " of u8");
        }
    }

    private static MemorySegment part(Tensor stack, int index, int parts) {
        long size = stack.data().byteSize() / parts;
        return stack.data().asSlice(index * size, size);
    }
}
