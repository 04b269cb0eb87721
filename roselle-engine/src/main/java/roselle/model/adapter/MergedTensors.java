package roselle.model.adapter;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * A model's tensors with what an adapter changes of them: products (Hu et al., 2021), magnitudes of rows (DoRA, Liu et al., 2024),
 * biases, embeddings, single tokens, and whole tensors. All of it is computed in float32, as PEFT merges.
 */
final class MergedTensors {
    private static final String SHRINK = ".lora_A.weight";
    private static final String EXPAND = ".lora_B.weight";
    private static final String EXPAND_BIAS = ".lora_B.bias";
    private static final String MAGNITUDE = ".lora_magnitude_vector";
    private static final String TABLE_SHRINK = ".lora_embedding_A";
    private static final String TABLE_EXPAND = ".lora_embedding_B";
    static final String OUTPUT = "lm_head.weight";
    private static final String TOKENS = ".trainable_tokens_delta";

    private final Checkpoint model;
    private final Checkpoint adapter;
    private final PeftFiles peft;
    private final SequencedMap<String, Change> changes = new LinkedHashMap<>(); // by the model's tensors

    /** What becomes of one tensor: first it is another's, then something is added, then its rows are scaled, then some are others. */
    private static final class Change {
        private @Nullable Tensor whole;
        private @Nullable Consumer<float[]> added;
        private @Nullable Tensor magnitude;
        private @Nullable Consumer<float[]> replaced;
    }

    MergedTensors(Checkpoint model, Checkpoint adapter) {
        this.model = model;
        this.adapter = adapter;
        peft = new PeftFiles(adapter);
        peft.requireMergeable();
        for (Tensor tensor : adapter.tensors().values()) {
            if (!tensor.name().startsWith(PeftFiles.PREFIX) || !tensor.type().isFloating()) {
                throw new CheckpointException(adapter.source() + ": tensor " + tensor.name() + " is none of PEFT's");
            }
            read(tensor, tensor.name().substring(PeftFiles.PREFIX.length()));
        }
        if (changes.isEmpty()) {
            throw new CheckpointException(adapter.source() + " has no tensor: it is no adapter");
        }
    }

    private void read(Tensor tensor, String name) {
        if (name.endsWith(SHRINK)) {
            readPair(tensor, module(name, SHRINK));
        } else if (name.endsWith(EXPAND)) {
            other(name, EXPAND, SHRINK);
        } else if (name.endsWith(EXPAND_BIAS)) {
            readBias(tensor, module(name, EXPAND_BIAS));
        } else if (name.endsWith(MAGNITUDE) || name.endsWith(MAGNITUDE + ".weight")) {
            String module = name.substring(0, name.indexOf(MAGNITUDE));
            change(module + ".weight").magnitude = tensor;
        } else if (name.endsWith(TABLE_SHRINK)) {
            readTablePair(tensor, module(name, TABLE_SHRINK));
        } else if (name.endsWith(TABLE_EXPAND)) {
            other(name, TABLE_EXPAND, TABLE_SHRINK);
        } else if (name.endsWith(TOKENS)) {
            readTokens(tensor, module(name, TOKENS).replaceFirst("\\.token_adapter$", ""));
        } else if (name.contains(".lora_")) {
            throw new CheckpointException(adapter.source() + ": tensor " + tensor.name() + " is not known here");
        } else if (!name.contains(".original_module.")) { // what a saved module stood for
            change(name.replace(".base_layer.", ".").replace(".modules_to_save.", ".")).whole = tensor;
        }
    }

    private static String module(String name, String ending) {
        return name.substring(0, name.length() - ending.length());
    }

    private Tensor other(String name, String ending, String otherEnding) {
        return adapter.tensor(PeftFiles.PREFIX + module(name, ending) + otherEnding);
    }

    /** What becomes of a tensor, by the model's name of it: PEFT knows some behind a part that checkpoints leave out. */
    private Change change(String name) {
        String own = name;
        if (!model.tensors().containsKey(own) && model.tensors().containsKey(own.substring(own.indexOf('.') + 1))) {
            own = own.substring(own.indexOf('.') + 1);
        }
        return changes.computeIfAbsent(own, _ -> new Change());
    }

