// Numbers that are normalised and gated, eight of a lane, with the bits of a norm and of gates that follow it.
#pragma once
#include "common/norms.cuh"
#include "gemm/epilogue.cuh"

template <class T>
__device__ __forceinline__ uint4 gatedEight(
    uint4 gates, uint4 ups, int activation, float limit, float upLimit, float upOffset) {
    float g[8];
    float u[8];
    unpack<T>(gates, g);
    unpack<T>(ups, u);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        g[i] = fminf(g[i], limit);
    }
    activateAll(activation, g);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        g[i] = g[i] * (fminf(fmaxf(u[i], -upLimit), upLimit) + upOffset);
    }
    return packed<T>(g);
}

// Of a warp's part of a row, of up to 256 numbers, which it sums as a block of norm with as many would. `size` numbers are in it.
template <class T>
__device__ __forceinline__ uint4 normedAndGated(float (&x)[8], bool isIn, const NormPiece& piece, const NormArguments& n,
    int size, uint4 gates, int activation, float limit, float upLimit, float upOffset) {
    float sum = warpSum(isIn ? addEight(0.0f, x, !n.takesMean) : 0.0f);
    if (n.takesMean) {
        float mean = __fdiv_rn(sum, (float)size);
        subtract(x, mean);
        sum = warpSum(isIn ? addEight(0.0f, x, true) : 0.0f);
    }
    piece.apply(x, normFactor(sum, size, n.epsilon), n.weightOffset);
    return gatedEight<T>(gates, packed<T>(x), activation, limit, upLimit, upOffset);
}
