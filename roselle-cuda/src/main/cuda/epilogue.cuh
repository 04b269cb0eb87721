// What follows a product before it is stored: y = scale * activation(sum + bias), then output = y or output += y.
#pragma once
#include "numbers.cuh"

// In the order of the engine's Activation constants.
enum ActivationKind { NONE, SILU, GELU, GELU_TANH, GELU_QUICK, RELU, RELU_SQUARED };

// Bits of an epilogue's flags.
enum EpilogueFlags { ACCUMULATES = 1, STORES_FLOATS = 2 };

struct Epilogue {
    const float* bias;  // [outputs], or null
    int activation;
    float scale;
    int flags;
};

__device__ __forceinline__ float sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x));
}

__device__ __forceinline__ float activate(int kind, float x) {
    switch (kind) {
        case SILU:
            return x * sigmoid(x);
        case GELU:
            return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
        case GELU_TANH:
            return 0.5f * x * (1.0f + tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x)));
        case GELU_QUICK:
            return x * sigmoid(1.702f * x);
        case RELU:
            return fmaxf(x, 0.0f);
        case RELU_SQUARED: {
            float positive = fmaxf(x, 0.0f);
            return positive * positive;
        }
        default:
            return x;
    }
}

// Stores up to four neighbouring outputs of one row, the first of which is output `column`; `at` is its index in `output`.
template <class T>
__device__ __forceinline__ void storeFour(
    float4 sum, const Epilogue& epilogue, void* output, i64 at, int column, int outputs) {
    float y[4] = {sum.x, sum.y, sum.z, sum.w};
    int count = min(4, outputs - column);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (i < count) {
            float x = epilogue.bias ? y[i] + epilogue.bias[column + i] : y[i];
            y[i] = epilogue.scale * activate(epilogue.activation, x);
        }
    }
    u64 address = (u64)output + at * (epilogue.flags & STORES_FLOATS ? 4 : 2);
    bool whole = count == 4 && (address & (epilogue.flags & STORES_FLOATS ? 15 : 7)) == 0;
    if (epilogue.flags & STORES_FLOATS) {
        float* target = (float*)output + at;
        if (whole && !(epilogue.flags & ACCUMULATES)) {
            *(float4*)target = make_float4(y[0], y[1], y[2], y[3]);
            return;
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (i < count) {
                target[i] = epilogue.flags & ACCUMULATES ? target[i] + y[i] : y[i];
            }
        }
        return;
    }
    u16* target = (u16*)output + at;
    if (whole) {
        if (epilogue.flags & ACCUMULATES) {
            uint2 old = *(uint2*)target;
            y[0] += lowHalf<T>(old.x);
            y[1] += highHalf<T>(old.x);
            y[2] += lowHalf<T>(old.y);
            y[3] += highHalf<T>(old.y);
        }
        *(uint2*)target = make_uint2(pack<T>(y[0], y[1]), pack<T>(y[2], y[3]));
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (i < count) {
            target[i] = fromFloat<T>(epilogue.flags & ACCUMULATES ? toFloat<T>(target[i]) + y[i] : y[i]);
        }
    }
}
