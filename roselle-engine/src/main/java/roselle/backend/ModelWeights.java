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
 * @param prefersDigits whether rows between operations are small numbers whose digits count: of the types with 16 bits, float16 is
 *     nearer to such a model than bfloat16
 * @param yields whether steps of other models on the same device go before those of this one: what reads texts need not hinder what
 *     writes them, token by token
 * @param encodes whether it makes vectors and scores of texts and no tokens: these bear factors of some 17 bits where float32 has 24
 */
public record ModelWeights(
        long bytes, Optional<DataType> type, boolean prefersDigits, boolean yields, boolean encodes) {
    /** Of a device that is opened for no model in particular. */
    public static final ModelWeights UNKNOWN = new ModelWeights(Long.MAX_VALUE, Optional.empty());

    /** Of which nothing is known but these. */
    public ModelWeights(long bytes, Optional<DataType> type) {
        this(bytes, type, false, false, false);
    }

    /** Of a model that may make tokens. */
    public ModelWeights(long bytes, Optional<DataType> type, boolean prefersDigits, boolean yields) {
        this(bytes, type, prefersDigits, yields, false);
    }

    /** The same of a model whose rows are small numbers. */
    public ModelWeights preferringDigits() {
        return new ModelWeights(bytes, type, true, yields, encodes);
    }

    /** The same of a model that others go before. */
    public ModelWeights yielding() {
        return new ModelWeights(bytes, type, prefersDigits, true, encodes);
    }

    /** The same of a model that makes no tokens. */
    public ModelWeights encoding() {
        return new ModelWeights(bytes, type, prefersDigits, yields, true);
    }

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
