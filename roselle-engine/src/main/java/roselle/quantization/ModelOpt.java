package roselle.quantization;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.summary.ModelSummary.TypeUse;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * {@code modelopt}, NVIDIA's: E4M3 with {@code weight_scale} for a tensor, a row, or as a power of two for each 32 of a row, and
 * NVFP4 with {@code weight_scale} for each 16 and {@code weight_scale_2} for all. Which of them a module is, its tensors say.
 * How activations, keys and values would be rounded is read over: they stay as they are.
 */
final class ModelOpt implements Quantization {
    private static final Set<String> AROUND = Set.of("quant_method", "producer", "quantization");
    private static final Set<String> FIELDS = Set.of(
            "quant_method",
            "producer",
            "quant_algo",
            "config_groups",
            "ignore",
            "exclude_modules",
            "kv_cache_scheme",
            "kv_cache_quant_algo",
            "group_size",
            "quantized_layers");
    private static final Set<String> ALGORITHMS =
            Set.of("FP8", "FP8_PER_CHANNEL_PER_TOKEN", "MXFP8", "NVFP4", "W4A16_NVFP4");
    private static final String MIXED = "MIXED_PRECISION";
    private static final String LAYERS = "quantized_layers";
    private static final String WEIGHT = ".weight";
    private static final String SCALES = ".weight_scale";
    private static final String OVERALL = ".weight_scale_2";
    private static final Set<String> BESIDE = Set.of("weight_scale", "weight_scale_2", "input_scale");
    private static final int NVFP4_GROUP = 16;
    private static final int MX_GROUP = 32;

    private final String algorithm;

    /**
     * Reads the fields, whether they are those of config.json or of hf_quant_config.json, which has them within another.
     *
     * @throws CheckpointException for what is not known
     */
    ModelOpt(MethodFields all) {
        Optional<Metadata> within = all.config().object("quantization");
        within.ifPresent(_ -> all.requireOnly(AROUND));
        MethodFields fields = within.map(all::within).orElse(all);
        fields.requireOnly(FIELDS);
        fields.modules("ignore", "exclude_modules"); // what is converted is told by its tensors
        algorithm = algorithm(fields);
        fields.config().object(LAYERS).ifPresent(layers -> requireKnown(fields.within(layers)));
    }

    private static void requireKnown(MethodFields layers) {
        for (String layer : layers.config().keys()) {
            MethodFields one = layers.within(
                    layers.config().object(layer).orElseThrow(() -> layers.unsupported(layer, "null", "an object")));
            if (algorithm(one).equals(MIXED)) {
                throw one.unsupported("quant_algo", MIXED, "one algorithm for a layer");
            }
        }
    }

    private static String algorithm(MethodFields fields) {
        String given = fields.config().string("quant_algo");
        String known = given.toUpperCase(Locale.ROOT);
        if (!ALGORITHMS.contains(known) && !known.equals(MIXED)) {
            throw fields.unsupported(
                    "quant_algo", given, "FP8, FP8_PER_CHANNEL_PER_TOKEN, MXFP8, NVFP4, W4A16_NVFP4 or " + MIXED);
        }
        return known;
    }

    @Override
    public Optional<String> description() {
        return Optional.of("modelopt: " + algorithm);
    }

    @Override
    public StoredMatrix matrix(Tensor codes, NamedTensors tensors) {
        return StoredMatrix.of(codes);
    }

    @Override
    public Optional<StoredMatrix> integers(String base, Shape shape, NamedTensors tensors, Copies copies) {
        Optional<Tensor> codes = tensors.find(base + WEIGHT);
        DataType type = codes.map(Tensor::type).orElse(DataType.F32);
        if (type != DataType.U8 && type != DataType.F8_E4M3) {
            return Optional.empty();
        }
        tensors.find(base + ".input_scale"); // of activations, which are not rounded
        if (type == DataType.U8) {
            var parts = new IntegerGroups(tensors, base, shape, new Group(1, NVFP4_GROUP));
            float overall = SmallFloats.one(parts, OVERALL);
            return Optional.of(SmallFloats.nvfp4(parts, WEIGHT, scale -> scale * overall, copies));
        }
        boolean hasExponents = tensors.find(base + SCALES)
                .filter(scales -> scales.type() == DataType.U8)
                .isPresent();
        return Optional.of(
                hasExponents
                        ? SmallFloats.mxfp8(new IntegerGroups(tensors, base, shape, new Group(1, MX_GROUP)), copies)
                        : OwnScales.bind(tensors, codes.orElseThrow(), List.of(base + SCALES)));
    }

    @Override
    public boolean saysNothing(Tensor tensor) {
        return OwnScales.areOfCache(tensor.name());
    }

    @Override
    public TypeUse use(Tensor tensor) {
        long bytes = tensor.data().byteSize();
        if (tensor.type() == DataType.U8 && tensor.name().endsWith(WEIGHT)) {
            return new TypeUse(DataType.U8, 1, 2 * bytes, bytes);
        }
        return isScales(tensor.name()) ? new TypeUse(tensor.type(), 0, 0, bytes) : TypeUse.of(tensor);
    }

    @Override
    public boolean isScales(String name) {
        return BESIDE.contains(name.substring(name.lastIndexOf('.') + 1)) || OwnScales.areOfCache(name);
    }
}
