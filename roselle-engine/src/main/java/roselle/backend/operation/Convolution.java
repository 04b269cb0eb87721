package roselle.backend.operation;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;

/**
 * A causal convolution of each channel along a sequence:
 * {@code y(p) = activation(bias + sum over t of weight[t] * x(p - taps + 1 + t))}, with {@code x} zero before the beginning.
 *
 * @param group index of the {@link roselle.backend.memory.KvGroup}, without state, whose rows are the inputs
 * @param layer index among the layers of that group
 * @param taps inputs that an output sees, its own included; at most one more than a page has tokens
 * @param weight F32, {@code [taps, channels]}
 * @param bias F32, {@code [channels]}; null for none
 */
public record Convolution(
        int group,
        int layer,
        int taps,
        Buffer weight,
        @Nullable Buffer bias,
        Activation activation) {
    public Convolution {
        if (taps < 1 || weight.elements() % taps != 0) {
            throw new IllegalArgumentException(
                    "a convolution of " + taps + " taps with " + weight.elements() + " weights");
        }
    }

    public int channels() {
        return (int) (weight.elements() / taps);
    }
}
