package roselle.backend;

import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import roselle.tensor.DataType;
import roselle.tensor.Tensor;

/**
 * What is known of a model's weights before a device is opened for them.
 *
 * @param bytes of all of them as they are stored; {@link Long#MAX_VALUE} where that is not known
 * @param type in which most of these bytes are stored; empty where that is not known
 */
public record ModelWeights(long bytes, Optional<DataType> type) {
    /** Of a device that is opened for no model in particular. */
    public static final ModelWeights UNKNOWN = new ModelWeights(Long.MAX_VALUE, Optional.empty());

    /** Those of all tensors of a model. */
    public static ModelWeights of(Collection<Tensor> tensors) {
        Map<DataType, Long> bytes = new EnumMap<>(DataType.class);
        for (Tensor tensor : tensors) {
            bytes.merge(tensor.type(), tensor.data().byteSize(), Long::sum);
        }
        Optional<DataType> most =
                bytes.entrySet().stream().max(Map.Entry.comparingByValue()).map(Map.Entry::getKey);
        return new ModelWeights(
                bytes.values().stream().mapToLong(Long::longValue).sum(), most);
    }
}
