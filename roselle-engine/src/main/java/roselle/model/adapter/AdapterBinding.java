package roselle.model.adapter;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import roselle.api.CheckpointException;
import roselle.backend.Device;
import roselle.backend.memory.AdapterPart;
import roselle.backend.memory.LowRank;
import roselle.backend.memory.OwnMatrix;
import roselle.backend.memory.Weight;
import roselle.checkpoint.Checkpoint;
import roselle.model.weights.AdaptableWeights;
import roselle.model.weights.AdaptableWeights.Place;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Finds the weights that the parts of an adapter change, and refuses what does not fit them. */
final class AdapterBinding {
    private static final Pattern LAYER = Pattern.compile("(?:.*\\.)?(?:layers|h|blocks)\\.(\\d{1,6})\\..*");
    private static final String GATE_UP = ".gate_up_proj";
    private static final String DOWN = ".down_proj";

    /** What rounding to bfloat16 moves a number by at most, as a part of it. */
    private static final float ROUNDING = 1f / 128;

    private final Checkpoint files;
    private final Checkpoint model;
    private final AdaptableWeights weights;
    private final Device device;
    private final List<AdapterPart> bound = new ArrayList<>();

    AdapterBinding(Checkpoint files, Checkpoint model, AdaptableWeights weights, Device device) {
        this.files = files;
        this.model = model;
        this.weights = weights;
        this.device = device;
    }

    List<AdapterPart> bind(List<StoredPart> parts) {
        for (StoredPart part : parts) {
            part.tensors().forEach(this::requireFinite);
            switch (part) {
                case StoredPart.Pair pair -> bind(pair);
                case StoredPart.TablePair pair -> bind(pair);
                case StoredPart.ExpertPairs pairs -> bind(pairs);
                case StoredPart.Whole whole -> bind(whole);
                case StoredPart.Original original -> requireSame(original);
            }
        }
        requireApart();
        return bound;
    }

    /** What is found by a module's name, which checkpoints may leave the first part of out. */
    private static <T> Optional<T> find(String module, Lookup<T> lookup) {
        Optional<T> found = lookup.by(module);
        int dot = module.indexOf('.');
        return found.isPresent() || dot < 0 ? found : lookup.by(module.substring(dot + 1));
    }

    /** What there is of a name. */
    private interface Lookup<T> {
        Optional<T> by(String name);
    }

    private void bind(StoredPart.Pair pair) {
        Place place = find(pair.module(), weights::place).orElseThrow(() -> nowhere(pair.module()));
        requireUse(place.use(), pair.module());
        requireFit(
                pair.module(),
                pair.shrink(),
                pair.expand(),
                place.outputs(),
                place.weight().columns());
        add(place, pair.shrink(), pair.expand(), pair.scale());
    }

    private void add(Place place, Tensor shrink, Tensor expand, float scale) {
        bound.add(new LowRank(
                place.weight(),
                place.use(),
                place.matrix(),
                place.firstOutput(),
                shrink,
                expand,
                place.order(),
                scale));
    }

    private void bind(StoredPart.TablePair pair) {
        Place place = find(pair.module(), weights::table).orElseThrow(() -> nowhere(pair.module()));
        requireUse(place.use(), pair.module());
        requireFit(
                pair.module(),
                pair.shrink(),
                pair.expand(),
                place.outputs(),
                place.weight().rows());
        add(place, pair.shrink(), pair.expand(), pair.scale());
    }

    private void requireFit(String module, Tensor shrink, Tensor expand, long outputs, long inputs) {
        if (shrink.shape().columns() != inputs || expand.shape().rows() != outputs) {
            throw new CheckpointException(files.source() + ": what it adds to " + module + " is " + expand.shape()
                    + " times " + shrink.shape() + ", but the model's is [" + outputs + ", " + inputs
                    + "]; the adapter is for another model");
        }
    }

