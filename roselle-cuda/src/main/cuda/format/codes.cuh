// Tiles of codes for Hopper's tensor cores: 64 rows x 128 columns of a weight, in the order in which the lanes of a warpgroup hold
// operand A of wgmma, with the factors of its groups. A number is computed in float32 and rounded once; but codes of 4 bits with a
// scale and a zero, as two products of 16-bit numbers, which differ from that where a scale has more than 16 bits, by 2^-17 before
// it is rounded.
//
// Tile: codes, then factors. In step s of 16 columns, lane l of warp w has the rows r = 16 w + l / 4 and r + 8 and of each the
// columns c, c + 1, c + 8, c + 9 with c = 16 s + l % 4 * 2.
//   4 bits: [4 warps][2 halves][32 lanes][4 steps] words; byte i has column (0, 2, 1, 3)[i] of those, of row r in its lower half.
//   8 bits: [4 warps][4 quarters][32 lanes][2 steps][rows r, r + 8] words; byte i has the i-th of those columns.
//   5 and 6 bits: the lower four as above, then those above them as [4 warps][32 lanes][2 or 4] words of four or two steps each. The
//   column pairs of a step, p = (0: r and c, c + 1; 1: r + 8; 2: r and c + 8, c + 9; 3: r + 8), follow one another in both halves.
// Factors: [128 / GROUP][64 rows] of a scale, or of a scale and a zero; of k-quants [64 rows] of a byte for each scale and minimum
// of a group, then [64 rows] of what they are multiplied with. Zeros past the weight's ends.
#pragma once
#include "format/formats.cuh"

constexpr int CODE_ROWS = 64;
constexpr int CODE_COLUMNS = 128;
constexpr int CODE_STEPS = CODE_COLUMNS / 16;

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

__device__ __forceinline__ u32 sharedWord(u32 address) {
    u32 word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
    return word;
}

__device__ __forceinline__ uint2 sharedWords(u32 address) {
    uint2 words;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(words.x), "=r"(words.y) : "r"(address) : "memory");
    return words;
}

__device__ __forceinline__ float sharedHalf(u32 address) {
    u16 half;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(half) : "r"(address) : "memory");
    return toFloat<F16>(half);
}

// The factors of a row's group, as a tile has them: a scale in float32, with a zero; one in F16, with the same zero everywhere.
struct ScaleAndZero {
    static constexpr u32 BYTES = 8;
    static __device__ __forceinline__ float2 shared(u32 address) {
        return sharedFloats(address);
    }
    static __device__ __forceinline__ float2 of(const u8* from) {
        return *(const float2*)from;
    }
    static __device__ __forceinline__ void put(u8* to, float2 factors) {
        *(float2*)to = factors;
    }
};

struct ScaleAlone {
    static constexpr u32 BYTES = 4;
    static __device__ __forceinline__ float2 shared(u32 address) {
        return make_float2(sharedFloat(address), 0.0f);
    }
    static __device__ __forceinline__ float2 of(const u8* from) {
        return make_float2(*(const float*)from, 0.0f);
    }
    static __device__ __forceinline__ void put(u8* to, float2 factors) {
        *(float*)to = factors.x;
    }
};

template <int ZERO>
struct HalfScale {
    static constexpr u32 BYTES = 2;
    static __device__ __forceinline__ float2 shared(u32 address) {
        return make_float2(sharedHalf(address), ZERO);
    }
    static __device__ __forceinline__ float2 of(const u8* from) {
        return make_float2(half16(from), ZERO);
    }
    static __device__ __forceinline__ void put(u8* to, float2 factors) {
        *(u16*)to = fromFloat<F16>(factors.x);
    }
};

