// Prefill attention of heads too large for prefill.cuh (attention_prefill.cu): keys and values of a tile have one place each, and
// four warps share the scores of 16 rows, with the sums and the bits of decode.cuh.
#pragma once
#include "attention/attention.cuh"

// Eight warps: two times four, each four with 16 rows of (token, head).
template <class T, int SIZE>
__device__ __forceinline__ void attendWide(const Attention& p, const int2* tiles, const int* rowStart) {
    constexpr int THREADS = 256;
    constexpr int ROWS = 32;
    constexpr int RUNS = Quarter<SIZE>::RUNS;
    constexpr int CHUNKS = SIZE / 8;
    extern __shared__ __align__(16) unsigned char memory[];
    u32 queries = sharedAddress(memory);  // [ROWS, STRIDE]
    unsigned char* stage = memory + ROWS * STRIDE<SIZE> * 2;
    u32 keys = sharedAddress(stage);
    u32 values = keys + TILE_BYTES<SIZE> / 2;
    u16* weightRows = (u16*)(stage + TILE_BYTES<SIZE>);  // [ROWS, 64 + 8]
    float* maxima = (float*)(weightRows + ROWS * (TILE + 8));  // [ROWS / 16, 4, 16]
    launchNext();
    waitForPrevious();

    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32 % 4;
    int firstSlot = threadIdx.x / 128 * 16;
    int keyHead = blockIdx.y;
    int block = gridDim.x - 1 - blockIdx.x;  // the last tiles of a prompt see most: they begin first
    int sequence = tiles[block].x;
    int firstRow = tiles[block].y;
    int tokens = min(ROWS / p.group, rowStart[sequence + 1] - firstRow);
    int firstPosition = p.positions[firstRow];
    int end = firstPosition + tokens;
    int first = firstSeen(p, firstPosition);
    const int* pages = p.pageTable + (i64)sequence * p.maxPages;
    for (int c = threadIdx.x; c < ROWS * CHUNKS; c += THREADS) {
        int r = c / CHUNKS;
        int token = r / p.group;
        int head = keyHead * p.group + r % p.group;
        const u16* from = p.query + (i64)(firstRow + token) * p.queryStride + (i64)head * SIZE + c % CHUNKS * 8;
        copy16(queries + (r * STRIDE<SIZE> + c % CHUNKS * 8) * 2, token < tokens ? from : p.query, token < tokens);
    }
    int tile = first / TILE;
    int tileEnd = (end + TILE - 1) / TILE;
    const u16* firstKeys = p.cache + keyHead * PAGE * SIZE;
    auto load = [&](int t, const u16* from, u32 to) {
        if (t < tileEnd) {
            loadHalf<SIZE, THREADS>(p, pages, from, t, first, end, to);
        }
        copyCommit();
    };
    const u16* firstValues = firstKeys + (i64)p.keyHeads * PAGE * SIZE;
    load(tile, firstKeys, keys);  // with the queries
    load(tile, firstValues, values);

    int slot[2] = {firstSlot + lane / 4, firstSlot + lane / 4 + 8};
    int rowFirst[2];
    int rowEnd[2];
    float totalMax[2];
    float totalSum[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int token = slot[i] / p.group;
        bool isRow = token < tokens;
        rowEnd[i] = isRow ? firstPosition + token + 1 : 0;
        rowFirst[i] = firstSeen(p, rowEnd[i] - 1);
        totalMax[i] = isRow ? firstLargest(p, keyHead * p.group + slot[i] % p.group) : NOTHING;
        totalSum[i] = isRow && p.sinks ? 1.0f : 0.0f;
    }
    u32 queryAt = queries + ((firstSlot + lane % 16) * STRIDE<SIZE> + lane / 16 * 8) * 2;
    float total[RUNS][2][4] = {};
    Quarter<SIZE> part;
    part.clear();
    float exponents = exponentScale(p);

    for (; tile < tileEnd; tile++) {
        copyWait<1>();
        __syncthreads();
        float s[2][4] = {};
#pragma unroll 8
        for (int k = 0; k < SIZE / 16; k++) {
            u32 query[4];
            loadMatrices(query, queryAt + k * 32);
            multiplyKeys<T, PaddedRows<SIZE>>(s, query, keys, warp * 16, k);
        }
        addTile<T, SIZE, PaddedRows<SIZE>>(
            p, part, s, tile, warp, rowFirst, rowEnd, exponents, maxima + firstSlot * 4, weightRows + firstSlot * (TILE + 8),
            values, [&] { load(tile + 1, firstKeys, keys); }, [] { copyWait<1>(); });
        __syncthreads();
        load(tile + 1, firstValues, values);
        if ((tile + 1) % (SPLIT / TILE) == 0 || tile + 1 == tileEnd) {
            Merge w[2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                w[i] = merge(totalMax[i], totalSum[i], part.largest[i], part.denominator[i * 2]);
            }
#pragma unroll
            for (int i = 0; i < RUNS * 8; i++) {
                float& sum = total[i / 8][i / 4 % 2][i % 4];
                sum = merged(w[i / 2 % 2], sum, part.o[i / 8][i / 4 % 2][i % 4]);
            }
            part.clear();
        }
    }

#pragma unroll
    for (int i = 0; i < 2; i++) {
        int token = slot[i] / p.group;
        if (token < tokens) {
            float inverse = __frcp_rn(totalSum[i]);
            int head = keyHead * p.group + slot[i] % p.group;
            u16* to = p.output + (i64)(firstRow + token) * p.outputStride + (i64)head * SIZE + warp * 16 + lane % 4 * 2;
#pragma unroll
            for (int run = 0; run < RUNS; run++) {
                *(u32*)(to + run * 64) = pack<T>(total[run][0][i * 2] * inverse, total[run][0][i * 2 + 1] * inverse);
                *(u32*)(to + run * 64 + 8) = pack<T>(total[run][1][i * 2] * inverse, total[run][1][i * 2 + 1] * inverse);
            }
        }
    }
}