    /** A pair for each expert, whose second matrix is put together. */
    private void bind(StoredPart.ExpertPairs pairs) {
        AdaptableWeights.Stacks stacks = stacks(pairs.module()).orElseThrow(() -> nowhere(pairs.module()));
        requireUse(AdapterPart.Use.EXPERT, pairs.module());
        boolean isDown = pairs.module().endsWith(DOWN);
        Weight weight = isDown ? stacks.down() : stacks.gateAndUp();
        IntUnaryOperator order = isDown ? IntUnaryOperator.identity() : stacks.gateAndUpOrder();
        int rank = pairs.rank();
        int experts = stacks.experts();
        if (pairs.shrink().shape().rows() != (long) experts * rank) {
            throw new CheckpointException(files.source() + ": what it adds to " + pairs.module() + " is of "
                    + pairs.shrink().shape().rows() / rank + " experts, but the model has " + experts
                    + "; the adapter is for another model");
        }
        boolean isSwapped = isSwapped(pairs, weight);
        float[] columns = Dequantizer.all(pairs.expand());
        for (int expert = 0; expert < experts; expert++) {
            Tensor shrink = pairs.shrink().rows((long) expert * rank, rank);
            Tensor expand = columnsOf(expert, experts, rank, columns);
            var place = new Place(weight, AdapterPart.Use.EXPERT, expert, 0, weight.rows(), order);
            add(place, isSwapped ? turned(expand) : shrink, isSwapped ? turned(shrink) : expand, pairs.scale());
        }
    }

    private Optional<AdaptableWeights.Stacks> stacks(String module) {
        Matcher matcher = LAYER.matcher(module);
        boolean isKnown = module.endsWith(".experts" + GATE_UP) || module.endsWith(".experts" + DOWN);
        return isKnown && matcher.matches() ? weights.stacks(Integer.parseInt(matcher.group(1))) : Optional.empty();
    }

    /** Whether the matrices have outputs in the place of inputs, as PEFT had them first where a stack is {@code [experts, outputs, inputs]}. */
    private boolean isSwapped(StoredPart.ExpertPairs pairs, Weight weight) {
        boolean isSquare = weight.rows() == weight.columns();
        long inputs = pairs.shrink().shape().columns();
        long outputs = pairs.expand().shape().rows();
        if (isSquare && inputs == outputs && !pairs.isTurned()) {
            throw new CheckpointException(files.source() + ": " + pairs.module()
                    + " has as many inputs as outputs, and an old version of PEFT may have meant either by its"
                    + " matrices: save the adapter with a newer one");
        }
        if (!isSquare && inputs == weight.rows() && outputs == weight.columns()) {
            return true;
        }
        requireFit(pairs.module(), pairs.shrink(), pairs.expand(), weight.rows(), weight.columns());
        return false;
    }

    /** The columns of an expert, {@code [outputs, rank]}. */
    private static Tensor columnsOf(int expert, int experts, int rank, float[] columns) {
        int rows = columns.length / (experts * rank);
        var own = new float[rows * rank];
        for (int row = 0; row < rows; row++) {
            for (int j = 0; j < rank; j++) {
                own[row * rank + j] = columns[(row * rank + j) * experts + expert];
            }
        }
        return matrix(rows, rank, own);
    }

