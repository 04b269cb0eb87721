// Keys and values of a head as codes (KvType.java has their definition): how one warp makes them, and how one number is read.
#pragma once
#include "common/elements.cuh"

__device__ __forceinline__ bool isCoded(int type) {
    return type >= CACHE_FP8;
}

// Bytes of the codes of a key or value.
__device__ __forceinline__ int codeBytes(int type, int size) {
    return type == CACHE_INT4 ? (size + 1) / 2 : size;
}

// What codes are multiplied by, and behind it what is added to them.
__device__ __forceinline__ int scaleCount(int type) {
    return type == CACHE_INT4 ? 2 : 1;
}

// The nearest number of E4M3, ties to even; 448 where x is larger.
__device__ __forceinline__ u8 toE4m3(float x) {
    u32 sign = __float_as_uint(x) >> 31 << 7;
    float size = fminf(fabsf(x), 448.0f);
    if (size < 0.015625f) {
        return sign | __float2int_rn(__fmul_rn(size, 512.0f));
    }
    u32 bits = __float_as_uint(size);
    return sign | (((bits + 0x7FFFF + (bits >> 20 & 1)) >> 20) - (120 << 3));
}

__device__ __forceinline__ float fromE4m3(u32 code) {
    return __fmul_rn(__uint_as_float((code & 0x7F) << 20 | (code & 0x80) << 24), 1.329227995784916e36f);  // 2^120
}

__device__ __forceinline__ int nibbleOf(float x, float least, float divisor) {
    return min(max(__float2int_rn(__fdiv_rn(__fsub_rn(x, least), divisor)), 0), 15);
}

// One warp: `size` numbers become codes at `codes`, with their scale at `scales`, floats that may begin at any byte.
__device__ __forceinline__ void storeCodes(int type, const float* numbers, int size, u8* codes, u8* scales) {
    int lane = threadIdx.x % 32;
    float least = __int_as_float(0x7F800000);
    float most = -least;
    for (int d = lane; d < size; d += 32) {
        least = lesser(least, numbers[d]);
        most = greater(most, numbers[d]);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        least = lesser(least, __shfl_xor_sync(~0u, least, distance));
        most = greater(most, __shfl_xor_sync(~0u, most, distance));
    }
    float scale = type == CACHE_INT4 ? __fdiv_rn(__fsub_rn(most, least), 15.0f)
                                     : __fdiv_rn(greater(-least, most), type == CACHE_INT8 ? 127.0f : 448.0f);
    scale = fabsf(scale) < __int_as_float(0x7F800000) ? scale : __int_as_float(0x7FC00000);
    float divisor = scale > 0.0f ? scale : __int_as_float(0x7F800000);
    if (lane < 4 * scaleCount(type)) {
        scales[lane] = __float_as_uint(lane < 4 ? scale : least) >> lane % 4 * 8;
    }
    int count = codeBytes(type, size);
    for (int d = lane; d < count; d += 32) {
        if (type == CACHE_INT4) {
            int high = d + count < size ? nibbleOf(numbers[d + count], least, divisor) : 0;
            codes[d] = high << 4 | nibbleOf(numbers[d], least, divisor);
        } else {
            float x = __fdiv_rn(numbers[d], divisor);
            codes[d] = type == CACHE_FP8 ? toE4m3(x) : (u8)min(max(__float2int_rn(x), -127), 127);
        }
    }
}

// A float that may begin at any byte.
__device__ __forceinline__ float floatAt(const u8* at) {
    return __uint_as_float(at[0] | at[1] << 8 | at[2] << 16 | (u32)at[3] << 24);
}

// Number d of a key or value of `size` numbers; `least` is for INT4 alone.
__device__ __forceinline__ float decoded(int type, const u8* codes, int size, int d, float scale, float least) {
    if (type == CACHE_INT4) {
        int half = (size + 1) / 2;
        int code = d < half ? codes[d] & 15 : codes[d - half] >> 4;
        return __fmaf_rn(scale, (float)code, least);
    }
    return __fmul_rn(scale, type == CACHE_FP8 ? fromE4m3(codes[d]) : (float)(signed char)codes[d]);
}
