// Numbers of any activation type, one by one, with the names that the 16-bit ones have in numbers.cuh; and cached numbers.
#pragma once
#include "common/numbers.cuh"

using u8 = unsigned char;

struct F32 {};

template <class T>
struct Stored {
    using Type = u16;
};

template <>
struct Stored<F32> {
    using Type = float;
};

template <class T>
using Number = typename Stored<T>::Type;  // how a T lies in memory

template <class T>
__device__ __forceinline__ float load(const Number<T>* numbers, i64 at) {
    return toFloat<T>(numbers[at]);
}

template <>
__device__ __forceinline__ float load<F32>(const float* numbers, i64 at) {
    return numbers[at];
}

template <class T>
__device__ __forceinline__ void store(Number<T>* numbers, i64 at, float value) {
    numbers[at] = fromFloat<T>(value);
}

template <>
__device__ __forceinline__ void store<F32>(float* numbers, i64 at, float value) {
    numbers[at] = value;
}

// Eight numbers; as two or one 16-byte loads where they are aligned.
template <class T>
__device__ __forceinline__ void loadEight(const Number<T>* numbers, float (&x)[8]) {
    if (((u64)numbers & 15) == 0) {
        uint4 bits = *(const uint4*)numbers;
        u32 words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            x[2 * i] = lowHalf<T>(words[i]);
            x[2 * i + 1] = highHalf<T>(words[i]);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        x[i] = toFloat<T>(numbers[i]);
    }
}

template <>
__device__ __forceinline__ void loadEight<F32>(const float* numbers, float (&x)[8]) {
    if (((u64)numbers & 15) == 0) {
        float4 a = *(const float4*)numbers;
        float4 b = *(const float4*)(numbers + 4);
        x[0] = a.x, x[1] = a.y, x[2] = a.z, x[3] = a.w;
        x[4] = b.x, x[5] = b.y, x[6] = b.z, x[7] = b.w;
        return;
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        x[i] = numbers[i];
    }
}

// How the numbers of a cache are stored; of the last three, codes, kv_codes.cuh.
enum CacheType { CACHE_F32, CACHE_F16, CACHE_BF16, CACHE_FP8, CACHE_INT8, CACHE_INT4 };

__device__ __forceinline__ float loadCached(const void* cache, int type, i64 at) {
    return type == CACHE_F32   ? ((const float*)cache)[at]
           : type == CACHE_F16 ? toFloat<F16>(((const u16*)cache)[at])
                               : toFloat<Bf16>(((const u16*)cache)[at]);
}

__device__ __forceinline__ void storeCached(void* cache, int type, i64 at, float value) {
    if (type == CACHE_F32) {
        ((float*)cache)[at] = value;
    } else {
        ((u16*)cache)[at] = type == CACHE_F16 ? fromFloat<F16>(value) : fromFloat<Bf16>(value);
    }
}

// Sum over the lanes of a warp; the same bits in all of them.
__device__ __forceinline__ float warpSum(float x) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        x = __fadd_rn(x, __shfl_xor_sync(~0u, x, distance));
    }
    return x;
}
