// What follows the products with the rows of gates and of ups: output = silu(gate) * up, with the bits of the products stored and
// gated of rows.cu.
#pragma once
#include "gemm/epilogue.cuh"

struct Gating {
    float limit;
    float upOffset;
};

// Two sums as a product would store them.
template <class T>
__device__ __forceinline__ u32 roundedPair(float low, float high, float lowBias, float highBias, float scale) {
    return pack<T>(__fmul_rn(scale, __fadd_rn(low, lowBias)), __fmul_rn(scale, __fadd_rn(high, highBias)));
}

__device__ __forceinline__ float gated(const Gating& gating, float gate, float up) {
    return activate(SILU, fminf(gate, gating.limit)) * (fminf(fmaxf(up, -gating.limit), gating.limit) + gating.upOffset);
}

// What becomes of two stored gates and their ups.
template <class T>
__device__ __forceinline__ u32 gatedPair(const Gating& gating, u32 gates, u32 ups) {
    return pack<T>(gated(gating, lowHalf<T>(gates), lowHalf<T>(ups)), gated(gating, highHalf<T>(gates), highHalf<T>(ups)));
}
