// Tiles of attention (attention.cuh) from pages of codes: what pages hold is copied as it is, and becomes the 16-bit numbers of a
// tile just before it is used.
//
// cache: pages of `pageElements` bytes: codes of keys [keyHeads, 16, BYTES], of values, scales of keys [keyHeads, 16, SCALES],
// of values (KvGroup.java). A stage has the same of one head and 64 positions.
// Codes of 8 bits are 16-bit numbers exactly, up to a power of 2: those of keys stay what they are, and their scale goes to the
// products; values are multiplied with their scale, rounded to 16 bits. Numbers of INT4 are one fma of 16 bits. Which numbers these
// are depends on nothing but the codes, so rows keep their bits among few and many.
#pragma once
#include "attention/attention.cuh"

template <class T>
constexpr bool IS_BF16 = false;
template <>
constexpr bool IS_BF16<Bf16> = true;

#define MINUS_ZEROS 0x80008000  // added to a product they change nothing

// Pages of numbers: a stage is the tile.
struct Plain {
    static constexpr bool IS_CODED = false;
    static constexpr bool IS_BULK = false;
    template <int SIZE>
    using Rows = PaddedRows<SIZE>;
    template <int SIZE>
    static constexpr u32 STAGE_BYTES = TILE_BYTES<SIZE>;
    template <int SIZE>
    static constexpr u32 DECODED_BYTES = 0;
};

// Pages of codes of so many bits, with so many scales for each key or value.
template <int BITS, int SCALES>
struct Codes {
    static constexpr bool IS_CODED = true;
    static constexpr bool IS_BULK = false;
    template <int SIZE>
    using Rows = PaddedRows<SIZE>;
    static constexpr u32 SCALE_BYTES = SCALES * 4;
    template <int SIZE>
    static constexpr u32 BYTES = SIZE * BITS / 8;
    template <int SIZE>
    static constexpr u32 STAGE_BYTES = 2 * TILE * (BYTES<SIZE> + SCALE_BYTES);
    template <int SIZE>
    static constexpr u32 DECODED_BYTES = TILE_BYTES<SIZE>;  // of the tile, before the stages

    // Of keys in a stage; values' are behind them.
    template <int SIZE>
    __device__ __forceinline__ static const float* scales(const unsigned char* stage) {
        return (const float*)(stage + 2 * TILE * BYTES<SIZE>);
    }
};

struct Fp8Codes : Codes<8, 1> {
    template <class T>
    static constexpr float UNIT = IS_BF16<T> ? 1.0f : 256.0f;  // codes come divided by it

    // Two codes, in bytes `first` and the next, as numbers.
    template <class T, int first>
    __device__ __forceinline__ static u32 pair(u32 codes) {
        u32 high = __byte_perm(codes, 0, first == 0 ? 0x1404 : 0x3424);  // each in the upper half of a number
        if (IS_BF16<T>) {
            u32 small = (high >> 4 & 0x07F007F0) | (high & 0x80008000);
            return fmaPair<T>(small, 0x7B807B80, MINUS_ZEROS);  // 2^120
        }
        return (high >> 1 & 0x3F803F80) | (high & 0x80008000);
    }
};

struct Int8Codes : Codes<8, 1> {
    template <class T>
    static constexpr float UNIT = IS_BF16<T> ? 1.0f : 128.0f;

    template <class T, int first>
    __device__ __forceinline__ static u32 pair(u32 codes) {
        constexpr u32 BYTES_OF_PAIR = first == 0 ? 0x4140 : 0x4342;
        if (IS_BF16<T>) {  // 128 plus the lower seven bits, less 128, or 256 where the code is negative
            u32 bits = __byte_perm(codes, 0x43434343, BYTES_OF_PAIR);
            return fmaPair<T>(bits & 0xFF80FF80, 0xBF80BF80, bits & 0xFF7FFF7F);
        }
        u32 bits = __byte_perm(codes ^ 0x80808080, 0x64646464, BYTES_OF_PAIR);  // 1024 + 128 + the code
        return fmaPair<T>(bits, 0x20002000, 0xC880C880);  // divided by 128, less 9
    }
};

struct Int4Codes : Codes<4, 2> {
    // Two codes, each in the lower half of a byte, as numbers.
    template <class T, int first>
    __device__ __forceinline__ static u32 pair(u32 codes) {
        u32 bits = __byte_perm(codes, IS_BF16<T> ? 0x43434343 : 0x64646464, first == 0 ? 0x4140 : 0x4342);
        return IS_BF16<T> ? fmaPair<T>(bits, 0x3F803F80, 0xC300C300)  // 128 too many
                          : fmaPair<T>(bits, 0x3C003C00, 0xE400E400);  // 1024
    }
};

