package roselle.checkpoint.summary;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import roselle.checkpoint.Checkpoint;
import roselle.tensor.DataType;
import roselle.tensor.Tensor;

/**
 * What can be told of a model from its headers alone.
 *
 * @param architecture as the files name it; empty where they do not
 * @param parameters numbers in all tensors, without the scales that belong to others
 * @param types one entry for each data type that occurs, in the order of {@link DataType}
 * @param contextLength tokens of the longest sequence
 * @param vocabulary ids from 0 until this number
 * @param hasChatTemplate whether the model says how to write a conversation
 * @param bytesOnDisk of the files that hold tensors
 * @param weightBytes of the tensors as they are stored
 * @param kvElementsPerToken numbers that one token adds to the cache of keys and values, all layers together
 */
public record ModelSummary(
        Optional<String> architecture,
        long parameters,
        List<TypeUse> types,
        OptionalInt contextLength,
        OptionalInt vocabulary,
        boolean hasChatTemplate,
        long bytesOnDisk,
        long weightBytes,
        OptionalLong kvElementsPerToken) {
    /** Bytes of one number in a 16-bit cache of keys and values. */
    public static final int KV_ELEMENT_BYTES = 2;

    /**
     * How much of a model is stored in one way.
     *
     * @param type the way
     * @param tensors stored so; their scales are not counted
     * @param elements numbers that these tensors stand for
     * @param bytes of these tensors, scales included
     */
    public record TypeUse(DataType type, int tensors, long elements, long bytes) {
        /** A tensor whose elements are the model's numbers. */
        public static TypeUse of(Tensor tensor) {
            return new TypeUse(
                    tensor.type(), 1, tensor.shape().elements(), tensor.data().byteSize());
        }

        private TypeUse plus(TypeUse other) {
            return new TypeUse(type, tensors + other.tensors, elements + other.elements, bytes + other.bytes);
        }
    }

    /** What a tensor is for: numbers of a type, or the scales of such. */
    @FunctionalInterface
    public interface Reading {
        TypeUse of(Tensor tensor);
    }

    public ModelSummary {
        types = List.copyOf(types);
    }

    /** Bytes that one token takes in a 16-bit cache. */
    public OptionalLong kvBytesPerToken() {
        return kvElementsPerToken.isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(Math.multiplyExact(kvElementsPerToken.getAsLong(), KV_ELEMENT_BYTES));
    }

    /** Reads headers and metadata, no weights; every tensor counts as it is. */
    public static ModelSummary of(Checkpoint checkpoint) {
        return of(checkpoint, TypeUse::of);
    }

    /** Reads headers and metadata, no weights; tensors count as {@code reading} takes them. */
    public static ModelSummary of(Checkpoint checkpoint, Reading reading) {
        List<TypeUse> types = types(checkpoint, reading);
        ModelShape shape = ModelShape.of(checkpoint);
        return new ModelSummary(
                shape.architecture(),
                types.stream().mapToLong(TypeUse::elements).sum(),
                types,
                shape.contextLength(),
                shape.vocabulary(),
                checkpoint.chatTemplate().isPresent(),
                checkpoint.bytes(),
                types.stream().mapToLong(TypeUse::bytes).sum(),
                shape.kvElementsPerToken());
    }

    private static List<TypeUse> types(Checkpoint checkpoint, Reading reading) {
        Map<DataType, TypeUse> types = new EnumMap<>(DataType.class);
        for (Tensor tensor : checkpoint.tensors().values()) {
            types.merge(reading.of(tensor).type(), reading.of(tensor), TypeUse::plus);
        }
        return List.copyOf(types.values());
    }
}
