package roselle.quantization;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.checkpoint.summary.ModelSummary.TypeUse;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * {@code fp8}: numbers of E4M3 in {@code weight}, and in {@code weight_scale_inv} what each block of them is multiplied with
 * (DeepSeek-V3, section 3.3; Qwen3); without blocks one number there or in {@code weight_scale} for the tensor, or one for each
 * row. DeepSeek V4 has powers of two, for blocks or, beside numbers of E2M1, for each 32 of a row
 * ({@link PowerScales}). Activations are not rounded to 8 bits, which the configuration allows kernels to do.
 */
final class Fp8 implements Quantization {
    private static final Set<String> FIELDS = Set.of(
            "quant_method",
            "fmt",
            "activation_scheme",
            "weight_block_size",
            "scale_fmt",
            "expert_dtype",
            "modules_to_not_convert",
            "modules_to_convert",
            "ignored_layers",
            "dequantize");
    private static final DataType TYPE = DataType.F8_E4M3;
    private static final String BLOCKS = "weight_block_size";
    private static final String SCALES = "_scale_inv";
    private static final String PLAIN_SCALES = "_scale";
    private static final int MOST = 1 << 20;

    private final Optional<Scheme> blocks; // empty where there are none
    private final List<String> excluded;

    Fp8(MethodFields fields) {
        fields.requireOnly(FIELDS);
        fields.requireOneOf("fmt", List.of("e4m3"));
        fields.requireOneOf("activation_scheme", List.of("dynamic", "static"));
        fields.requireOneOf("scale_fmt", List.of("float", "ue8m0"));
        fields.requireOneOf("expert_dtype", List.of("fp8", "fp4")); // which tensors tell
        fields.modules("modules_to_convert"); // what is converted is told by its tensors
        excluded = fields.modules("modules_to_not_convert", "ignored_layers");
        blocks = fields.config().has(BLOCKS)
                ? Optional.of(Scheme.withScales(TYPE, blocks(fields), SCALES))
                : Optional.empty();
    }

    private static Group blocks(MethodFields fields) {
        int[] sizes = fields.config().integers(BLOCKS);
        if (sizes.length != 2 || Math.min(sizes[0], sizes[1]) < 1 || Math.max(sizes[0], sizes[1]) > MOST) {
            throw fields.unsupported(BLOCKS, Arrays.toString(sizes), "two sizes of a block, such as [128, 128]");
        }
        return new Group(sizes[0], sizes[1]);
    }

    @Override
    public Optional<String> description() {
        return Optional.of(blocks.map(Scheme::describe).orElse(TYPE.label() + " with a scale for each tensor or row"));
    }

    @Override
    public StoredMatrix matrix(Tensor codes, NamedTensors tensors) {
        if (codes.type() != TYPE) {
            return StoredMatrix.of(codes);
        }
        String name = codes.name();
        for (String module : excluded) {
            if (name.equals(module) || name.startsWith(module + ".")) {
                throw new CheckpointException(tensors.source() + ": tensor " + name + " is "
                        + codes.type().label() + ", but " + FIELD + " says that " + module + " is not converted");
            }
        }
        String module = name.substring(0, Math.max(0, name.lastIndexOf('.')));
        tensors.find(module + ".input_scale"); // of activations, which are not rounded
        tensors.find(module + ".activation_scale");
        if (blocks.isEmpty()) {
            return OwnScales.bind(tensors, codes, List.of(name + SCALES, name + PLAIN_SCALES));
        }
        Tensor scales = tensors.find(name + SCALES)
                .orElseThrow(() -> new CheckpointException(
                        tensors.source() + ": tensor " + name + SCALES + " is missing; the file is not complete"));
        return blocks.get().bind(tensors.source(), codes, scales);
    }

    /** Matrices with powers of two beside them. */
    @Override
    public Optional<StoredMatrix> integers(String base, Shape shape, NamedTensors tensors, Copies copies) {
        return PowerScales.find(base, shape, tensors)
                .map(found -> found.matrix(copies, blocks.map(Scheme::group).orElse(new Group(1, 1))));
    }

    @Override
    public boolean saysNothing(Tensor tensor) {
        return OwnScales.areOfCache(tensor.name());
    }

    @Override
    public TypeUse use(Tensor tensor) {
        if (PowerScales.arePairs(tensor)) {
            long bytes = tensor.data().byteSize();
            return new TypeUse(DataType.MXFP4, 1, 2 * bytes, bytes);
        }
        return isScales(tensor.name()) ? new TypeUse(TYPE, 0, 0, tensor.data().byteSize()) : TypeUse.of(tensor);
    }

    @Override
    public boolean isScales(String name) {
        return name.endsWith(SCALES) || name.endsWith(PLAIN_SCALES) || name.endsWith(PowerScales.ENDING);
    }
}
