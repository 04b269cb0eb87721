package roselle.quantization;

import roselle.api.CheckpointException;
import roselle.tensor.DataType;
import roselle.tensor.Packing;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * How the numbers of a matrix are stored, whatever tensors they lie in: {@code number = scale * value(code) - offset}.
 *
 * @param type encoding of the codes, and how they are packed
 * @param group neighbours with one scale and one offset
 * @param scales where the scales lie
 * @param offsets where lie the minima or zeros that are subtracted or added
 */
public record Scheme(DataType type, Group group, Place scales, Place offsets) {
    private static final Place NOWHERE = new Place.Nowhere();

    /** All of a matrix in one tensor of a type. */
    public static Scheme of(DataType type) {
        Packing packing = type.packing();
        return new Scheme(
                type,
                new Group(1, packing.group()),
                type.isQuantized() ? new Place.InBlocks(packing.scaleBits()) : NOWHERE,
                packing.minimumBits() > 0 ? new Place.InBlocks(packing.minimumBits()) : NOWHERE);
    }

    /** Codes of a type, and a tensor with a scale for each group of them. */
    static Scheme withScales(DataType type, Group group, String ending) {
        return new Scheme(type, group, new Place.OwnTensor(ending), NOWHERE);
    }

    /**
     * The matrix of codes with scales in a second tensor.
     *
     * @param source whose tensors these are, for messages
     * @throws CheckpointException where the scales are not one positive number for each group
     */
    StoredMatrix bind(String source, Tensor codes, Tensor scales) {
        requireScales(source, scales, group.grid(codes.shape()), group + " of " + codes.shape());
        return new StoredMatrix.Scaled(codes, new GroupScales(group, scales, 0));
    }

    /** Fails where scales are not positive numbers of a shape, one for each of some groups. */
    static void requireScales(String source, Tensor scales, Shape grid, String groups) {
        if (!scales.shape().equals(grid)) {
            throw new CheckpointException(source + ": tensor " + scales.name() + " has shape " + scales.shape()
                    + ", expected " + grid + ", one scale for each " + groups);
        }
        if (!GroupScales.areNumbers(scales.type())) {
            throw new CheckpointException(source + ": tensor " + scales.name() + " is "
                    + scales.type().label() + "; scales can be f32, f16 or bf16");
        }
        var numbers = new GroupScales(new Group(1, 1), scales, 0);
        for (long i = 0; i < grid.elements(); i++) {
            float scale = numbers.number(i);
            if (!(scale > 0 && scale < Float.POSITIVE_INFINITY)) {
                throw new CheckpointException(source + ": tensor " + scales.name() + " has the scale " + scale + " at "
                        + i + "; scales are positive and finite");
            }
        }
    }

    /** For people: {@code q4_k}, or {@code f8_e4m3 with a scale for each 128×128}. */
    public String describe() {
        return switch (scales) {
            case Place.Nowhere _, Place.InBlocks _ -> type.label();
            case Place.OwnTensor _ -> type.label() + " with a scale for each " + group;
        };
    }
}
