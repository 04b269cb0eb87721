package roselle.quantization;

import java.util.Optional;
import java.util.Set;
import roselle.checkpoint.summary.ModelSummary.TypeUse;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * Modules whose codes are words of a {@code qweight}, outputs beside each other: what files of GPTQ and AWQ have in common, zeros in
 * {@code qzeros}, words of {@code [groups, outputs]}, and {@code scales [groups, outputs]}.
 */
record QuantizedModules(String method, GroupFields groups, Layout layout) implements Quantization {
    private static final String CODES = ".qweight";
    private static final String ZEROS = ".qzeros";
    private static final String SCALES = ".scales";
    private static final String ORDER = ".g_idx";
    private static final Set<String> BESIDE = Set.of(ZEROS, SCALES, ORDER);

    /**
     * How words have their numbers.
     *
     * @param goesDown whether codes that share a word follow the inputs, not the outputs
     * @param interleaves whether of eight outputs the even ones come first
     * @param lessThanZero what stored zeros lack
     * @param hasSpareBiases whether biases that are zeros stand for none
     */
    record Layout(boolean goesDown, boolean interleaves, int lessThanZero, boolean hasSpareBiases) {}

    @Override
    public Optional<String> description() {
        return Optional.of(method + ": " + groups.describe());
    }

    @Override
    public StoredMatrix matrix(Tensor codes, NamedTensors tensors) {
        return StoredMatrix.of(codes);
    }

    @Override
    public Optional<String> codesEnding() {
        return Optional.of(CODES);
    }

    @Override
    public Optional<StoredMatrix> integers(String base, Shape shape, NamedTensors tensors, Copies copies) {
        if (tensors.find(base + CODES).isEmpty()) {
            return Optional.empty();
        }
        Group group = groups.of(shape);
        var parts = new IntegerGroups(tensors, base, shape, group);
        Shape turned = Shape.of(parts.grid().columns(), shape.rows());
        PackedWords codes = codes(parts);
        PackedWords zeros = words(parts, ZEROS, turned.rows());
        Tensor scales = parts.scales(SCALES, turned);
        IntegerGroups.Stored at = layout.goesDown ? codes::at : (row, column) -> codes.at(column, row);
        return Optional.of(parts.bind(
                groups.bits(),
                at,
                (row, index) -> zeros.at(index, row) + layout.lessThanZero,
                new GroupScales(group, copies.turned(scales), 0, parts.order(ORDER)),
                copies));
    }

    private PackedWords codes(IntegerGroups parts) {
        Shape shape = parts.shape();
        if (!layout.goesDown) {
            return words(parts, CODES, shape.columns());
        }
        long down = PackedWords.wordsOf(shape.columns(), groups.bits());
        Tensor codes = parts.required(CODES, DataType.I32, Shape.of(down, shape.rows()));
        return new PackedWords(codes, groups.bits(), true, false);
    }

    /** Lines of words that follow the outputs. */
    private PackedWords words(IntegerGroups parts, String ending, long lines) {
        long outputs = parts.shape().rows();
        Tensor words =
                parts.required(ending, DataType.I32, Shape.of(lines, PackedWords.wordsOf(outputs, groups.bits())));
        if (layout.interleaves && outputs % PackedWords.EIGHT != 0) {
            throw parts.failure(words.name(), "has " + outputs + " outputs, which is not a multiple of 8");
        }
        return new PackedWords(words, groups.bits(), false, layout.interleaves);
    }

    @Override
    public boolean saysNothing(Tensor tensor) {
        return layout.hasSpareBiases && tensor.name().endsWith(".bias") && GroupFields.areZeros(tensor);
    }

    @Override
    public TypeUse use(Tensor tensor) {
        return groups.use(tensor, CODES, isScales(tensor.name()));
    }

    @Override
    public boolean isScales(String name) {
        return BESIDE.contains(name.substring(Math.max(0, name.lastIndexOf('.'))));
    }
}
