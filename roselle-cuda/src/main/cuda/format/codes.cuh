// Tiles of codes for Hopper's tensor cores: 64 rows x 128 columns of a weight, in the order in which the lanes of a warpgroup hold
// operand A of wgmma, with the factors of its groups. A number of 8 bits is computed in float32 and rounded once; of 4 bits,
// as two products of 16-bit numbers, which differ from that where a scale has more than 16 bits, by 2^-17 before it is rounded.
//
// Tile: codes, then factors. In step s of 16 columns, lane l of warp w has the rows r = 16 w + l / 4 and r + 8 and of each the
// columns c, c + 1, c + 8, c + 9 with c = 16 s + l % 4 * 2.
//   4 bits: [4 warps][2 halves][32 lanes][4 steps] words; byte i has column (0, 2, 1, 3)[i] of those, of row r in its lower half.
//   8 bits: [4 warps][4 quarters][32 lanes][2 steps][rows r, r + 8] words; byte i has the i-th of those columns.
// Factors: [128 / GROUP][64 rows] of a scale, or of a scale and a zero. Zeros past the weight's ends.
#pragma once
#include "format/formats.cuh"

constexpr int CODE_ROWS = 64;
constexpr int CODE_COLUMNS = 128;
constexpr int CODE_STEPS = CODE_COLUMNS / 16;

template <int BITS_, int GROUP_, int FACTORS>
struct CodeTile {
    static constexpr int BITS = BITS_;
    static constexpr int GROUP = GROUP_;
    static constexpr u32 CODE_BYTES = CODE_ROWS * CODE_COLUMNS * BITS / 8;
    static constexpr u32 FACTOR_BYTES = FACTORS * 4;  // of a row's group
    static constexpr u32 BYTES = CODE_BYTES + CODE_COLUMNS / GROUP * CODE_ROWS * FACTOR_BYTES;
    static constexpr int STEPS_OF_GROUP = GROUP / 16;
};

__device__ __forceinline__ uint4 sharedFour(u32 address) {
    uint4 words;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
        : "r"(address)
        : "memory");
    return words;
}

__device__ __forceinline__ float sharedFloat(u32 address) {
    float value;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
    return value;
}

__device__ __forceinline__ float2 sharedFloats(u32 address) {
    float2 value;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(value.x), "=f"(value.y) : "r"(address) : "memory");
    return value;
}

// Pairs of 16-bit numbers: two at once.
template <class T>
struct Pairs;

template <>
struct Pairs<Bf16> {
    static constexpr u32 RAISED = 0x43004300u;  // 128: codes are the last bits of their sum with it
    static constexpr float RAISED_BY = 128.0f;

    static __device__ __forceinline__ u32 subtract(u32 a, u32 b) {
        u32 y;
        asm("sub.rn.bf16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
        return y;
    }
    static __device__ __forceinline__ u32 multiply(u32 a, u32 b) {
        u32 y;
        asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
        return y;
    }
    static __device__ __forceinline__ u32 multiplyAdd(u32 a, u32 b, u32 c) {
        u32 y;
        asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(a), "r"(b), "r"(c));
        return y;
    }
};

template <>
struct Pairs<F16> {
    static constexpr u32 RAISED = 0x64006400u;  // 1,024
    static constexpr float RAISED_BY = 1024.0f;

    static __device__ __forceinline__ u32 subtract(u32 a, u32 b) {
        u32 y;
        asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
        return y;
    }
    static __device__ __forceinline__ u32 multiply(u32 a, u32 b) {
        u32 y;
        asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
        return y;
    }
    static __device__ __forceinline__ u32 multiplyAdd(u32 a, u32 b, u32 c) {
        u32 y;
        asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(a), "r"(b), "r"(c));
        return y;
    }
};

// What a pair of codes below 16 is multiplied with: the scale in two parts, each of 16 bits, and the zero, all of them twice.
template <class T>
struct PairFactors {
    u32 zero;
    u32 scale;
    u32 rest;

    __device__ __forceinline__ void set(float2 factors) {
        scale = pack<T>(factors.x, factors.x);
        float remainder = factors.x - lowHalf<T>(scale);
        rest = pack<T>(remainder, remainder);
        float raised = Pairs<T>::RAISED_BY + factors.y;
        zero = pack<T>(raised, raised);
    }
    // The numbers of codes in bits 0 to 3 and 16 to 19 of a word whose other bits do not matter.
    __device__ __forceinline__ u32 numbers(u32 codes) const {
        u32 raised;  // (codes & 0x000F000F) | RAISED, which a compiler makes two instructions of
        asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(raised) : "r"(codes), "n"(0x000F000F), "r"(Pairs<T>::RAISED));
        u32 units = Pairs<T>::subtract(raised, zero);
        return Pairs<T>::multiplyAdd(units, scale, Pairs<T>::multiply(units, rest));
    }
};

template <int GROUP_>
struct CodesI4 : CodeTile<4, GROUP_, 2> {
    using Tile = CodeTile<4, GROUP_, 2>;

