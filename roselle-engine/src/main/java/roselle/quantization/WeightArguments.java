package roselle.quantization;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import roselle.checkpoint.Metadata;
import roselle.tensor.Shape;

/**
 * How the weights of a group of compressed-tensors' configuration are stored.
 *
 * @param size columns of a group, or rows and columns of a block; nothing where a strategy has none
 */
record WeightArguments(int bits, boolean isFloat, boolean isSymmetric, String strategy, List<Integer> size) {
    private static final Set<String> GROUP_FIELDS =
            Set.of("targets", "weights", "input_activations", "output_activations", "format");
    private static final Set<String> FIELDS = Set.of(
            "num_bits",
            "type",
            "symmetric",
            "strategy",
            "group_size",
            "block_structure",
            "dynamic",
            "actorder",
            "observer",
            "observer_kwargs",
            "scale_dtype",
            "zp_dtype");
    private static final String NVFP4 = "tensor_group"; // the strategy that nothing else has
    private static final int MOST = 1 << 20;

    static WeightArguments of(MethodFields group) {
        group.requireOnly(GROUP_FIELDS);
        Metadata weights = group.config()
                .object("weights")
                .orElseThrow(
                        () -> group.unsupported("weights", "not there", "an object that says how they are stored"));
        MethodFields fields = group.within(weights);
        fields.requireOnly(FIELDS);
        fields.requireOneOf("type", List.of("int", "float"));
        group.requireOneOf("format", CompressedTensors.FORMATS);
        fields.requireOneOf("strategy", List.of("tensor", "channel", "group", "block", NVFP4));
        boolean isFloat = weights.string("type", "int").equals("float");
        int bits = weights.integer("num_bits", 8);
        boolean isSymmetric = weights.flag("symmetric", true);
        if (weights.flag("dynamic", false)) {
            throw fields.unsupported("dynamic", "true", "false");
        }
        String strategy = weights.string("strategy", "tensor");
        var arguments = new WeightArguments(bits, isFloat, isSymmetric, strategy, size(fields, strategy));
        boolean isSmall = arguments.isNvfp4() || arguments.isMxfp4();
        if (isFloat ? bits != 8 && !isSmall : bits < 2 || bits > 8) {
            throw fields.unsupported(
                    "num_bits",
                    Integer.toString(bits),
                    isFloat ? "8, or 4 with 16 columns of a " + NVFP4 + " or 32 of a group" : "2 to 8");
        }
        if (strategy.equals(NVFP4) && !isSmall) {
            throw fields.unsupported("strategy", strategy, "tensor, channel, group or block");
        }
        if (isFloat && !isSymmetric) {
            throw fields.unsupported("symmetric", "false", "true for floats");
        }
        return arguments;
    }

    /** E2M1 with a scale of E4M3 for each 16, and one for all. */
    boolean isNvfp4() {
        return isFloat && bits == 4 && strategy.equals(NVFP4) && size.equals(List.of(16));
    }

    /** E2M1 with a power of two for each 32. */
    boolean isMxfp4() {
        return isFloat && bits == 4 && strategy.equals("group") && size.equals(List.of(32));
    }

    private static List<Integer> size(MethodFields fields, String strategy) {
        boolean isBlock = strategy.equals("block");
        if (!isBlock && !strategy.equals("group") && !strategy.equals(NVFP4)) {
            return List.of();
        }
        String key = isBlock ? "block_structure" : "group_size";
        int[] sizes = fields.config().has(key) ? fields.config().integers(key) : new int[0];
        for (int size : sizes) {
            if (size < 1 || size > MOST) {
                throw fields.unsupported(key, Integer.toString(size), "numbers from 1 to " + MOST);
            }
        }
        if (sizes.length != (isBlock ? 2 : 1)) {
            throw fields.unsupported(
                    key, sizes.length + " numbers", isBlock ? "rows and columns" : "a number of columns");
        }
        return Arrays.stream(sizes).boxed().toList();
    }

    Group group(Shape shape) {
        return switch (strategy) {
            case "tensor" -> new Group(shape.rows(), shape.columns());
            case "channel" -> new Group(1, shape.columns());
            case "group", NVFP4 -> new Group(1, size.getFirst());
            default -> new Group(size.getFirst(), size.getLast());
        };
    }

    boolean hasOneScaleForEachRow() {
        return strategy.equals("tensor") || strategy.equals("channel");
    }

    String describe() {
        String each = switch (strategy) {
            case "group", NVFP4 -> "1×" + size.getFirst();
            case "block" -> size.getFirst() + "×" + size.getLast();
            case "channel" -> "row";
            default -> "tensor";
        };
        String numbers = isNvfp4() ? "nvfp4" : isMxfp4() ? "mxfp4" : isFloat ? "f8_e4m3" : bits + " bits";
        return numbers + " with a scale for each " + each;
    }
}