    private void readPair(Tensor shrink, String module) {
        Tensor expand = other(module + SHRINK, SHRINK, EXPAND);
        int rank = rank(module, shrink, expand, 0, 1);
        float scale = peft.scale(module, rank);
        boolean isTransposed = adapter.config().flag("fan_in_fan_out", false);
        if (isTransposed && adapter.config().flag("use_dora", false)) {
            throw new CheckpointException(
                    adapter.source() + " has magnitudes (DoRA) of transposed matrices, which is not supported");
        }
        // rows and columns of what is added, as the model stores it
        change(module + ".weight").added = isTransposed
                ? numbers -> addProduct(numbers, transposed(shrink), transposed(expand), scale, module)
                : numbers -> addProduct(numbers, matrix(expand), matrix(shrink), scale, module);
    }

    private void readTablePair(Tensor shrink, String module) {
        Tensor expand = other(module + TABLE_SHRINK, TABLE_SHRINK, TABLE_EXPAND);
        int rank = rank(module, shrink, expand, 0, 1);
        if (adapter.config().flag("use_dora", false)) {
            throw new CheckpointException(
                    adapter.source() + " has magnitudes (DoRA) of embeddings, which is not supported");
        }
        float scale = peft.scale(module, rank);
        change(module + ".weight").added =
                numbers -> addProduct(numbers, transposed(shrink), transposed(expand), scale, module);
    }

    private void readBias(Tensor bias, String module) {
        Tensor shrink = other(module + EXPAND_BIAS, EXPAND_BIAS, SHRINK);
        float scale = peft.scale(module, Math.toIntExact(shrink.shape().rows()));
        float[] values = Dequantizer.all(bias);
        change(module + ".bias").added = numbers -> {
            requireAsMany(numbers, values.length, module + ".bias");
            for (int i = 0; i < values.length; i++) {
                numbers[i] += scale * values[i];
            }
        };
    }

    private void readTokens(Tensor rows, String module) {
        int[] tokens = tokens(module);
        float[] values = Dequantizer.all(rows);
        if (rows.shape().rank() != 2 || rows.shape().rows() != tokens.length) {
            throw new CheckpointException(adapter.source() + ": tensor " + rows.name() + " has shape " + rows.shape()
                    + ", but trainable_token_indices names " + tokens.length + " tokens");
        }
        int width = (int) rows.shape().columns();
        change(module + ".weight").replaced = numbers -> {
            for (int row = 0; row < tokens.length; row++) {
                if (tokens[row] < 0 || (long) (tokens[row] + 1) * width > numbers.length) {
                    throw new CheckpointException(
                            adapter.source() + " changes token " + tokens[row] + ", which the model does not have");
                }
                System.arraycopy(values, row * width, numbers, tokens[row] * width, width);
            }
        };
    }

    /** The tokens that have rows: of the embedding, or of modules by the ends of their names. */
    private int[] tokens(String module) {
        var named = adapter.config().object("trainable_token_indices");
        if (named.isEmpty()) {
            return adapter.config().integers("trainable_token_indices");
        }
        return named.get().keys().stream()
                .filter(name -> module.equals(name) || module.endsWith("." + name))
                .findFirst()
                .map(name -> named.get().integers(name))
                .orElseThrow(() -> new CheckpointException(
                        adapter.source() + ": trainable_token_indices names no tokens of " + module));
    }

    private int rank(String module, Tensor shrink, Tensor expand, int ofShrink, int ofExpand) {
        boolean isPair = shrink.shape().rank() == 2
                && expand.shape().rank() == 2
                && shrink.shape().extent(ofShrink) == expand.shape().extent(ofExpand);
        if (!isPair) {
            throw new CheckpointException(adapter.source() + ": the matrices of " + module + " are " + expand.shape()
                    + " and " + shrink.shape() + ", expected one rank for both");
        }
        int rank = Math.toIntExact(shrink.shape().extent(ofShrink));
        peft.requireRank(module, rank);
        return rank;
    }