template <int BITS_, int GROUP_, class FACTORS>
struct CodeTile {
    static constexpr int BITS = BITS_;
    static constexpr int GROUP = GROUP_;
    static constexpr u32 CODE_BYTES = CODE_ROWS * CODE_COLUMNS * BITS / 8;
    static constexpr u32 BYTES = CODE_BYTES + CODE_COLUMNS / GROUP * CODE_ROWS * FACTORS::BYTES;
    static constexpr int STEPS_OF_GROUP = GROUP / 16;

    // Where a row's first factors lie; those of the next group are CODE_ROWS * FACTORS::BYTES behind.
    static __device__ __forceinline__ u32 factors(u32 tile, int row) {
        return tile + CODE_BYTES + row * FACTORS::BYTES;
    }
};

// The four bits of a code, low bits first, in a tile that is packed: of the word's j-th code, its row and column.
__device__ __forceinline__ int2 nibblePlace(int word, int j) {
    int lane = word / 4 % 32;
    int step = word / 128 % 2 * 4 + word % 4;
    int place = j / 2 % 2 * 2 + j / 4;
    return make_int2(word / 256 * 16 + lane / 4 + j % 2 * 8, step * 16 + lane % 4 * 2 + place % 2 + place / 2 * 8);
}

// A word of a plane of four bits: `code` tells that of a row and column.
template <class F>
__device__ __forceinline__ u32 nibbleWord(int word, F code) {
    u32 packed = 0;
    for (int j = 0; j < 8; j++) {
        int2 at = nibblePlace(word, j);
        packed |= (code(at.x, at.y) & 15) << j * 4;
    }
    return packed;
}

// The four bits at a row and column of a tile in memory.
__device__ __forceinline__ int nibbleOf(const u8* tile, int row, int column) {
    int step = column / 16;
    int lane = row % 8 * 4 + column % 8 / 2;
    const u8* word = tile + ((row / 16 * 2 + step / 4) * 128 + lane * 4 + step % 4) * 4;
    return word[column % 2 * 2 + column % 16 / 8] >> row % 16 / 8 * 4 & 15;
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

template <int GROUP_, class FACTORS>
struct CodesI4 : CodeTile<4, GROUP_, FACTORS> {
    using Tile = CodeTile<4, GROUP_, FACTORS>;

    // The operand A of all steps for this thread; `tile` and its place in shared memory.
    template <class T>
    static __device__ __forceinline__ void decode(u32 tile, int warp, int lane, u32 (&a)[CODE_STEPS][4]) {
        u32 factors = Tile::factors(tile, warp * 16 + lane / 4);
        PairFactors<T> upper, lower;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            uint4 words = sharedFour(tile + (warp * 2 + half) * 512 + lane * 16);
            u32 codes[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int step = half * 4 + i;
                if (step % Tile::STEPS_OF_GROUP == 0) {
                    u32 group = factors + step / Tile::STEPS_OF_GROUP * CODE_ROWS * FACTORS::BYTES;
                    upper.set(FACTORS::shared(group));
                    lower.set(FACTORS::shared(group + 8 * FACTORS::BYTES));
                }
                a[step][0] = upper.numbers(codes[i]);
                a[step][1] = lower.numbers(codes[i] >> 4);
                a[step][2] = upper.numbers(codes[i] >> 8);
                a[step][3] = lower.numbers(codes[i] >> 12);
            }
        }
    }

    // Word `i` of the codes of a tile, of which `code` tells one.
    template <class F>
    static __device__ __forceinline__ u32 word(int i, F code) {
        return nibbleWord(i, code);
    }

    // A number of a tile in memory.
    static __device__ __forceinline__ float number(const u8* tile, int row, int column) {
        float2 factors = FACTORS::of(tile + Tile::CODE_BYTES + (column / GROUP_ * CODE_ROWS + row) * FACTORS::BYTES);
        return __fmul_rn(factors.x, (float)nibbleOf(tile, row, column) - factors.y);
    }
};

// Eight bits, with a scale for each group; KIND says how four codes become numbers.
template <int GROUP_, class KIND, class FACTORS>
struct CodesOfBytes : CodeTile<8, GROUP_, FACTORS> {
    using Tile = CodeTile<8, GROUP_, FACTORS>;

