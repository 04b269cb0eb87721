package roselle.quantization;

import java.util.Optional;
import roselle.tensor.Tensor;

/** A checkpoint's tensors as schemes ask for those that a matrix has beside its codes. */
public interface NamedTensors {
    /** Whose tensors these are, for messages. */
    String source();

    /** The tensor of a name; who finds it reads it. */
    Optional<Tensor> find(String name);
}
