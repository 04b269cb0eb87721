package roselle.quantization.folder;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import roselle.quantization.Group;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** What the matrices of a folder become, and how its configuration says so. */
public enum FolderType {
    /** compressed-tensors' {@code float-quantized}: E4M3 with a float32 scale for each row. */
    FP8,
    /** {@code fp8} as DeepSeek and Qwen publish it: E4M3 with a float32 scale for each 128×128. */
    FP8_BLOCK,
    /** compressed-tensors' {@code pack-quantized}: 4 bits with a bfloat16 scale for each 128 columns. */
    INT4;

    private static final int BLOCK = 128;
    private static final String WEIGHT = ".weight";

    /** The type of a name in any case. */
    public static Optional<FolderType> named(String name) {
        String upper = name.toUpperCase(Locale.ROOT);
        return Arrays.stream(values()).filter(type -> type.name().equals(upper)).findFirst();
    }

    /** All names, for messages. */
    public static String names() {
        return Arrays.stream(values()).map(FolderType::name).collect(Collectors.joining(", "));
    }

    /** Whether a matrix {@code [rows, columns]} can be of this type. */
    boolean fits(Shape matrix) {
        return this != INT4 || matrix.columns() % BLOCK == 0;
    }

    /** Neighbours that share a scale. */
    Group group(Shape matrix) {
        return switch (this) {
            case FP8 -> new Group(1, matrix.columns());
            case FP8_BLOCK -> new Group(BLOCK, BLOCK);
            case INT4 -> new Group(1, BLOCK);
        };
    }

    /** The tensors of a module's matrix: codes, scales, and for {@link #INT4} the matrix's extents. */
    List<StoredTensor> stored(String module, Shape matrix) {
        Shape grid = group(matrix).grid(matrix);
        return switch (this) {
            case FP8 ->
                List.of(
                        new StoredTensor(module + WEIGHT, DataType.F8_E4M3, matrix),
                        new StoredTensor(module + ".weight_scale", DataType.F32, grid));
            case FP8_BLOCK ->
                List.of(
                        new StoredTensor(module + WEIGHT, DataType.F8_E4M3, matrix),
                        new StoredTensor(module + ".weight_scale_inv", DataType.F32, grid));
            case INT4 ->
                List.of(
                        new StoredTensor(
                                module + ".weight_packed", DataType.I32, Shape.of(matrix.rows(), matrix.columns() / 8)),
                        new StoredTensor(module + ".weight_scale", DataType.BF16, grid),
                        new StoredTensor(module + ".weight_shape", DataType.I64, Shape.of(2)));
        };
    }

    /** The {@code quantization_config} of a model of which some modules stay as they are. */
    String configuration(List<String> ignored) {
        ObjectNode fields = JsonMapper.shared().createObjectNode();
        if (this == FP8_BLOCK) {
            fields.put("quant_method", "fp8")
                    .put("activation_scheme", "dynamic")
                    .put("fmt", "e4m3");
            fields.putArray("weight_block_size").add(BLOCK).add(BLOCK);
            ignored.forEach(fields.putArray("modules_to_not_convert")::add);
            return fields.toString();
        }
        fields.put("quant_method", "compressed-tensors");
        fields.put("format", this == FP8 ? "float-quantized" : "pack-quantized");
        fields.put("quantization_status", "compressed");
        ObjectNode group = fields.putObject("config_groups").putObject("group_0");
        group.putArray("targets").add("Linear");
        if (this == FP8) {
            arguments(group.putObject("weights"), 8, "float", "channel", false);
            arguments(group.putObject("input_activations"), 8, "float", "token", true);
        } else {
            arguments(group.putObject("weights"), 4, "int", "group", false).put("group_size", BLOCK);
            group.putNull("input_activations");
        }
        ignored.forEach(fields.putArray("ignore")::add);
        return fields.toString();
    }

    private static ObjectNode arguments(ObjectNode fields, int bits, String type, String strategy, boolean isDynamic) {
        return fields.put("num_bits", bits)
                .put("type", type)
                .put("strategy", strategy)
                .put("symmetric", true)
                .put("dynamic", isDynamic);
    }
}
