// 16-bit floating-point numbers without the toolkit's headers: NVRTC brings none, and the PTX below is all they would give.
#pragma once

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

struct Bf16 {};
struct F16 {};

template <class T>
__device__ __forceinline__ float toFloat(u16 bits);

template <>
__device__ __forceinline__ float toFloat<Bf16>(u16 bits) {
    return __uint_as_float((u32)bits << 16);
}

template <>
__device__ __forceinline__ float toFloat<F16>(u16 bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

// Two numbers, the first in the low half; rounded to nearest, ties to even.
template <class T>
__device__ __forceinline__ u32 pack(float low, float high);

template <>
__device__ __forceinline__ u32 pack<Bf16>(float low, float high) {
    u32 bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
}

template <>
__device__ __forceinline__ u32 pack<F16>(float low, float high) {
    u32 bits;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
}

template <class T>
__device__ __forceinline__ u16 fromFloat(float value) {
    return (u16)pack<T>(value, 0.0f);
}

template <class T>
__device__ __forceinline__ float lowHalf(u32 bits) {
    return toFloat<T>((u16)(bits & 0xFFFF));
}

template <class T>
__device__ __forceinline__ float highHalf(u32 bits) {
    return toFloat<T>((u16)(bits >> 16));
}

// a * b + c of two numbers each.
template <class T>
__device__ __forceinline__ u32 fmaPair(u32 a, u32 b, u32 c);

template <>
__device__ __forceinline__ u32 fmaPair<Bf16>(u32 a, u32 b, u32 c) {
    u32 d;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

template <>
__device__ __forceinline__ u32 fmaPair<F16>(u32 a, u32 b, u32 c) {
    u32 d;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

// The less of two numbers, NaN where there is one.
__device__ __forceinline__ float lesser(float a, float b) {
    float least;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
    return least;
}

__device__ __forceinline__ float greater(float a, float b) {
    float most;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
    return most;
}
