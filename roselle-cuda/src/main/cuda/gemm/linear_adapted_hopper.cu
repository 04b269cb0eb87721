// linear_gated_TOKENS of linear_hopper.cu with what adapters add to gates and ups, for which the rows were shrunk before (low_rank.cu):
// the bits of the product and low_rank_gated after it.
//
// Parts of adapters begin at multiples of 64 outputs, have up to 16 ranks, and no two have one output. Launched as linear_gated_TOKENS;
// parameters: its own, then those of low_rank_expand from `adapters` to `slices`.
#include "gemm/linear_hopper.cuh"

#define GATED(T, SUFFIX, TOKENS, PRODUCERS, STAGES)                                                                   \
    extern "C" __global__ void __launch_bounds__(256 + 32 * PRODUCERS, 2)                                             \
        linear_adapted_gated_##TOKENS##_##SUFFIX(PRODUCT_PARAMETERS, float limit, float upOffset, ADDED_PARAMETERS) { \
        using Adding = Additions<T, TOKENS, 2>;                                                                       \
        __shared__ typename Adding::Memory memory;                                                                    \
        AddedArguments added = ADDED;                                                                                 \
        Gating gating = {limit, upOffset};                                                                            \
        linearParallel<T, Ring<TOKENS, 2, PRODUCERS, STAGES, true>>(                                                  \
            PRODUCT, EPILOGUE, 1, Adding(memory, added), NormArguments(), gating);                                    \
    }
#define BOTH_TYPES(...)            \
    GATED(Bf16, bf16, __VA_ARGS__) \
    GATED(F16, f16, __VA_ARGS__)

BOTH_TYPES(8, 1, 6)
BOTH_TYPES(16, 1, 6)
BOTH_TYPES(32, 2, 5)
BOTH_TYPES(64, 4, 4)