    template <class T>
    static __device__ __forceinline__ void decode(u32 tile, int warp, int lane, u32 (&a)[CODE_STEPS][4]) {
        u32 factors = Tile::factors(tile, warp * 16 + lane / 4);
        float upper, lower;
#pragma unroll
        for (int quarter = 0; quarter < 4; quarter++) {
            uint4 words = sharedFour(tile + (warp * 4 + quarter) * 512 + lane * 16);
            u32 codes[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
            for (int i = 0; i < 2; i++) {
                int step = quarter * 2 + i;
                if (step % Tile::STEPS_OF_GROUP == 0) {
                    u32 group = factors + step / Tile::STEPS_OF_GROUP * CODE_ROWS * FACTORS::BYTES;
                    upper = FACTORS::shared(group).x;
                    lower = FACTORS::shared(group + 8 * FACTORS::BYTES).x;
                }
                KIND::template four<T>(codes[i * 2], upper, a[step][0], a[step][2]);
                KIND::template four<T>(codes[i * 2 + 1], lower, a[step][1], a[step][3]);
            }
        }
    }

    template <class F>
    static __device__ __forceinline__ u32 word(int i, F code) {
        int lane = i / 4 % 32;
        int step = i / 128 % 4 * 2 + i % 4 / 2;
        u32 packed = 0;
        for (int j = 0; j < 4; j++) {
            packed |= code(i / 512 * 16 + lane / 4 + i % 2 * 8, step * 16 + lane % 4 * 2 + j % 2 + j / 2 * 8) << j * 8;
        }
        return packed;
    }

    static __device__ __forceinline__ float number(const u8* tile, int row, int column) {
        int step = column / 16;
        int lane = row % 8 * 4 + column % 8 / 2;
        const u8* word = tile + ((row / 16 * 4 + step / 2) * 128 + lane * 4 + step % 2 * 2 + row % 16 / 8) * 4;
        float2 factors = FACTORS::of(tile + Tile::CODE_BYTES + (column / GROUP_ * CODE_ROWS + row) * FACTORS::BYTES);
        return __fmul_rn(KIND::one(word[column % 2 + column % 16 / 8 * 2]), factors.x);
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

// Blocks as they come: NUMBERS numbers in BYTES bytes, of which code() tells one; a group's factors go to a tile as they are.
template <class CODES, class FACTORS, int NUMBERS, int BYTES>
struct CodesOfBlocks : CODES {
    static constexpr int BLOCK = NUMBERS;
    static constexpr int BLOCK_BYTES = BYTES;

    // Puts the factors of the group at a row and column of a tile, whose block is null past the weight's ends.
    static __device__ __forceinline__ void putFactors(u8* tile, int row, int column, const u8* block, int) {
        u8* to = tile + CODES::CODE_BYTES + (column / CODES::GROUP * CODE_ROWS + row) * FACTORS::BYTES;
        FACTORS::put(to, block ? FACTORS::of(block) : make_float2(0.0f, 0.0f));
    }
};

template <int GROUP>
struct JoinedNibbles : CodesOfBlocks<CodesI4<GROUP, ScaleAndZero>, ScaleAndZero, GROUP, GROUP / 2 + 8> {
    static __device__ __forceinline__ u32 code(const u8* block, int k) {
        return nibble(block + 8 + k / 32 * 16, k % 32);
    }
};

template <int GROUP, class KIND>
struct JoinedBytes : CodesOfBlocks<CodesOfBytes<GROUP, KIND, ScaleAlone>, ScaleAlone, GROUP, GROUP + 4> {
    static __device__ __forceinline__ u32 code(const u8* block, int k) {
        return block[4 + k];
    }
};

// A group's scale and minimum as bytes, [64 rows][4 groups], times those of the row's block: scale * code - minimum.
struct ScalesAndMinimums {
    static constexpr int GROUP = 32;
    static constexpr u32 ROW_BYTES = 8;
    static constexpr u32 BLOCK_BYTES = 4;
    static constexpr int SCALES = 4;  // where a block's bytes of scales begin
    uint2 bytes;
    float scaleOfBlock, minimumOfBlock;
    float scale, offset;

    __device__ __forceinline__ void open(u32 rows, u32 blocks, int row) {
        bytes = sharedWords(rows + row * ROW_BYTES);
        u32 both = sharedWord(blocks + row * BLOCK_BYTES);
        scaleOfBlock = lowHalf<F16>(both);
        minimumOfBlock = highHalf<F16>(both);
    }
    // So that a number is scale * (128 + code) + offset.
    __device__ __forceinline__ void set(int group) {
        u32 word = group < 2 ? bytes.x : bytes.y;
        scale = scaleOfBlock * byteNumber(word, group % 2 * 2, 0.0f);
        offset = -fmaf(128.0f, scale, minimumOfBlock * byteNumber(word, group % 2 * 2 + 1, 0.0f));
    }
    static __device__ __forceinline__ void put(u8* rows, u8* blocks, int row, int group, const u8* block, int k) {
        rows[row * ROW_BYTES + group * 2] = block ? scaleOfK(block + SCALES, k / GROUP) : 0;
        rows[row * ROW_BYTES + group * 2 + 1] = block ? minimumOfK(block + SCALES, k / GROUP) : 0;
        if (group == 0) {
            *(u32*)(blocks + row * BLOCK_BYTES) = block ? *(const u32*)block : 0;
        }
    }
    static __device__ __forceinline__ float number(const u8* rows, const u8* blocks, int row, int group, int code) {
        const u8* bytes = rows + row * ROW_BYTES + group * 2;
        float scale = __fmul_rn(half16(blocks + row * BLOCK_BYTES), (float)bytes[0]);
        float minimum = __fmul_rn(half16(blocks + row * BLOCK_BYTES + 2), (float)bytes[1]);
        return __fsub_rn(__fmul_rn(scale, (float)code), minimum);
    }
};

// A group's scale as a byte, 128 more than it is, [64 rows][8 groups], times that of the row's block: scale * (code - 32).
struct SignedScales {
    static constexpr int GROUP = 16;
    static constexpr u32 ROW_BYTES = 8;
    static constexpr u32 BLOCK_BYTES = 2;
    static constexpr int SCALES = 192;
    static constexpr int SCALE_OF_BLOCK = 208;
    uint2 bytes;
    float scaleOfBlock;
    float scale, offset;

    __device__ __forceinline__ void open(u32 rows, u32 blocks, int row) {
        bytes = sharedWords(rows + row * ROW_BYTES);
        scaleOfBlock = sharedHalf(blocks + row * BLOCK_BYTES);
    }
    __device__ __forceinline__ void set(int group) {
        scale = scaleOfBlock * byteNumber(group < 4 ? bytes.x : bytes.y, group % 4, 128.0f);
        offset = -160.0f * scale;
    }
    static __device__ __forceinline__ void put(u8* rows, u8* blocks, int row, int group, const u8* block, int k) {
        rows[row * ROW_BYTES + group] = block ? block[SCALES + k / GROUP] ^ 0x80 : 0x80;
        if (group == 0) {
            *(u16*)(blocks + row * BLOCK_BYTES) = block ? *(const u16*)(block + SCALE_OF_BLOCK) : 0;
        }
    }
    static __device__ __forceinline__ float number(const u8* rows, const u8* blocks, int row, int group, int code) {
        float scale = __fmul_rn(half16(blocks + row * BLOCK_BYTES), (float)(rows[row * ROW_BYTES + group] - 128));
        return __fmul_rn(scale, (float)(code - 32));
    }
};

// k-quants: 4 + UPPER bits, blocks of 256.
template <int UPPER, class FACTORS, int BYTES_>
struct CodesOfK {
    static constexpr int BITS = 4 + UPPER;
    static constexpr int GROUP = FACTORS::GROUP;
    static constexpr int BLOCK = 256;
    static constexpr int BLOCK_BYTES = BYTES_;
    static constexpr u32 LOWER_BYTES = CODE_ROWS * CODE_COLUMNS / 2;
    static constexpr u32 CODE_BYTES = CODE_ROWS * CODE_COLUMNS * BITS / 8;
    static constexpr u32 BLOCKS_AT = CODE_BYTES + CODE_ROWS * FACTORS::ROW_BYTES;
    static constexpr u32 BYTES = BLOCKS_AT + CODE_ROWS * FACTORS::BLOCK_BYTES;
    static constexpr int STEPS_OF_GROUP = GROUP / 16;
    static constexpr int STEPS_OF_WORD = UPPER == 0 ? CODE_STEPS : 4 / UPPER;  // of the upper bits
    static constexpr int WORDS = 2 * UPPER;  // of a thread
    static constexpr u32 UPPER_BITS = ((1 << UPPER) - 1) << 4;

    // A pair of codes as 16-bit numbers that are 128 more (bfloat16).
    static __device__ __forceinline__ u32 raised(u32 codes, const u32* upper, int step, int pair) {
        u32 y;
        asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(y) : "r"(codes >> 4 * pair), "n"(0x000F000F), "n"(0x43004300));
        if (UPPER > 0) {
            u32 word = upper[step / STEPS_OF_WORD];
            int at = (step % STEPS_OF_WORD * 4 + pair) * UPPER;
            u32 moved = at < 4 ? word << (4 - at) : word >> (at - 4);
            y |= moved & UPPER_BITS * 0x00010001u;
        }
        return y;
    }

    template <class T>
    static __device__ __forceinline__ u32 numbers(u32 raised, const FACTORS& factors) {
        float low = __uint_as_float(raised << 16);
        float high = __uint_as_float(raised & 0xFFFF0000u);
        return pack<T>(fmaf(factors.scale, low, factors.offset), fmaf(factors.scale, high, factors.offset));
    }

    template <class T>
    static __device__ __forceinline__ void decode(u32 tile, int warp, int lane, u32 (&a)[CODE_STEPS][4]) {
        int row = warp * 16 + lane / 4;
        FACTORS top, bottom;
        top.open(tile + CODE_BYTES, tile + BLOCKS_AT, row);
        bottom.open(tile + CODE_BYTES, tile + BLOCKS_AT, row + 8);
        u32 upper[4] = {};
        u32 mine = tile + LOWER_BYTES + (warp * 32 + lane) * WORDS * 4;
        if (UPPER == 1) {
            uint2 words = sharedWords(mine);
            upper[0] = words.x;
            upper[1] = words.y;
        } else if (UPPER == 2) {
            uint4 words = sharedFour(mine);
            upper[0] = words.x;
            upper[1] = words.y;
            upper[2] = words.z;
            upper[3] = words.w;
        }
#pragma unroll
        for (int half = 0; half < 2; half++) {
            uint4 words = sharedFour(tile + (warp * 2 + half) * 512 + lane * 16);
            u32 codes[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int step = half * 4 + i;
                if (step % STEPS_OF_GROUP == 0) {
                    top.set(step / STEPS_OF_GROUP);
                    bottom.set(step / STEPS_OF_GROUP);
                }
                a[step][0] = numbers<T>(raised(codes[i], upper, step, 0), top);
                a[step][1] = numbers<T>(raised(codes[i], upper, step, 1), bottom);
                a[step][2] = numbers<T>(raised(codes[i], upper, step, 2), top);
                a[step][3] = numbers<T>(raised(codes[i], upper, step, 3), bottom);
            }
        }
    }

    template <class F>
    static __device__ __forceinline__ u32 word(int i, F code) {
        if (i < (int)LOWER_BYTES / 4) {
            return nibbleWord(i, code);
        }
        int lane = (i - LOWER_BYTES / 4) / max(WORDS, 1) % 32;
        int warp = (i - LOWER_BYTES / 4) / max(WORDS, 1) / 32;
        u32 packed = 0;
        for (int j = 0; j < STEPS_OF_WORD * 8; j++) {
            int pair = j / 2 % 4;
            int step = (i - LOWER_BYTES / 4) % max(WORDS, 1) * STEPS_OF_WORD + j / 8;
            int row = warp * 16 + lane / 4 + pair % 2 * 8;
            int column = step * 16 + lane % 4 * 2 + pair / 2 * 8 + j % 2;
            packed |= (code(row, column) >> 4) << ((j / 8 * 4 + pair) * UPPER + j % 2 * 16);
        }
        return packed;
    }

    static __device__ __forceinline__ void putFactors(u8* tile, int row, int column, const u8* block, int k) {
        FACTORS::put(tile + CODE_BYTES, tile + BLOCKS_AT, row, column / GROUP, block, k);
    }

    static __device__ __forceinline__ float number(const u8* tile, int row, int column) {
        int code = nibbleOf(tile, row, column);
        if (UPPER > 0) {
            int step = column / 16;
            int pair = column % 16 / 8 * 2 + row % 16 / 8;
            const u32* words = (const u32*)(tile + LOWER_BYTES) + (row / 16 * 32 + row % 8 * 4 + column % 8 / 2) * WORDS;
            u32 bits = words[step / STEPS_OF_WORD] >> ((step % STEPS_OF_WORD * 4 + pair) * UPPER + column % 2 * 16);
            code |= (bits & ((1 << UPPER) - 1)) << 4;
        }
        return FACTORS::number(tile + CODE_BYTES, tile + BLOCKS_AT, row, column / GROUP, code);
    }
};

struct CodesI4_128 : JoinedNibbles<128> {};
struct CodesI4_32 : JoinedNibbles<32> {};
struct CodesI8_128 : JoinedBytes<128, SignedBytes> {};
struct CodesI8_32 : JoinedBytes<32, SignedBytes> {};
struct CodesF8_E4M3_128 : JoinedBytes<128, E4m3> {};

struct CodesQ8_0 : CodesOfBlocks<CodesOfBytes<32, SignedBytes, HalfScale<0>>, HalfScale<0>, 32, 34> {
    static __device__ __forceinline__ u32 code(const u8* block, int k) {
        return block[2 + k];
    }
};

struct CodesQ4_0 : CodesOfBlocks<CodesI4<32, HalfScale<8>>, HalfScale<8>, 32, 18> {
    static __device__ __forceinline__ u32 code(const u8* block, int k) {
        return nibble(block + 2, k);
    }
};

struct CodesQ4_K : CodesOfK<0, ScalesAndMinimums, 144> {
    static __device__ __forceinline__ u32 code(const u8* block, int k) {
        return block[16 + k / 64 * 32 + k % 32] >> k / 32 % 2 * 4 & 15;
    }
};

struct CodesQ5_K : CodesOfK<1, ScalesAndMinimums, 176> {
    static __device__ __forceinline__ u32 code(const u8* block, int k) {
        u32 lower = block[48 + k / 64 * 32 + k % 32] >> k / 32 % 2 * 4 & 15;
        return lower | (block[16 + k % 32] >> k / 32 & 1) << 4;
    }
};

struct CodesQ6_K : CodesOfK<2, SignedScales, 210> {
    static __device__ __forceinline__ u32 code(const u8* block, int k) {
        u32 lower = block[k / 128 * 64 + k % 64] >> k % 128 / 64 * 4 & 15;
        return lower | (block[128 + k / 128 * 32 + k % 32] >> k % 128 / 32 * 2 & 3) << 4;
    }
};
