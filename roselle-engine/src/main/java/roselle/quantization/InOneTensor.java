package roselle.quantization;

import java.util.Optional;
import roselle.tensor.Tensor;

/** Each matrix is a tensor whose type says all: plain numbers, or the blocks of GGUF. */
final class InOneTensor implements Quantization {
    @Override
    public Optional<String> description() {
        return Optional.empty();
    }

    @Override
    public StoredMatrix matrix(Tensor codes, NamedTensors tensors) {
        return StoredMatrix.of(codes);
    }
}
