// The noise by which tokens are drawn, and their weights, with the bits of roselle.sampling.TokenNoise and Exponential.
//
// Noise of a token: exponential with mean 1, a function of (seed, position, id). A span of 32 neighbouring ids has its least
// noise, exponential with mean 1/32, at one of them; that of each other is above by an exponential of its own. Drawn is the
// token with the least noise / weight. Every operation is rounded by itself: no fused steps.
#pragma once
#include "common/elements.cuh"

constexpr int SPAN = 32;
constexpr u32 OF_TOKEN = 0;  // kinds of random bits
constexpr u32 OF_SPAN = 1;

// Philox4x32-10 for the key `seed` and the counter (position, index, kind): the first 64 bits.
__device__ __forceinline__ u64 randomBits(u64 seed, u64 position, u32 index, u32 kind) {
    u32 keyA = (u32)seed;
    u32 keyB = (u32)(seed >> 32);
    u32 a = (u32)position;
    u32 b = (u32)(position >> 32);
    u32 c = index;
    u32 d = kind;
#pragma unroll 1
    for (int round = 0; round < 10; round++) {
        u64 productA = (u64)0xD2511F53u * a;
        u64 productB = (u64)0xCD9E8D57u * c;
        a = (u32)(productB >> 32) ^ b ^ keyA;
        b = (u32)productB;
        c = (u32)(productA >> 32) ^ d ^ keyB;
        d = (u32)productA;
        keyA += 0x9E3779B9u;
        keyB += 0xBB67AE85u;
    }
    return (u64)b << 32 | a;
}

// In [2^-53, 1 - 2^-53]; exact.
__device__ __forceinline__ double fractionOf(u64 bits) {
    return __dmul_rn(__dadd_rn((double)(bits >> 12), 0.5), 0x1p-52);
}

// -log(x) for x in (0, 1).
__device__ __forceinline__ double minusLog(double x) {
    i64 bits = __double_as_longlong(x);
    i64 power = (bits - 0x3FE6A09E667F3BCDll) >> 52;
    double m = __longlong_as_double(bits - power * (1ll << 52));
    double s = __ddiv_rn(__dsub_rn(m, 1.0), __dadd_rn(m, 1.0));
    double t = __dmul_rn(s, s);
    double sum = 2.0 / 19;
    sum = __dadd_rn(__dmul_rn(sum, t), 2.0 / 17);
    sum = __dadd_rn(__dmul_rn(sum, t), 2.0 / 15);
    sum = __dadd_rn(__dmul_rn(sum, t), 2.0 / 13);
    sum = __dadd_rn(__dmul_rn(sum, t), 2.0 / 11);
    sum = __dadd_rn(__dmul_rn(sum, t), 2.0 / 9);
    sum = __dadd_rn(__dmul_rn(sum, t), 2.0 / 7);
    sum = __dadd_rn(__dmul_rn(sum, t), 2.0 / 5);
    sum = __dadd_rn(__dmul_rn(sum, t), 2.0 / 3);
    sum = __dadd_rn(__dmul_rn(sum, t), 2.0);
    return __dsub_rn(-__dmul_rn((double)power, 0.6931471805599453), __dmul_rn(sum, s));
}

// The weight of a token by its logit: exp((x - largest) / temperature).
__device__ __forceinline__ double drawWeight(float x, float largest, double temperature) {
    double quotient = __ddiv_rn(__dsub_rn((double)x, (double)largest), temperature);
    double clamped = quotient > -700.0 ? quotient : -700.0;
    double shifted = __dadd_rn(__dmul_rn(clamped, 1.4426950408889634), 0x1.8p52);
    double power = __dsub_rn(shifted, 0x1.8p52);
    double r = __dsub_rn(__dsub_rn(clamped, __dmul_rn(power, 0x1.62e42fefa0000p-1)), __dmul_rn(power, 0x1.cf79abc9e3b39p-40));
    double sum = 1.0 / 3628800;
    sum = __dadd_rn(__dmul_rn(sum, r), 1.0 / 362880);
    sum = __dadd_rn(__dmul_rn(sum, r), 1.0 / 40320);
    sum = __dadd_rn(__dmul_rn(sum, r), 1.0 / 5040);
    sum = __dadd_rn(__dmul_rn(sum, r), 1.0 / 720);
    sum = __dadd_rn(__dmul_rn(sum, r), 1.0 / 120);
    sum = __dadd_rn(__dmul_rn(sum, r), 1.0 / 24);
    sum = __dadd_rn(__dmul_rn(sum, r), 1.0 / 6);
    sum = __dadd_rn(__dmul_rn(sum, r), 0.5);
    sum = __dadd_rn(__dmul_rn(sum, r), 1.0);
    sum = __dadd_rn(__dmul_rn(sum, r), 1.0);
    return __dmul_rn(sum, __longlong_as_double((__double_as_longlong(shifted) + 1023) << 52));
}

// Noise / weight of the token `id` with the logit x: positive, so that its own bits have its order.
__device__ __noinline__ u64 timeOf(u64 seed, u64 position, int id, float x, float largest, double temperature) {
    u64 span = randomBits(seed, position, id / SPAN, OF_SPAN);
    double noise = __dmul_rn(minusLog(fractionOf(span)), 1.0 / SPAN);
    if (((u32)id ^ (u32)span) % SPAN != 0) {
        noise = __dadd_rn(noise, minusLog(fractionOf(randomBits(seed, position, id, OF_TOKEN))));
    }
    return (u64)__double_as_longlong(__ddiv_rn(noise, drawWeight(x, largest, temperature)));
}
