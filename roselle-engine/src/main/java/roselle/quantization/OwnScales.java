package roselle.quantization;

import java.util.List;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Scales of a whole tensor or of each of its rows, as files of FP8 without blocks have them. */
final class OwnScales {
    private static final Set<String> OF_CACHE = Set.of("k_scale", "v_scale", "kv_scale");

    private OwnScales() {}

    /**
     * The matrix of codes with a lone scale, or as many as it has rows.
     *
     * @param names that the tensor of scales may have
     * @throws CheckpointException where there is none, or not of positive numbers
     */
    static StoredMatrix bind(NamedTensors tensors, Tensor codes, List<String> names) {
        Tensor scales = names.stream()
                .flatMap(name -> tensors.find(name).stream())
                .findFirst()
                .orElseThrow(() -> new CheckpointException(
                        tensors.source() + ": tensor " + names.getFirst() + " is missing; the file is not complete"));
        Shape shape = codes.shape();
        boolean isOne = scales.shape().elements() == 1;
        var group = new Group(isOne ? shape.rows() : 1, shape.columns());
        Shape rows = scales.shape().rank() < 2 ? Shape.of(shape.rows()) : group.grid(shape);
        Shape expected = isOne ? scales.shape() : rows;
        Scheme.requireScales(tensors.source(), scales, expected, group + " of " + shape);
        var grid = new Tensor(scales.name(), scales.type(), group.grid(shape), scales.data());
        return new StoredMatrix.Scaled(codes, new GroupScales(group, grid, 0));
    }

    /** Whether a tensor scales keys or values, which are not rounded to 8 bits. */
    static boolean areOfCache(String name) {
        return OF_CACHE.contains(name.substring(name.lastIndexOf('.') + 1));
    }
}