    // The operand A of all steps for this thread; `tile` and its place in shared memory.
    template <class T>
    static __device__ __forceinline__ void decode(u32 tile, int warp, int lane, u32 (&a)[CODE_STEPS][4]) {
        u32 factors = tile + Tile::CODE_BYTES + (warp * 16 + lane / 4) * 8;
        PairFactors<T> upper, lower;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            uint4 words = sharedFour(tile + (warp * 2 + half) * 512 + lane * 16);
            u32 codes[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int step = half * 4 + i;
                if (step % Tile::STEPS_OF_GROUP == 0) {
                    upper.set(sharedFloats(factors + step / Tile::STEPS_OF_GROUP * CODE_ROWS * 8));
                    lower.set(sharedFloats(factors + step / Tile::STEPS_OF_GROUP * CODE_ROWS * 8 + 64));
                }
                a[step][0] = upper.numbers(codes[i]);
                a[step][1] = lower.numbers(codes[i] >> 4);
                a[step][2] = upper.numbers(codes[i] >> 8);
                a[step][3] = lower.numbers(codes[i] >> 12);
            }
        }
    }

    // What the two factors of a block are here.
    static __device__ __forceinline__ float2 factors(const u8* block) {
        return *(const float2*)block;
    }
    static __device__ __forceinline__ u32 code(const u8* block, int k) {
        return nibble(block + 8 + k / 32 * 16, k % 32);
    }
    static constexpr int BLOCK_BYTES = GROUP_ / 2 + 8;

    // A number of a tile in memory.
    static __device__ __forceinline__ float number(const u8* tile, int row, int column) {
        int step = column / 16;
        int lane = row % 8 * 4 + column % 8 / 2;
        const u8* word = tile + ((row / 16 * 2 + step / 4) * 128 + lane * 4 + step % 4) * 4;
        const float* factors = (const float*)(tile + Tile::CODE_BYTES) + (column / GROUP_ * CODE_ROWS + row) * 2;
        int code = word[column % 2 * 2 + column % 16 / 8] >> row % 16 / 8 * 4 & 15;
        return __fmul_rn(factors[0], (float)code - factors[1]);
    }
};

// Eight bits, with a scale for each group; KIND says how four codes become numbers.
template <int GROUP_, class KIND>
struct CodesOfBytes : CodeTile<8, GROUP_, 1> {
    using Tile = CodeTile<8, GROUP_, 1>;

    template <class T>
    static __device__ __forceinline__ void decode(u32 tile, int warp, int lane, u32 (&a)[CODE_STEPS][4]) {
        u32 factors = tile + Tile::CODE_BYTES + (warp * 16 + lane / 4) * 4;
        float upper, lower;
#pragma unroll
        for (int quarter = 0; quarter < 4; quarter++) {
            uint4 words = sharedFour(tile + (warp * 4 + quarter) * 512 + lane * 16);
            u32 codes[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
            for (int i = 0; i < 2; i++) {
                int step = quarter * 2 + i;
                if (step % Tile::STEPS_OF_GROUP == 0) {
                    upper = sharedFloat(factors + step / Tile::STEPS_OF_GROUP * CODE_ROWS * 4);
                    lower = sharedFloat(factors + step / Tile::STEPS_OF_GROUP * CODE_ROWS * 4 + 32);
                }
                KIND::template four<T>(codes[i * 2], upper, a[step][0], a[step][2]);
                KIND::template four<T>(codes[i * 2 + 1], lower, a[step][1], a[step][3]);
            }
        }
    }

    static __device__ __forceinline__ float2 factors(const u8* block) {
        return make_float2(*(const float*)block, 0.0f);
    }
    static __device__ __forceinline__ u32 code(const u8* block, int k) {
        return block[4 + k];
    }
    static constexpr int BLOCK_BYTES = GROUP_ + 4;

    static __device__ __forceinline__ float number(const u8* tile, int row, int column) {
        int step = column / 16;
        int lane = row % 8 * 4 + column % 8 / 2;
        const u8* word = tile + ((row / 16 * 4 + step / 2) * 128 + lane * 4 + step % 2 * 2 + row % 16 / 8) * 4;
        const float* scales = (const float*)(tile + Tile::CODE_BYTES) + column / GROUP_ * CODE_ROWS + row;
        return __fmul_rn(KIND::one(word[column % 2 + column % 16 / 8 * 2]), *scales);
    }
};

struct SignedBytes {
    static __device__ __forceinline__ float one(u8 code) {
        return (float)(signed char)code;
    }
    template <class T>
    static __device__ __forceinline__ void four(u32 codes, float scale, u32& low, u32& high) {
        u32 shifted = codes ^ 0x80808080u;
        float number[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            number[i] = __fmul_rn(byteNumber(shifted, i, 128.0f), scale);
        }
        low = pack<T>(number[0], number[1]);
        high = pack<T>(number[2], number[3]);
    }
};

struct E4m3 {
    static __device__ __forceinline__ float one(u8 code) {
        return e4m3(code);
    }
    template <class T>
    static __device__ __forceinline__ void four(u32 codes, float scale, u32& low, u32& high) {
        u32 first = pairOfE4M3(codes);
        u32 second = pairOfE4M3(codes >> 16);
        float factor = scale * E4M3_UNIT;
        low = pack<T>(lowHalf<F16>(first) * factor, highHalf<F16>(first) * factor);
        high = pack<T>(lowHalf<F16>(second) * factor, highHalf<F16>(second) * factor);
    }
};

struct CodesI4_128 : CodesI4<128> {};
struct CodesI4_32 : CodesI4<32> {};
struct CodesI8_128 : CodesOfBytes<128, SignedBytes> {};
struct CodesI8_32 : CodesOfBytes<32, SignedBytes> {};
struct CodesF8_E4M3_128 : CodesOfBytes<128, E4m3> {};
