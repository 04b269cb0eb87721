// Quantized weights as 16-bit operands of the matrix instructions, eight neighbouring numbers at a time, from shared memory.
//
// Each format is cut into chunks of CHUNK numbers, BYTES bytes; a row of a chunk takes STRIDE bytes in shared memory, an odd
// multiple of 32 that keeps the banks of four rows apart and leaves room for what 16-byte copies bring beside it. A number is
// computed in float32 and rounded once. The host derives the same from each type's blocks (TileFormat), and the names of the
// kernels: FormatX is that of the type X.
#pragma once
#include "format/blocks.cuh"

// Eight bytes at any address: three aligned words, shifted.
__device__ __forceinline__ void eightBytes(const u8* at, u32 (&words)[2]) {
    const u32* from = (const u32*)((u64)at & ~3ull);
    u32 shift = ((u32)(u64)at & 3) * 8;
    u32 middle = from[1];
    words[0] = __funnelshift_r(from[0], middle, shift);
    words[1] = __funnelshift_r(middle, from[2], shift);
}

// Byte i of a word as a float, less `bias`: it becomes the last byte of 2^23 + i.
__device__ __forceinline__ float byteNumber(u32 word, int i, float bias) {
    return __uint_as_float(__byte_perm(word, 0x4B000000u, 0x7440 | i)) - (8388608.0f + bias);
}

// pairs = scale * (bytes - bias) - minimum
template <class T>
__device__ __forceinline__ void scaled(const u32 (&bytes)[2], float bias, float scale, float minimum, u32 (&pairs)[4]) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
        u32 word = bytes[i / 2];
        float low = byteNumber(word, i % 2 * 2, bias);
        float high = byteNumber(word, i % 2 * 2 + 1, bias);
        pairs[i] = pack<T>(fmaf(scale, low, -minimum), fmaf(scale, high, -minimum));
    }
}

__device__ __forceinline__ float evenHalf(const u8* at) {  // at an even address
    return toFloat<F16>(*(const u16*)at);
}

// Chunks of COUNT numbers, in blocks of NUMBERS numbers that take SIZE bytes.
template <int COUNT, int NUMBERS, int SIZE>
struct Chunks {
    static constexpr int CHUNK = COUNT;
    static constexpr int BYTES = COUNT / NUMBERS * SIZE;
    static constexpr int BESIDE = 15 - (SIZE % 2 == 0);  // bytes before a chunk in the first 16 of its row, at most
    static constexpr int STRIDE = (BYTES + BESIDE + 31) / 64 * 64 + 32;
};

// Each: the numbers k until k + 8 of a chunk; k is a multiple of 8.
struct FormatQ8_0 : Chunks<128, 32, 34> {
    template <class T>
    static __device__ __forceinline__ void eight(const u8* chunk, int k, u32 (&pairs)[4]) {
        const u8* block = chunk + k / 32 * 34;
        u32 bytes[2];
        eightBytes(block + 2 + k % 32, bytes);
        bytes[0] ^= 0x80808080u;
        bytes[1] ^= 0x80808080u;
        scaled<T>(bytes, 128.0f, evenHalf(block), 0.0f, pairs);
    }
};

struct FormatQ4_0 : Chunks<256, 32, 18> {
    template <class T>
    static __device__ __forceinline__ void eight(const u8* chunk, int k, u32 (&pairs)[4]) {
        const u8* block = chunk + k / 32 * 18;
        u32 bytes[2];
        eightBytes(block + 2 + k % 16, bytes);
        int shift = k % 32 / 16 * 4;
        bytes[0] = bytes[0] >> shift & 0x0F0F0F0Fu;
        bytes[1] = bytes[1] >> shift & 0x0F0F0F0Fu;
        scaled<T>(bytes, 8.0f, evenHalf(block), 0.0f, pairs);
    }
};

struct FormatQ4_K : Chunks<256, 256, 144> {
    template <class T>
    static __device__ __forceinline__ void eight(const u8* chunk, int k, u32 (&pairs)[4]) {
        int group = k / 32;
        u32 bytes[2];
        eightBytes(chunk + 16 + group / 2 * 32 + k % 32, bytes);
        int shift = group % 2 * 4;
        bytes[0] = bytes[0] >> shift & 0x0F0F0F0Fu;
        bytes[1] = bytes[1] >> shift & 0x0F0F0F0Fu;
        float scale = evenHalf(chunk) * scaleOfK(chunk + 4, group);
        scaled<T>(bytes, 0.0f, scale, evenHalf(chunk + 2) * minimumOfK(chunk + 4, group), pairs);
    }
};

