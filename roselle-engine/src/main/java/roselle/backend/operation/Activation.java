package roselle.backend.operation;

/** A function applied to each number after a product; the names are those of the papers and of PyTorch. */
public enum Activation {
    NONE,
    SILU,
    /** With the error function. */
    GELU,
    /** {@code x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))}. */
    GELU_TANH,
    /** {@code x * sigmoid(1.702 x)}. */
    GELU_QUICK,
    RELU,
    RELU_SQUARED,
    /** The sigmoid alone, {@code 1 / (1 + exp(-x))}: what some attention's outputs are gated with. */
    LOGISTIC
}
