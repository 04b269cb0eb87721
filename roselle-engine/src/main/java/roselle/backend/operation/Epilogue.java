package roselle.backend.operation;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;

/**
 * What follows a product before it is stored: {@code y = scale * activation(W x + bias)}, and {@code output = y} or
 * {@code output += y}.
 *
 * @param bias F32, one number per output of the weight (per matrix, for a stack of experts); null for none
 * @param accumulates whether the result is added to what the output holds, as a residual connection does
 */
public record Epilogue(@Nullable Buffer bias, Activation activation, float scale, boolean accumulates) {
    /** Nothing but the product. */
    public static final Epilogue PLAIN = new Epilogue(null, Activation.NONE, 1f, false);

    /** The product plus a bias, which may be null. */
    public static Epilogue bias(@Nullable Buffer bias) {
        return bias == null ? PLAIN : new Epilogue(bias, Activation.NONE, 1f, false);
    }

    /** A residual connection: {@code output += scale * (W x + bias)}. */
    public static Epilogue residual(@Nullable Buffer bias, float scale) {
        return new Epilogue(bias, Activation.NONE, scale, true);
    }

    /** The same with another factor of what is stored or added. */
    public Epilogue scaled(float factor) {
        return new Epilogue(bias, activation, scale * factor, accumulates);
    }

    /** Whether nothing changes a sum before it is stored or added. */
    public boolean isSumAlone() {
        return bias == null && activation == Activation.NONE && scale == 1f;
    }
}