// Copies what pages have of a tile's positions; what they do not have stays as it was.
template <class Kv, int SIZE, int THREADS, class Pages>
__device__ __forceinline__ void loadCodes(
    const Attention& p, const Pages& pages, int keyHead, int tile, int first, int end, u32 to) {
    constexpr int PAGES = TILE / PAGE;
    constexpr int COPYING = THREADS / PAGES;  // threads of a page
    constexpr u32 ROW = Kv::template BYTES<SIZE>;
    constexpr u32 RUNS[2] = {ROW, Kv::SCALE_BYTES};  // bytes of a key, and of its scales: as many copies for a page
    int i = threadIdx.x / COPYING;
    int page = tile * PAGES + i;
    if (page * PAGE >= end || (page + 1) * PAGE <= first) {
        return;
    }
    const unsigned char* from = (const unsigned char*)p.cache + pageOf(pages, page, true) * p.pageElements;
#pragma unroll
    for (int kind = 0; kind < 4; kind++) {  // keys, values, their scales
        int bytes = RUNS[kind / 2];
        const unsigned char* run = from + (i64)keyHead * PAGE * bytes;
#pragma unroll
        for (int c = 0; c < bytes; c += COPYING) {
            int chunk = c + threadIdx.x % COPYING;
            if (bytes % COPYING == 0 || chunk < bytes) {
                copy16(to + i * PAGE * bytes + chunk * 16, run + chunk * 16, true);
            }
        }
        from += (i64)p.keyHeads * PAGE * bytes;
        to += TILE * bytes;
    }
}

// A stage becomes a tile at `to`; values of positions that are not seen become 0.
template <class T, class Kv, int SIZE, int THREADS>
__device__ __forceinline__ void decodeTile(const unsigned char* stage, unsigned char* to, int tile, int first, int end) {
    constexpr int PIECES = Kv::template BYTES<SIZE> / 8;
    constexpr bool IS_INT4 = Kv::SCALE_BYTES == 8;
    const float* scales = Kv::template scales<SIZE>(stage);
#pragma unroll 4
    for (int i = threadIdx.x; i < 2 * TILE * PIECES; i += THREADS) {
        int row = i / PIECES;  // keys, then values
        int piece = i % PIECES;
        bool isValue = row >= TILE;
        int position = tile * TILE + row % TILE;
        bool isSeen = !isValue || (position >= first && position < end);
        uint2 codes = *(const uint2*)(stage + i * 8);
        u16* at = (u16*)to + row * STRIDE<SIZE> + piece * 8;
        if constexpr (IS_INT4) {
            float2 s = isSeen ? ((const float2*)scales)[row] : make_float2(0.0f, 0.0f);
            u32 scale = pack<T>(s.x, s.x);
            u32 least = pack<T>(s.y, s.y);
#pragma unroll
            for (int half = 0; half < 2; half++) {
                u32 a = codes.x >> half * 4 & 0x0F0F0F0F;
                u32 b = codes.y >> half * 4 & 0x0F0F0F0F;
                uint4 numbers;
                numbers.x = fmaPair<T>(Kv::template pair<T, 0>(a), scale, least);
                numbers.y = fmaPair<T>(Kv::template pair<T, 2>(a), scale, least);
                numbers.z = fmaPair<T>(Kv::template pair<T, 0>(b), scale, least);
                numbers.w = fmaPair<T>(Kv::template pair<T, 2>(b), scale, least);
                *(uint4*)(at + half * (SIZE / 2)) = numbers;
            }
        } else {
            uint4 numbers;
            numbers.x = Kv::template pair<T, 0>(codes.x);
            numbers.y = Kv::template pair<T, 2>(codes.x);
            numbers.z = Kv::template pair<T, 0>(codes.y);
            numbers.w = Kv::template pair<T, 2>(codes.y);
            if (isValue) {
                float s = isSeen ? __fmul_rn(scales[row], Kv::template UNIT<T>) : 0.0f;
                u32 scale = pack<T>(s, s);
                numbers.x = fmaPair<T>(numbers.x, scale, MINUS_ZEROS);
                numbers.y = fmaPair<T>(numbers.y, scale, MINUS_ZEROS);
                numbers.z = fmaPair<T>(numbers.z, scale, MINUS_ZEROS);
                numbers.w = fmaPair<T>(numbers.w, scale, MINUS_ZEROS);
            }
            *(uint4*)at = numbers;
        }
    }
}

// Multiplies the products of the keys from `firstKey` of a stage on by their scales, where tiles have codes without them:
// four for each run of eight keys, as mma leaves them.
template <class T, class Kv, int SIZE, int COUNT>
__device__ __forceinline__ void scaleProducts(const unsigned char* stage, int firstKey, float* products) {
    if constexpr (Kv::SCALE_BYTES == 4) {
        const float* scales = Kv::template scales<SIZE>(stage) + firstKey + threadIdx.x % 4 * 2;
#pragma unroll
        for (int i = 0; i < COUNT; i += 4) {
            float2 pair = *(const float2*)(scales + i * 2);
            float left = __fmul_rn(pair.x, Kv::template UNIT<T>);
            float right = __fmul_rn(pair.y, Kv::template UNIT<T>);
            products[i] = __fmul_rn(products[i], left);
            products[i + 1] = __fmul_rn(products[i + 1], right);
            products[i + 2] = __fmul_rn(products[i + 2], left);
            products[i + 3] = __fmul_rn(products[i + 3], right);
        }
    }
}
