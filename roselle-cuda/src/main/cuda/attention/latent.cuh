// Latent attention: what its kernels share; the order of their sums is in attention_latent.cu.
#pragma once
#include "attention/attention.cuh"

constexpr int VALUE = 512;
constexpr int TURNED = 64;  // numbers behind the value
constexpr int KEY = VALUE + TURNED;
constexpr int ENTRY = VALUE + 2;  // a partial result: o, m, l
constexpr int EARLY_SPLITS = 16;
constexpr int EARLY_TILES = 4;  // of an early split
constexpr int LATE_TILES = 16;

struct Latent {
    const u16* query;
    i64 queryStride;
    const u16* cache;
    i64 pageElements;
    const int* pageTable;
    int maxPages;
    const int* rowSequence;
    const int* positions;
    int heads;
    float scale;
    u16* output;
    i64 outputStride;
    const int2* tiles;
    const int* rowStart;
    int tileCount;
    float* partials;
    int maxSplits;
    float* totals;
};

__device__ __forceinline__ int splitOf(int tile) {
    return tile < EARLY_SPLITS * EARLY_TILES ? tile / EARLY_TILES
                                             : EARLY_SPLITS + (tile - EARLY_SPLITS * EARLY_TILES) / LATE_TILES;
}

__device__ __forceinline__ int firstTile(int split) {
    return split < EARLY_SPLITS ? split * EARLY_TILES : EARLY_SPLITS * EARLY_TILES + (split - EARLY_SPLITS) * LATE_TILES;
}

// Splits of a row that sees `end` positions.
__device__ __forceinline__ int splitsOf(int end) {
    return end <= 0 ? 0 : splitOf((end - 1) / TILE) + 1;
}

// What an item attends with: `width` heads from firstHead on, of `tokens` rows from firstRow on.
struct Item {
    int sequence;
    int firstRow;
    int tokens;
    int firstHead;
    int width;
    int firstPosition;

    template <int ROWS>
    static __device__ __forceinline__ Item of(const Latent& p, int index) {
        int headTiles = (p.heads + ROWS - 1) / ROWS;
        int tile = p.tileCount - 1 - index / headTiles;
        Item item;
        item.firstHead = index % headTiles * ROWS;
        item.width = min(p.heads, ROWS);
        if (p.tiles) {
            item.sequence = p.tiles[tile].x;
            item.firstRow = p.tiles[tile].y;
            item.tokens = min(ROWS / item.width, p.rowStart[item.sequence + 1] - item.firstRow);
        } else {
            item.sequence = p.rowSequence[tile];
            item.firstRow = tile;
            item.tokens = 1;
        }
        item.firstPosition = p.positions[item.firstRow];
        return item;
    }

    // Positions that a slot of the tile sees; 0 where it is empty.
    __device__ __forceinline__ int end(const Latent& p, int slot) const {
        int token = slot / width;
        return token < tokens && firstHead + slot % width < p.heads ? firstPosition + token + 1 : 0;
    }

    __device__ __forceinline__ int row(int slot) const {
        return firstRow + slot / width;
    }

    __device__ __forceinline__ int head(int slot) const {
        return firstHead + slot % width;
    }

    __device__ __forceinline__ const u16* query(const Latent& p, int slot) const {
        return p.query + row(slot) * p.queryStride + (i64)head(slot) * KEY;
    }
};

#define LATENT_PARAMETERS                                                                                        \
    const void *query, i64 queryStride, const void *cache, i64 pageElements, const int *pageTable, int maxPages, \
        const int *rowSequence, const int *positions, int heads, float scale, void *output, i64 outputStride,    \
        const int2 *tiles, const int *rowStart, int tileCount, float *partials, int maxSplits, float *totals
#define LATENT                                                                                                               \
    Latent {                                                                                                                 \
        (const u16*)query, queryStride, (const u16*)cache, pageElements, pageTable, maxPages, rowSequence, positions, heads, \
            scale, (u16*)output, outputStride, tiles, rowStart, tileCount, partials, maxSplits, totals                       \
    }
