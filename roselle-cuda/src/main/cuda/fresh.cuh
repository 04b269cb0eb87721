// What a step of decoding adds to attention: the one new key and value of each sequence, normalised, rotated and appended to
// its page by the block that attends to it, and its query, normalised and rotated, kept in shared memory alone.
#pragma once
#include "attention.cuh"
#include "heads.cuh"

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
__device__ __forceinline__ void freshQuery(
    const Attention& p, const Fresh& f, int row, int head, int inTile, int position, float* shared, uint4* query) {
    auto store = [&](int i, u16 bits) { *fragmentPlace(query, inTile, threadIdx.x % 32 + i * 32) = bits; };
    turnHead<T, SIZE>(p.query + row * p.queryStride + (i64)head * SIZE, SIZE,
        ofHead(f.heads.queryNorm, head, f.heads.queryNormStride), f.heads.rope, position, shared, store);
}

// The place of a position's key in the pages; its value lies keyHeads * PAGE * SIZE numbers further.
template <int SIZE>
__device__ __forceinline__ u16* cachePlace(const Attention& p, const int* pages, int keyHead, int position) {
    i64 page = pages[position / PAGE];
    return (u16*)p.cache + page * p.pageElements + (keyHead * PAGE + position % PAGE) * SIZE;
}

// One warp: the new key, or value, number lane + 32 * i of it in kept[i], goes to its page if it is this block's to append.
template <class T, int SIZE>
__device__ __forceinline__ void freshKey(const Fresh& f, int row, int keyHead, int position, float* shared, u16* place,
    bool appends, u16 (&kept)[(SIZE + 31) / 32]) {
    auto store = [&](int i, u16 bits) {
        kept[i] = bits;
        if (appends) {
            place[threadIdx.x % 32 + i * 32] = bits;
        }
    };
    turnHead<T, SIZE>(f.key + row * f.keyStride + keyHead * SIZE, SIZE, ofHead(f.heads.keyNorm, keyHead, f.heads.keyNormStride),
        f.heads.rope, position, shared, store);
}

template <int SIZE>
__device__ __forceinline__ void freshValue(
    const Fresh& f, int row, int keyHead, u16* place, bool appends, u16 (&kept)[(SIZE + 31) / 32]) {
    const u16* from = f.value + row * f.valueStride + keyHead * SIZE;
#pragma unroll
    for (int i = 0; i < (SIZE + 31) / 32; i++) {
        int d = threadIdx.x % 32 + i * 32;
        if (d < SIZE) {
            kept[i] = from[d];
            if (appends) {
                place[d] = kept[i];
            }
        }
    }
}

// One warp leaves a kept key or value at its place in a tile.
template <int SIZE>
__device__ __forceinline__ void bring(u16* place, const u16 (&kept)[(SIZE + 31) / 32]) {
#pragma unroll
    for (int i = 0; i < (SIZE + 31) / 32; i++) {
        int d = threadIdx.x % 32 + i * 32;
        if (d < SIZE) {
            place[d] = kept[i];
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
