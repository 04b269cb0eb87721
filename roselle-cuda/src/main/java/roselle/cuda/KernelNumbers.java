package roselle.cuda;

import roselle.backend.Activation;
import roselle.backend.Router;
import roselle.tensor.DataType;

/** The numbers by which kernels know constants ({@code blocks.cuh}, {@code epilogue.cuh}, {@code generic_experts.cu}). */
final class KernelNumbers {
    private KernelNumbers() {}

    static int of(Activation activation) {
        return switch (activation) {
            case NONE -> 0;
            case SILU -> 1;
            case GELU -> 2;
            case GELU_TANH -> 3;
            case GELU_QUICK -> 4;
            case RELU -> 5;
            case RELU_SQUARED -> 6;
        };
    }

    static int of(Router.Scoring scoring) {
        return switch (scoring) {
            case SOFTMAX -> 0;
            case SIGMOID -> 1;
            case SOFTMAX_OF_CHOSEN -> 2;
        };
    }

    /** Of numbers in a cache: {@code enum CacheType} of {@code elements.cuh}. */
    static int ofCache(DataType type) {
        return switch (type) {
            case F32 -> 0;
            case F16 -> 1;
            case BF16 -> 2;
            default -> throw new IllegalArgumentException("the KV cache holds f32, f16 or bf16, not " + type.label());
        };
    }

    static int of(DataType type) {
        return switch (type) {
            case F32 -> 0;
            case F16 -> 1;
            case BF16 -> 2;
            case F64 -> 3;
            case I8 -> 4;
            case I16 -> 5;
            case I32 -> 6;
            case I64 -> 7;
            case U8 -> 8;
            case U16 -> 9;
            case U32 -> 10;
            case U64 -> 11;
            case BOOL -> 12;
            case F8_E4M3 -> 13;
            case F8_E5M2 -> 14;
            case Q4_0 -> 15;
            case Q4_1 -> 16;
            case Q5_0 -> 17;
            case Q5_1 -> 18;
            case Q8_0 -> 19;
            case Q2_K -> 20;
            case Q3_K -> 21;
            case Q4_K -> 22;
            case Q5_K -> 23;
            case Q6_K -> 24;
            case IQ4_NL -> 25;
            case IQ4_XS -> 26;
            case MXFP4 -> 27;
        };
    }
}
