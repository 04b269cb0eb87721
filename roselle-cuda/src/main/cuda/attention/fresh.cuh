// What a step of decoding adds to attention: the one new key and value of each sequence, normalised, rotated and appended to
// its page by the block that attends to it, and its query, normalised and rotated, kept in shared memory alone.
#pragma once
#include "attention/attention.cuh"
#include "attention/heads.cuh"

struct Fresh {
    const u16* key;  // [rows, keyHeads, SIZE], not yet normalised and rotated; queries likewise
    i64 keyStride;
    const u16* value;
    i64 valueStride;
    HeadArguments heads;
};

// Where number d of a query head of a tile of 16 lies among the fragments [SIZE / 16, 32].
__device__ __forceinline__ u16* fragmentPlace(uint4* query, int head, int d) {
    int lane = head % 8 * 4 + d % 8 / 2;
    int word = head / 8 + d % 16 / 8 * 2;
    return (u16*)query + ((d / 16 * 32 + lane) * 4 + word) * 2 + d % 2;
}

// One warp: head `head` of the row becomes head `inTile` of the fragments. `shared` has SIZE floats of this warp.
template <class T, int SIZE>
__device__ __forceinline__ void freshQuery(const Fresh& f, const HeadBits<SIZE>& bits, const HeadTurns<SIZE>& turns, int head,
    int inTile, float* shared, uint4* query) {
    auto store = [&](int i, u16 number) { *fragmentPlace(query, inTile, threadIdx.x % 32 + i * 32) = number; };
    turnBits<T>(bits, ofHead(f.heads.queryNorm, head, f.heads.queryNormStride), f.heads.rope, turns, shared, store);
}

// The place of a position's key in the pages; its value lies keyHeads * PAGE * SIZE numbers further.
template <int SIZE>
__device__ __forceinline__ u16* cachePlace(const Attention& p, const int* pages, int keyHead, int position) {
    i64 page = pages[position / PAGE];
    return (u16*)p.cache + page * p.pageElements + (keyHead * PAGE + position % PAGE) * SIZE;
}

// One warp: the new key becomes what it is kept as, and goes to its page if it is this block's to append.
template <class T, int SIZE>
__device__ __forceinline__ void freshKey(
    const Fresh& f, HeadBits<SIZE>& key, const HeadTurns<SIZE>& turns, int keyHead, float* shared, u16* place, bool appends) {
    auto store = [&](int i, u16 number) {
        key.each[i] = number;
        if (appends) {
            place[threadIdx.x % 32 + i * 32] = number;
        }
    };
    turnBits<T>(key, ofHead(f.heads.keyNorm, keyHead, f.heads.keyNormStride), f.heads.rope, turns, shared, store);
}

template <int SIZE>
__device__ __forceinline__ void freshValue(const HeadBits<SIZE>& value, u16* place, bool appends) {
#pragma unroll
    for (int i = 0; i < NUMBERS<SIZE>; i++) {
        int d = threadIdx.x % 32 + i * 32;
        if (appends && (SIZE % 32 == 0 || d < SIZE)) {
            place[d] = value.each[i];
        }
    }
}

// One warp leaves a kept key or value in its row of half a tile.
template <int SIZE, class Layout>
__device__ __forceinline__ void storeKept(unsigned char* half, int row, const HeadBits<SIZE>& kept) {
#pragma unroll
    for (int i = 0; i < NUMBERS<SIZE>; i++) {
        int d = threadIdx.x % 32 + i * 32;
        if (SIZE % 32 == 0 || d < SIZE) {
            *(u16*)(half + Layout::place(row, d / 8) + d % 8 * 2) = kept.each[i];
        }
    }
}

#define FRESH_PARAMETERS                                                                                              \
    const void *key, i64 keyStride, const void *value, i64 valueStride, NormArguments queryNorm, int queryNormStride, \
        NormArguments keyNorm, int keyNormStride, RopeArguments rope
#define FRESH                                                                       \
    Fresh {                                                                         \
        (const u16*)key, keyStride, (const u16*)value, valueStride, HeadArguments { \
            queryNorm, queryNormStride, keyNorm, keyNormStride, rope                \
        }                                                                           \
    }