struct FormatQ5_K : Chunks<256, 256, 176> {
    template <class T>
    static __device__ __forceinline__ void eight(const u8* chunk, int k, u32 (&pairs)[4]) {
        int group = k / 32;
        u32 bytes[2];
        u32 fifths[2];
        eightBytes(chunk + 48 + group / 2 * 32 + k % 32, bytes);
        eightBytes(chunk + 16 + k % 32, fifths);
        int shift = group % 2 * 4;
        bytes[0] = (bytes[0] >> shift & 0x0F0F0F0Fu) | (fifths[0] >> group & 0x01010101u) << 4;
        bytes[1] = (bytes[1] >> shift & 0x0F0F0F0Fu) | (fifths[1] >> group & 0x01010101u) << 4;
        float scale = evenHalf(chunk) * scaleOfK(chunk + 4, group);
        scaled<T>(bytes, 0.0f, scale, evenHalf(chunk + 2) * minimumOfK(chunk + 4, group), pairs);
    }
};

struct FormatQ6_K : Chunks<256, 256, 210> {
    template <class T>
    static __device__ __forceinline__ void eight(const u8* chunk, int k, u32 (&pairs)[4]) {
        int within = k % 128;
        u32 bytes[2];
        u32 upper[2];
        eightBytes(chunk + k / 128 * 64 + within % 64, bytes);
        eightBytes(chunk + 128 + k / 128 * 32 + within % 32, upper);
        int shift = within / 64 * 4;
        int upperShift = within / 32 * 2;
        bytes[0] = (bytes[0] >> shift & 0x0F0F0F0Fu) | (upper[0] >> upperShift & 0x03030303u) << 4;
        bytes[1] = (bytes[1] >> shift & 0x0F0F0F0Fu) | (upper[1] >> upperShift & 0x03030303u) << 4;
        scaled<T>(bytes, 32.0f, evenHalf(chunk + 208) * (signed char)chunk[192 + k / 16], 0.0f, pairs);
    }
};

struct FormatIQ4_XS : Chunks<256, 256, 136> {
    template <class T>
    static __device__ __forceinline__ void eight(const u8* chunk, int k, u32 (&pairs)[4]) {
        int group = k / 32;
        u32 bytes[2];
        eightBytes(chunk + 8 + group * 16 + k % 16, bytes);
        int shift = k % 32 / 16 * 4;
#pragma unroll
        for (int i = 0; i < 2; i++) {  // codes are places in a table of 16 bytes, each 128 more than its number
            u32 codes = bytes[i] >> shift;
            u32 second = (codes >> 3 & 0x01010101u) * 255;
            codes &= 0x07070707u;  // one to a byte; four to the lower 16 bits:
            codes = (codes | codes >> 4) & 0x00FF00FFu;
            codes = (codes | codes >> 8) & 0xFFFFu;
            u32 lower = __byte_perm(0x3F2D1801u, 0x766A5D4Fu, codes);
            u32 upper = __byte_perm(0xA6998D81u, 0xF1D9C5B5u, codes);
            bytes[i] = (lower & ~second) | (upper & second);
        }
        int scale = (chunk[4 + group / 2] >> group % 2 * 4 & 15) | (*(const u16*)(chunk + 2) >> group * 2 & 3) << 4;
        scaled<T>(bytes, 128.0f, evenHalf(chunk) * (scale - 32), 0.0f, pairs);
    }
};

