package roselle.cuda.kernel;

import roselle.backend.memory.KvType;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Router;
import roselle.tensor.DataType;

/** The numbers by which kernels know constants ({@code blocks.cuh}, {@code epilogue.cuh}, {@code generic_experts.cu}). */
public final class KernelNumbers {
    private KernelNumbers() {}

    public static int of(Activation activation) {
        return switch (activation) {
            case NONE -> 0;
            case SILU -> 1;
            case GELU -> 2;
            case GELU_TANH -> 3;
            case GELU_QUICK -> 4;
            case RELU -> 5;
            case RELU_SQUARED -> 6;
            case LOGISTIC -> 7;
        };
    }

    public static int of(Router.Scoring scoring) {
        return switch (scoring) {
            case SOFTMAX -> 0;
            case SIGMOID -> 1;
            case ROOT_OF_SOFTPLUS -> 2;
            case SOFTMAX_OF_CHOSEN -> 3;
            case SOFTMAX_OF_NEAR -> 4;
        };
    }

    /** Of numbers in a cache: {@code enum CacheType} of {@code elements.cuh}. */
    public static int ofCache(KvType type) {
        return switch (type) {
            case F32 -> 0;
            case F16 -> 1;
            case BF16 -> 2;
            case FP8 -> 3;
            case INT8 -> 4;
            case INT4 -> 5;
        };
    }

    /** Whether kernels read weights of a type; of the others they know the number alone. */
    public static boolean isRead(DataType type) {
        return switch (type) {
            case IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S, TQ1_0, TQ2_0, NVFP4, Q1_0, Q2_0 -> false;
            default -> true;
        };
    }

    /** The place of a type among all: {@code WeightType} of {@code blocks.cuh} has the same order. */
    @SuppressWarnings("EnumOrdinal") // KernelAbiTest compares the orders
    public static int of(DataType type) {
        return type.ordinal();
    }
}