    private static Tensor turned(Tensor tensor) {
        float[] numbers = Dequantizer.all(tensor);
        int rows = Math.toIntExact(tensor.shape().rows());
        int columns = Math.toIntExact(tensor.shape().columns());
        var turned = new float[numbers.length];
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                turned[column * rows + row] = numbers[row * columns + column];
            }
        }
        return matrix(/* rows= */ columns, /* columns= */ rows, turned);
    }

    private static Tensor matrix(int rows, int columns, float[] numbers) {
        return new Tensor("of an expert", DataType.F32, Shape.of(rows, columns), MemorySegment.ofArray(numbers));
    }

    private void bind(StoredPart.Whole whole) {
        Place place = find(whole.module(), weights::table)
                .or(() -> find(whole.module(), weights::place).filter(found -> found.use() == AdapterPart.Use.LOGITS))
                .orElseThrow(() -> new CheckpointException(files.source() + " has a matrix of its own for "
                        + whole.module() + ", which adapters cannot have but for embeddings and logits:"
                        + " merge the adapter into its model (roselle merge)"));
        requireUse(place.use(), whole.module());
        requireSize(whole.module(), whole.matrix(), place.weight());
        if (whole.bias() != null
                && (place.use() != AdapterPart.Use.LOGITS
                        || whole.bias().shape().elements() != place.weight().rows())) {
            throw new CheckpointException(files.source() + ": tensor "
                    + whole.bias().name() + " has shape "
                    + whole.bias().shape() + ", which fits nothing of the model; the adapter is for another model");
        }
        bound.add(new OwnMatrix(place.weight(), place.use(), whole.matrix(), whole.bias()));
    }

    private void requireSize(String module, Tensor matrix, Weight weight) {
        long rows = matrix.shape().rows();
        if (matrix.shape().columns() == weight.columns() && rows != weight.rows()) {
            throw new CheckpointException(files.source() + " has " + rows + " tokens in " + module
                    + ", but the model has " + weight.rows()
                    + ": an adapter cannot change the vocabulary: merge it into its model (roselle merge)");
        }
        if (matrix.shape().columns() != weight.columns()) {
            throw new CheckpointException(files.source() + ": tensor " + matrix.name() + " has shape " + matrix.shape()
                    + ", but the model's is [" + weight.rows() + ", " + weight.columns()
                    + "]; the adapter is for another model");
        }
    }

    /** The model's own numbers, which must be those that the adapter was made with. */
    private void requireSame(StoredPart.Original original) {
        Tensor theirs = original.numbers();
        Place place = find(original.module(), weights::table)
                .or(() -> find(original.module(), weights::place))
                .orElseThrow(() -> nowhere(original.module()));
        if (theirs.shape().rank() == 2) {
            requireSize(original.module(), theirs, place.weight());
        }
        Tensor ours = find(original.module(), name -> tensor(name + original.ending()))
                .or(() -> weights.tableModule(place.weight()).flatMap(name -> tensor(name + original.ending())))
                .orElse(null);
        if (ours == null || !ours.shape().equals(theirs.shape()) || !areNear(theirs, ours)) {
            throw new CheckpointException(files.source() + ": tensor " + theirs.name()
                    + " is not the model's own; the adapter is for another model");
        }
    }

    private Optional<Tensor> tensor(String name) {
        return Optional.ofNullable(model.tensors().get(name))
                .filter(tensor -> tensor.type().isFloating());
    }

    /** Whether numbers are the same, but for what a type of 16 bits rounds. */
    private static boolean areNear(Tensor some, Tensor others) {
        var one = new float[Math.toIntExact(some.shape().columns())];
        var other = new float[one.length];
        for (long row = 0; row < some.shape().rows(); row++) {
            Dequantizer.row(some, row, one, 0);
            Dequantizer.row(others, row, other, 0);
            for (int i = 0; i < one.length; i++) {
                if (!(Math.abs(one[i] - other[i]) <= ROUNDING * Math.abs(other[i]))) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Where embedding and output are one, and the adapter would have them stay so, it may change neither. */
    private void requireApart() {
        if (files.format() == Checkpoint.Format.GGUF || !files.config().flag("ensure_weight_tying", false)) {
            return;
        }
        for (AdapterPart part : bound) {
            boolean isOfTokens = part.use() == AdapterPart.Use.TABLE || part.use() == AdapterPart.Use.LOGITS;
            if (isOfTokens && weights.isTied(part.weight())) {
                throw new CheckpointException(files.config().origin()
                        + ": ensure_weight_tying is set for an embedding that is the output, too, which is not"
                        + " supported: merge the adapter into its model (roselle merge)");
            }
        }
    }

    private void requireUse(AdapterPart.Use use, String module) {
        if (!device.adapts(use)) {
            throw new CheckpointException(files.source() + " changes " + module
                    + ", which adapters can on the CPU alone so far, not on " + device.name()
                    + ": merge it into its model (roselle merge), or use --device cpu");
        }
    }

    private CheckpointException nowhere(String module) {
        boolean isThere = find(
                        module,
                        name -> model.tensors().keySet().stream()
                                .filter(tensor -> tensor.equals(name) || tensor.startsWith(name + "."))
                                .findFirst())
                .isPresent();
        return new CheckpointException(files.source()
                + (isThere
                        ? " adds to " + module
                                + ", which adapters cannot: the latents of attention, and what is no product, stay as they are"
                        : " adds to " + module + ", which the model does not have; the adapter is for another model"));
    }

    private void requireFinite(Tensor tensor) {
        var row = new float[Math.toIntExact(tensor.shape().columns())];
        for (long r = 0; r < tensor.shape().rows(); r++) {
            Dequantizer.row(tensor, r, row, 0);
            for (float number : row) {
                if (!Float.isFinite(number)) {
                    throw new CheckpointException(
                            files.source() + ": tensor " + tensor.name() + " has a number that is " + number);
                }
            }
        }
    }
}
