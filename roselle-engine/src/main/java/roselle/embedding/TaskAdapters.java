package roselle.embedding;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.api.CheckpointException;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.backend.Device;
import roselle.backend.memory.Adapter;
import roselle.backend.memory.LowRank;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.model.Decoder;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.TaskSpec;
import roselle.model.weights.AdaptableWeights;
import roselle.model.weights.UnusedTensors;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * What an encoder's tasks add to its weights, stored within its checkpoint by modules, all tasks of a module in one tensor: {@code lora_A}
 * {@code [tasks, rank, inputs]}, {@code lora_B} {@code [tasks, outputs, rank]}, and of embeddings {@code [tasks, rows, rank]} and {@code
 * [tasks, rank, width]} (Sturua et al., 2024).
 */
final class TaskAdapters {
    private static final String SHRINK = ".parametrizations.weight.0.lora_A";
    private static final String EXPAND = ".parametrizations.weight.0.lora_B";
    private static final String WORDS = "embeddings.word_embeddings";
    private static final String TYPES = "embeddings.token_type_embeddings";

    private final Checkpoint checkpoint;
    private final TaskSpec tasks;

    private TaskAdapters(Checkpoint checkpoint, TaskSpec tasks) {
        this.checkpoint = checkpoint;
        this.tasks = tasks;
    }

    /** The adapters of an encoder on a device, in the order of its tasks; none where it has no tasks. */
    static List<Adapter> load(Checkpoint checkpoint, Decoder decoder, Device device) {
        DecoderSpec spec = decoder.spec();
        TaskSpec tasks = spec.input().tasks();
        if (tasks == null) {
            return List.of();
        }
        var reader = new TaskAdapters(checkpoint, tasks);
        var adapters = new ArrayList<Adapter>();
        for (int task = 0; task < tasks.names().size(); task++) {
            adapters.add(device.allocateAdapter(reader.matrices(task, spec, decoder.adaptable())));
        }
        return adapters;
    }

    /** Bytes of memory that adapters take at most. */
    static long bytes(Checkpoint checkpoint, DecoderSpec spec) {
        return spec.input().tasks() == null
                ? 0
                : checkpoint.tensors().values().stream()
                        .filter(tensor ->
                                tensor.name().endsWith(SHRINK) || tensor.name().endsWith(EXPAND))
                        .mapToLong(tensor -> tensor.shape().elements() * Float.BYTES)
                        .sum();
    }

    /** The number of a task; {@link EncoderInput#NO_TASK} for null. */
    static int number(@Nullable String name, DecoderSpec spec) {
        if (name == null) {
            return EncoderInput.NO_TASK;
        }
        TaskSpec tasks = spec.input().tasks();
        int number = tasks == null ? -1 : tasks.names().indexOf(name);
        if (number < 0) {
            throw new InvalidRequestException(
                    Reason.UNSUPPORTED,
                    "task",
                    "the task is " + name
                            + (tasks == null
                                    ? ", but the model has no tasks: leave it out"
                                    : ": the model's are " + String.join(", ", tasks.names())));
        }
        return number;
    }

    /** What goes before each text of a task. */
    static String instruction(Checkpoint checkpoint, String task) {
        return checkpoint
                .config()
                .object("task_instructions")
                .map((Metadata all) -> all.string(task, ""))
                .orElse("");
    }

    private List<LowRank> matrices(int task, DecoderSpec spec, AdaptableWeights weights) {
        var unused = UnusedTensors.of(spec);
        var matrices = new ArrayList<LowRank>();
        String embeddings = "";
        for (Tensor shrink : checkpoint.tensors().values()) {
            if (!shrink.name().endsWith(SHRINK)) {
                continue;
            }
            String module = shrink.name().substring(0, shrink.name().length() - SHRINK.length());
            if (module.endsWith(WORDS)) {
                embeddings = module.substring(0, module.length() - WORDS.length());
            } else if (!module.endsWith(TYPES) && !unused.mayIgnore(module + ".weight")) {
                matrices.add(product(task, module, shrink, weights));
            }
        }
        matrices.add(ofTokens(task, embeddings, spec.width(), place(Decoder.TASKS, weights)));
        return matrices;
    }

    private LowRank product(int task, String module, Tensor shrink, AdaptableWeights weights) {
        AdaptableWeights.Place place = place(module, weights);
        int rank = tasks.rank();
        int inputs = Math.toIntExact(place.weight().columns());
        Tensor expand = required(checkpoint.tensor(module + EXPAND), place.outputs(), rank);
        return new LowRank(
                place.weight(),
                place.firstOutput(),
                required(shrink, rank, inputs).rows((long) task * rank, rank),
                expand.rows((long) task * place.outputs(), place.outputs()),
                place.order(),
                tasks.scale());
    }

    private AdaptableWeights.Place place(String module, AdaptableWeights weights) {
        return weights.place(module)
                .orElseThrow(() -> new CheckpointException(
                        checkpoint.source() + ": tasks add to " + module + ", which adapters cannot"));
    }

    /** What a task adds to embeddings: of the numbers that a token has for all tasks its own are chosen, and expanded. */
    private LowRank ofTokens(int task, String prefix, int width, AdaptableWeights.Place place) {
        int rank = tasks.rank();
        int half = tasks.names().size() * rank;
        int columns = tasks.numbers();
        var choice = new float[2 * rank * columns];
        var expanded = new float[width * 2 * rank];
        for (int part = 0; part < 2; part++) {
            float[] stored = Dequantizer.all(
                    required(checkpoint.tensor(prefix + (part == 0 ? WORDS : TYPES) + EXPAND), rank, width)
                            .rows((long) task * rank, rank));
            for (int r = 0; r < rank; r++) {
                choice[(part * rank + r) * columns + part * half + task * rank + r] = 1;
                for (int output = 0; output < width; output++) {
                    expanded[output * 2 * rank + part * rank + r] = stored[r * width + output];
                }
            }
        }
        return new LowRank(
                place.weight(),
                place.firstOutput(),
                matrix("choice of a task", 2 * rank, columns, choice),
                matrix("what a task adds to tokens", width, 2 * rank, expanded),
                place.order(),
                tasks.scale());
    }

    private static Tensor matrix(String name, int rows, int columns, float[] numbers) {
        return new Tensor(name, DataType.F32, Shape.of(rows, columns), MemorySegment.ofArray(numbers));
    }

    private Tensor required(Tensor tensor, long rows, long columns) {
        Shape expected = Shape.of(tasks.names().size(), rows, columns);
        if (!tensor.shape().equals(expected) || !tensor.type().isFloating()) {
            throw new CheckpointException(checkpoint.source() + ": tensor " + tensor.name() + " is "
                    + tensor.type().label() + " of shape " + tensor.shape() + ", expected floats of shape " + expected);
        }
        return tensor;
    }
}