struct FormatMXFP4 : Chunks<256, 32, 17> {
    template <class T>
    static __device__ __forceinline__ void eight(const u8* chunk, int k, u32 (&pairs)[4]) {
        const u8* block = chunk + k / 32 * 17;
        u32 bytes[2];
        eightBytes(block + 1 + k % 16, bytes);
        int shift = k % 32 / 16 * 4;
        float scale = halfPower(block[0]);
        u32 signs[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            u32 codes = bytes[i] >> shift;
            signs[i] = (codes & 0x08080808u) << 4;
            codes &= 0x07070707u;  // one to a byte; four to the lower 16 bits:
            codes = (codes | codes >> 4) & 0x00FF00FFu;
            codes = (codes | codes >> 8) & 0xFFFFu;
            bytes[i] = __byte_perm(0x03020100u, 0x0C080604u, codes);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            u32 sign = signs[i / 2] >> i % 2 * 16;
            float low = byteNumber(bytes[i / 2], i % 2 * 2, 0.0f) * scale;
            float high = byteNumber(bytes[i / 2], i % 2 * 2 + 1, 0.0f) * scale;
            low = __uint_as_float(__float_as_uint(low) ^ (sign & 0x80u) << 24);
            high = __uint_as_float(__float_as_uint(high) ^ (sign & 0x8000u) << 16);
            pairs[i] = pack<T>(low, high);
        }
    }
};

// A scale, then a code for each number. Both halves of 16 bits of codes become F16, of which E4M3_UNIT is one.
#if __CUDA_ARCH__ >= 890
constexpr float E4M3_UNIT = 1.0f;
__device__ __forceinline__ u32 pairOfE4M3(u32 codes) {
    u32 pair;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((u16)codes));
    return pair;
}
#else
constexpr float E4M3_UNIT = 256.0f;  // exponents stay as they are, with another bias
__device__ __forceinline__ u32 pairOfE4M3(u32 codes) {
    u32 apart = __byte_perm(codes, 0, 0x1404);
    u32 size = apart & 0x7F007F00u;
    u32 beyond = (size + 0x01000100u & 0x80008000u) >> 1;  // all bits of a size: NaN, which has the largest exponent in F16
    return (apart & 0x80008000u) | size >> 1 | beyond;
}
#endif

struct FormatF8_E4M3_128 : Chunks<128, 128, 132> {
    template <class T>
    static __device__ __forceinline__ void eight(const u8* chunk, int k, u32 (&pairs)[4]) {
        const u32* codes = (const u32*)(chunk + 4 + k);
        float scale = *(const float*)chunk * E4M3_UNIT;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            u32 both = pairOfE4M3(codes[i / 2] >> i % 2 * 16);
            pairs[i] = pack<T>(lowHalf<F16>(both) * scale, highHalf<F16>(both) * scale);
        }
    }
};

// A float32 scale, then a signed byte for each number.
template <int NUMBERS>
struct ScaledBytes : Chunks<128, NUMBERS, NUMBERS + 4> {
    template <class T>
    static __device__ __forceinline__ void eight(const u8* chunk, int k, u32 (&pairs)[4]) {
        const u8* block = chunk + k / NUMBERS * (NUMBERS + 4);
        const u32* codes = (const u32*)(block + 4 + k % NUMBERS);
        u32 bytes[2] = {codes[0] ^ 0x80808080u, codes[1] ^ 0x80808080u};
        scaled<T>(bytes, 128.0f, *(const float*)block, 0.0f, pairs);
    }
};

struct FormatI8_128 : ScaledBytes<128> {};
struct FormatI8_32 : ScaledBytes<32> {};

// A float32 scale, a float32 zero, then 16 bytes of 4-bit codes for each 32 numbers.
template <int NUMBERS>
struct CodesLessZero : Chunks<256, NUMBERS, NUMBERS / 2 + 8> {
    template <class T>
    static __device__ __forceinline__ void eight(const u8* chunk, int k, u32 (&pairs)[4]) {
        const u8* block = chunk + k / NUMBERS * (NUMBERS / 2 + 8);
        float2 factors = *(const float2*)block;
        uint2 codes = *(const uint2*)(block + 8 + k % NUMBERS / 32 * 16 + k % 16);
        int shift = k % 32 / 16 * 4;
        u32 bytes[2] = {codes.x >> shift & 0x0F0F0F0Fu, codes.y >> shift & 0x0F0F0F0Fu};
        scaled<T>(bytes, factors.y, factors.x, 0.0f, pairs);
    }
};

struct FormatI4_128 : CodesLessZero<128> {};
struct FormatI4_32 : CodesLessZero<32> {};

// 16-bit numbers of the activations' type: rows of 128 bytes, whose 16-byte pieces are swapped by halves in odd rows.
struct FormatPlain {
    static constexpr int CHUNK = 64, BYTES = 128, STRIDE = 128;
};
