// What follows a product before it is stored: y = scale * activation(sum + bias), then output = y or output += y.
#pragma once
#include "common/numbers.cuh"

// In the order of the engine's Activation constants.
enum ActivationKind { NONE, SILU, GELU, GELU_TANH, GELU_QUICK, RELU, RELU_SQUARED, LOGISTIC };

// Bits of an epilogue's flags.
enum EpilogueFlags { ACCUMULATES = 1, STORES_FLOATS = 2 };

struct Epilogue {
    const float* bias;  // [outputs], or null
    int activation;
    float scale;
    int flags;
};

// One of the parameters of a product's kernel.
#define EPILOGUE                       \
    Epilogue {                         \
        bias, activation, scale, flags \
    }

__device__ __forceinline__ float sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x));
}

// The same by the processor's own exponential and reciprocal: some units in the last place off, a tenth of the instructions.
__device__ __forceinline__ float quickSigmoid(float x) {
    return __fdividef(1.0f, __fadd_rn(1.0f, __expf(-x)));
}

__device__ __forceinline__ float activate(int kind, float x) {
    switch (kind) {
        case SILU:
            return __fmul_rn(x, quickSigmoid(x));
        case GELU:
            return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
        case GELU_TANH:
            // (1 + tanh y) / 2 is the sigmoid of 2 y
            return __fmul_rn(
                x, quickSigmoid(__fmul_rn(x, __fmaf_rn(__fmul_rn(x, x), 0.0713548162726009f, 1.5957691216057308f))));
        case GELU_QUICK:
            return __fmul_rn(x, quickSigmoid(__fmul_rn(1.702f, x)));
        case RELU:
            return fmaxf(x, 0.0f);
        case RELU_SQUARED: {
            float positive = fmaxf(x, 0.0f);
            return positive * positive;
        }
        case LOGISTIC:
            return quickSigmoid(x);
        default:
            return x;
    }
}

// The same for several numbers, whose kind is looked at once: a kernel has this in many places.
template <int KIND, int COUNT>
__device__ __forceinline__ void activateAs(float (&x)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        x[i] = activate(KIND, x[i]);
    }
}

template <int COUNT>
__device__ __forceinline__ void activateAll(int kind, float (&x)[COUNT]) {
    switch (kind) {
        case SILU:
            return activateAs<SILU>(x);
        case GELU:
            return activateAs<GELU>(x);
        case GELU_TANH:
            return activateAs<GELU_TANH>(x);
        case GELU_QUICK:
            return activateAs<GELU_QUICK>(x);
        case RELU:
            return activateAs<RELU>(x);
        case RELU_SQUARED:
            return activateAs<RELU_SQUARED>(x);
        case LOGISTIC:
            return activateAs<LOGISTIC>(x);
        default:
            return;
    }
}

// What up to four neighbouring outputs are added to; zeros where nothing is added or finishFour() reads it itself.
template <class T>
__device__ __forceinline__ uint2 oldFour(const Epilogue& epilogue, const void* output, i64 at, int count) {
    const u16* source = (const u16*)output + at;
    bool reads = epilogue.flags == ACCUMULATES && count >= 4 && ((u64)source & 7) == 0;
    return reads ? *(const uint2*)source : make_uint2(0, 0);
}

// The biases of up to four neighbouring outputs from `column` on.
__device__ __forceinline__ float4 biasFour(const Epilogue& epilogue, int column, int outputs) {
    float bias[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        bias[i] = epilogue.bias && column + i < outputs ? epilogue.bias[column + i] : 0.0f;
    }
    return make_float4(bias[0], bias[1], bias[2], bias[3]);
}

// Stores up to four neighbouring outputs of one row; `at` is the first one's index in `output`.
template <class T>
__device__ __forceinline__ void finishFour(
    float4 sum, float4 bias, uint2 old, const Epilogue& epilogue, void* output, i64 at, int count) {
    float y[4] = {__fadd_rn(sum.x, bias.x), __fadd_rn(sum.y, bias.y), __fadd_rn(sum.z, bias.z), __fadd_rn(sum.w, bias.w)};
    activateAll(epilogue.activation, y);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        y[i] = __fmul_rn(epilogue.scale, y[i]);
    }
    u64 address = (u64)output + at * (epilogue.flags & STORES_FLOATS ? 4 : 2);
    bool whole = count >= 4 && (address & (epilogue.flags & STORES_FLOATS ? 15 : 7)) == 0;
    if (epilogue.flags & STORES_FLOATS) {
        float* target = (float*)output + at;
        if (whole && !(epilogue.flags & ACCUMULATES)) {
            *(float4*)target = make_float4(y[0], y[1], y[2], y[3]);
            return;
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (i < count) {
                target[i] = epilogue.flags & ACCUMULATES ? __fadd_rn(target[i], y[i]) : y[i];
            }
        }
        return;
    }
    u16* target = (u16*)output + at;
    if (whole) {
        if (epilogue.flags & ACCUMULATES) {
            y[0] = __fadd_rn(lowHalf<T>(old.x), y[0]);
            y[1] = __fadd_rn(highHalf<T>(old.x), y[1]);
            y[2] = __fadd_rn(lowHalf<T>(old.y), y[2]);
            y[3] = __fadd_rn(highHalf<T>(old.y), y[3]);
        }
        *(uint2*)target = make_uint2(pack<T>(y[0], y[1]), pack<T>(y[2], y[3]));
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (i < count) {
            target[i] = fromFloat<T>(epilogue.flags & ACCUMULATES ? __fadd_rn(toFloat<T>(target[i]), y[i]) : y[i]);
        }
    }
}
