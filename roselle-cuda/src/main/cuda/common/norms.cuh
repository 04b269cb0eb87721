// Norms of rows and of heads. Every rounding is written out, so that all kernels that normalise a row get the same bits.
//
// A row is summed as by threads of eight neighbouring numbers each: the eight in order, the threads of a warp by butterfly, the
// warps in order. RMS: the squares; LAYER: the numbers, then the squares of their distances from the mean.
#pragma once
#include "common/elements.cuh"

struct NormArguments {
    bool takesMean;
    const float* weight;
    float weightOffset;
    const float* bias;
    float epsilon;
};

template <class T>
__device__ __forceinline__ void unpack(uint4 bits, float (&x)[8]) {
    u32 words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        x[2 * i] = lowHalf<T>(words[i]);
        x[2 * i + 1] = highHalf<T>(words[i]);
    }
}

template <class T>
__device__ __forceinline__ uint4 packed(const float (&x)[8]) {
    return make_uint4(pack<T>(x[0], x[1]), pack<T>(x[2], x[3]), pack<T>(x[4], x[5]), pack<T>(x[6], x[7]));
}

// Adds eight numbers, or their squares, in order.
__device__ __forceinline__ float addEight(float sum, const float (&x)[8], bool squares) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
        sum = squares ? __fmaf_rn(x[i], x[i], sum) : __fadd_rn(sum, x[i]);
    }
    return sum;
}

__device__ __forceinline__ void subtract(float (&x)[8], float mean) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
        x[i] = __fsub_rn(x[i], mean);
    }
}

// What numbers are multiplied with, from the sum of their squares.
__device__ __forceinline__ float normFactor(float squares, int count, float epsilon) {
    return __frcp_rn(__fsqrt_rn(__fadd_rn(__fdiv_rn(squares, (float)count), epsilon)));
}

// A number without its mean becomes a normalised one.
__device__ __forceinline__ float normalised(float x, float factor, float weight, float offset, float bias) {
    return __fmaf_rn(__fmul_rn(x, factor), __fadd_rn(weight, offset), bias);
}

// Eight weights and eight biases from `column` on; zeros for biases that are not there.
struct NormPiece {
    float weight[8];
    float bias[8];

    __device__ __forceinline__ void load(const NormArguments& n, int column) {
        loadEight<F32>(n.weight + column, weight);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            bias[i] = 0.0f;
        }
        if (n.bias) {
            loadEight<F32>(n.bias + column, bias);
        }
    }

    __device__ __forceinline__ void apply(float (&x)[8], float factor, float offset) const {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            x[i] = normalised(x[i], factor, weight[i], offset, bias[i]);
        }
    }
};