    /** A matrix by rows. */
    private static float[][] matrix(Tensor tensor) {
        var rows = new float[Math.toIntExact(tensor.shape().rows())]
                [Math.toIntExact(tensor.shape().columns())];
        for (int row = 0; row < rows.length; row++) {
            Dequantizer.row(tensor, row, rows[row], 0);
        }
        return rows;
    }

    private static float[][] transposed(Tensor tensor) {
        float[][] rows = matrix(tensor);
        var columns = new float[rows[0].length][rows.length];
        for (int row = 0; row < rows.length; row++) {
            for (int column = 0; column < columns.length; column++) {
                columns[column][row] = rows[row][column];
            }
        }
        return columns;
    }

    /** Adds {@code scale * left [rows, rank] * right [rank, columns]}. */
    private void addProduct(float[] numbers, float[][] left, float[][] right, float scale, String module) {
        int columns = right[0].length;
        requireAsMany(numbers, (long) left.length * columns, module + ".weight");
        var sum = new float[columns];
        for (int row = 0; row < left.length; row++) {
            Arrays.fill(sum, 0);
            for (int rank = 0; rank < right.length; rank++) {
                float factor = left[row][rank];
                for (int column = 0; column < columns; column++) {
                    sum[column] += factor * right[rank][column];
                }
            }
            for (int column = 0; column < columns; column++) {
                numbers[row * columns + column] += scale * sum[column];
            }
        }
    }

    private void requireAsMany(float[] numbers, long count, String name) {
        if (numbers.length != count) {
            throw new CheckpointException(adapter.source() + " adds " + count + " numbers to " + name + ", which has "
                    + numbers.length + "; the adapter is for another model");
        }
    }

    // ---- what comes of it ----

    /** The tensors that are changed, or are new. */
    Iterable<String> changed() {
        return changes.keySet();
    }

    boolean isChanged(String name) {
        return changes.containsKey(name);
    }

    /** The shape of a changed tensor. */
    Shape shape(String name) {
        Tensor own = model.tensors().get(name);
        Tensor whole = changed(name).whole;
        if (own == null) {
            if (whole != null && name.equals(OUTPUT)) { // which a tied model has not
                return whole.shape();
            }
            throw new CheckpointException(adapter.source() + " changes " + name
                    + ", which the model does not have; the adapter is for another model");
        }
        if (whole != null && !own.shape().equals(whole.shape())) {
            throw new CheckpointException(adapter.source() + ": tensor " + whole.name() + " has shape " + whole.shape()
                    + ", the model's " + own.shape() + "; the adapter is for another model");
        }
        if (!own.type().isFloating()) {
            throw new CheckpointException(model.source() + ": tensor " + name + " is "
                    + own.type().label()
                    + ", and an adapter is merged with floats alone: take the model before it was quantized");
        }
        return own.shape();
    }

    private Change changed(String name) {
        return Objects.requireNonNull(changes.get(name));
    }

    /** The numbers of a changed tensor. */
    float[] numbers(String name) {
        Shape shape = shape(name);
        Change change = changed(name);
        float[] numbers = Dequantizer.all(change.whole != null ? change.whole : model.tensor(name));
        if (change.added != null) {
            change.added.accept(numbers);
        }
        if (change.magnitude != null) {
            scaleRows(numbers, shape, Dequantizer.all(change.magnitude));
        }
        if (change.replaced != null) {
            change.replaced.accept(numbers);
        }
        for (float number : numbers) {
            if (!Float.isFinite(number)) {
                throw new CheckpointException(adapter.source() + " makes a number of " + name + " " + number);
            }
        }
        return numbers;
    }

    /** Gives each row the length that its magnitude says. */
    private void scaleRows(float[] numbers, Shape shape, float[] magnitudes) {
        int columns = Math.toIntExact(shape.columns());
        requireAsMany(numbers, (long) magnitudes.length * columns, "rows with magnitudes");
        for (int row = 0; row < magnitudes.length; row++) {
            double squares = 0;
            for (int i = row * columns; i < (row + 1) * columns; i++) {
                squares += (double) numbers[i] * numbers[i];
            }
            double factor = magnitudes[row] / Math.sqrt(squares);
            for (int i = row * columns; i < (row + 1) * columns; i++) {
                numbers[i] = (float) (numbers[i] * factor);
            }
        }
    }
}
