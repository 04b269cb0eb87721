package roselle.quantization.recipe;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.conversion.GgufModel;
import roselle.checkpoint.conversion.SourceTensor;
import roselle.checkpoint.gguf.GgufHeaderWriter;
import roselle.quantization.StoredMatrix;
import roselle.quantization.encoding.Encoder;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** A converted model before it is written: all its tensors with their types, and its keys. */
public final class ConversionPlan {
    private static final Set<String> REPLACED = Set.of(
            "general.file_type",
            "general.quantization_version",
            "split.no",
            "split.count",
            "split.tensors.count",
            "quantize.imatrix.file",
            "quantize.imatrix.dataset",
            "quantize.imatrix.entries_count",
            "quantize.imatrix.chunks_count");
    private static final int QUANTIZATION_VERSION = 2; // of ggml

    private final GgufModel model;
    private final Recipe recipe;
    private final @Nullable ImportanceMatrix importance;
    private final List<PlannedTensor> tensors;

    private ConversionPlan(
            GgufModel model, Recipe recipe, @Nullable ImportanceMatrix importance, List<PlannedTensor> tensors) {
        this.model = model;
        this.recipe = recipe;
        this.importance = importance;
        this.tensors = List.copyOf(tensors);
    }

    /** Plans what becomes of a model's tensors. */
    public static ConversionPlan of(Checkpoint source, Recipe recipe, @Nullable ImportanceMatrix importance) {
        var model = GgufModel.of(source);
        Set<String> names =
                model.tensors().stream().map(tensor -> tensor.tensor().name()).collect(Collectors.toUnmodifiableSet());
        var rules = new MixRules(recipe.mix(), ModelFacts.of(model.keys(), names), importance != null);
        var tensors = new ArrayList<PlannedTensor>();
        for (SourceTensor planned : model.tensors()) {
            Tensor tensor = planned.tensor();
            DataType type = type(tensor, recipe, rules);
            requireWay(source, tensor, type, recipe);
            tensors.add(
                    new PlannedTensor(tensor.name(), tensor.shape(), StoredMatrix.of(tensor), planned.order(), type));
        }
        return new ConversionPlan(model, recipe, importance, tensors);
    }

    private static DataType type(Tensor tensor, Recipe recipe, MixRules rules) {
        int rank = tensor.shape().rank();
        if (!TensorKind.isQuantized(tensor.name(), rank) || !tensor.type().isFloating()) {
            return tensor.type();
        }
        for (Recipe.Rule rule : recipe.rules()) {
            if (rule.pattern().matcher(tensor.name()).find()) {
                return MixRules.fitting(rule.type(), tensor.shape().columns());
            }
        }
        DataType own = recipe.mix().type();
        DataType wanted = recipe.isPure() || !own.isQuantized() ? own : rules.type(tensor.name(), rank);
        return MixRules.fitting(wanted, tensor.shape().columns());
    }

    private static void requireWay(Checkpoint source, Tensor tensor, DataType type, Recipe recipe) {
        if (tensor.type() == type) {
            return;
        }
        if (Encoder.of(type).isEmpty()) {
            throw new CheckpointException(source.source() + ": tensor " + tensor.name() + " cannot become "
                    + type.label() + ", which Roselle reads and does not write");
        }
        if (tensor.type().isQuantized() && !recipe.mayLoseTwice()) {
            throw new CheckpointException(source.source() + ": tensor " + tensor.name() + " is "
                    + tensor.type().label()
                    + "; what is quantized already loses more when it is quantized again: begin with a model of f32, f16"
                    + " or bf16, or allow it with --allow-requantize");
        }
    }

    /** Matrices of a stack; 1 where there is none. */
    static long matricesOf(Shape shape) {
        return shape.rank() < 3 ? 1 : shape.rows() / shape.extent(shape.rank() - 2);
    }

    /** The files that the model is read from. */
    public Checkpoint source() {
        return model.files();
    }

    /** In the order of the file. */
    public List<PlannedTensor> tensors() {
        return tensors;
    }

    /** Tensors that are quantized and of whose columns nothing is known, though of others something is. */
    public List<String> withoutImportance() {
        return importance == null
                ? List.of()
                : tensors.stream()
                        .filter(tensor -> !tensor.isCopied() && tensor.type().isQuantized())
                        .filter(tensor -> importanceOf(tensor).isEmpty())
                        .map(PlannedTensor::name)
                        .toList();
    }

    /** Bytes of all tensors. */
    public long bytes() {
        return tensors.stream().mapToLong(PlannedTensor::bytes).sum();
    }

    Optional<float[]> importanceOf(PlannedTensor tensor) {
        ImportanceMatrix known = importance;
        return known == null ? Optional.empty() : known.of(tensor);
    }

    /** What stands before the tensors. */
    byte[] header() {
        var header = new GgufHeaderWriter().copy(model.keys(), REPLACED);
        header.put("general.file_type", recipe.mix().fileType());
        header.put("general.quantization_version", QUANTIZATION_VERSION);
        ImportanceMatrix known = importance;
        if (known != null) {
            header.put("quantize.imatrix.file", known.origin());
            header.put("quantize.imatrix.entries_count", known.matrices());
            if (!known.datasets().isEmpty()) {
                header.put("quantize.imatrix.dataset", known.datasets().getFirst());
            }
            if (known.chunks() > 0) {
                header.put("quantize.imatrix.chunks_count", known.chunks());
            }
        }
        tensors.forEach(tensor -> header.tensor(tensor.name(), tensor.type(), tensor.shape()));
        return header.toBytes();
    }
}
