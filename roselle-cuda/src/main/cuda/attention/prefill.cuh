// The kernel of prefill attention (attention_prefill.cu, attention_both.cu, and attention_fp8 … of codes).
#pragma once
#include "attention/coded.cuh"

// Rows see what was before them.
struct Causal {
    static constexpr bool BOTH_WAYS = false;
    static constexpr bool MEETS = false;
};

// Rows see their whole sequence, within a window that reaches both ways, and scores may know distances.
struct BothWays {
    static constexpr bool BOTH_WAYS = true;
    static constexpr bool MEETS = false;
    const int* rowSequence;  // where there are no tiles but a block for each row
    const float* distances;  // [heads, 2 * span + 1], or null: what is added to a score, before the cap
    int span;
};

// The same where queries and keys meet distances (He et al., 2021): ofQueries[query, head, kind] + ofKeys[key, head, kind] are added to
// products, with the kind of the distance from the query to the key; each head has keys of its own.
struct Meeting : BothWays {
    static constexpr bool MEETS = true;
    const u16* ofQueries;  // [rows, heads, count]
    i64 queriesStride;
    const u16* ofKeys;  // the same
    i64 keysStride;
    int count;  // kinds
    const float* kinds;  // [2 * farthest + 1]
    int farthest;
};

// Until where a position sees.
__device__ __forceinline__ int seenEnd(const Attention& p, int position, int sequenceEnd) {
    return p.window == 0 ? sequenceEnd : min(sequenceEnd, position + p.window);
}

// Makes scores of the products [16 rows, 64 positions] of a warp: what a thread has of the positions from `from` on, of the row in
// slot `slot` and of that eight below.
__device__ __forceinline__ void addDistances(
    const Attention& p, const BothWays& sight, float* products, int keyHead, int firstPosition, int slot, int from) {
#pragma unroll
    for (int i = 0; i < 32; i++) {
        int row = slot + i / 2 % 2 * 8;
        int distance = from + i / 4 * 8 + i % 2 - firstPosition - row / p.group;
        const float* table = sight.distances + (i64)(keyHead * p.group + row % p.group) * (2 * sight.span + 1) + sight.span;
        float score = __fmaf_rn(products[i], p.scale, table[max(-sight.span, min(sight.span, distance))]);
        products[i] = p.softCap == 0.0f ? score : __fmul_rn(p.softCap, tanhf(__fdiv_rn(score, p.softCap)));
    }
}

// Adds to the products [16 rows, 64 positions] of a warp, as above, what a row of the step and a position add by their distance. Rows and
// positions behind the last ones, which are masked, are read as the last.
template <class T>
__device__ __forceinline__ void meet(const Meeting& sight, float* products, int head, int firstRow, int lastRow,
    int firstPosition, int slot, int from, int lastPosition) {
#pragma unroll
    for (int i = 0; i < 32; i++) {
        int row = min(firstRow + slot + i / 2 % 2 * 8, lastRow);
        int position = min(from + i / 4 * 8 + i % 2, lastPosition);
        int key = firstRow + position - firstPosition;
        int distance = max(-sight.farthest, min(sight.farthest, key - row));
        i64 kind = (i64)head * sight.count + (int)sight.kinds[sight.farthest + distance];
        float added = __fadd_rn(toFloat<T>(sight.ofQueries[row * sight.queriesStride + kind]),
            toFloat<T>(sight.ofKeys[key * sight.keysStride + kind]));
        products[i] = __fadd_rn(products[i], added);
    }
}

// Eight warps, each with 16 rows of (token, head) and SIZE / HALVES columns of the values.
template <class T, class Kv, int SIZE, int HALVES, class Sight = Causal>
__device__ __forceinline__ void attendPrefill(
    const Attention& p, const int2* tiles, const int* rowStart, const Sight& sight = Sight()) {
    constexpr bool BOTH_WAYS = Sight::BOTH_WAYS;
    constexpr int THREADS = 256;
    constexpr int ROWS = 128 / HALVES;
    constexpr int COLUMNS = SIZE / HALVES;
    constexpr int RUNS = COLUMNS / 16;
    extern __shared__ __align__(16) unsigned char memory[];
    u32 queries = sharedAddress(memory);  // [ROWS, STRIDE]
    constexpr u32 STAGE_BYTES = Kv::template STAGE_BYTES<SIZE>;
    unsigned char* decoded = memory + ROWS * STRIDE<SIZE> * 2;
    unsigned char* stages = decoded + Kv::template DECODED_BYTES<SIZE>;  // two of them
    launchNext();
    waitForPrevious();

    int warp = threadIdx.x / 32 % (ROWS / 16);
    int firstColumn = threadIdx.x / 32 / (ROWS / 16) * COLUMNS;
    int lane = threadIdx.x % 32;
    int keyHead = blockIdx.y;
    int block = gridDim.x - 1 - blockIdx.x;  // the last tiles of a prompt see most: they begin first
    bool hasTiles = true;
    if constexpr (BOTH_WAYS) {
        hasTiles = tiles != nullptr;
    }
    int sequence;
    int firstRow;
    if (hasTiles) {
        sequence = tiles[block].x;
        firstRow = tiles[block].y;
    } else if constexpr (BOTH_WAYS) {
        sequence = sight.rowSequence[block];
        firstRow = block;
    }
    int rowsLeft = rowStart[sequence + 1] - firstRow;
    int tokens = hasTiles ? min(ROWS / p.group, rowsLeft) : 1;
    int firstPosition = p.positions[firstRow];
    int sequenceEnd = firstPosition + rowsLeft;
    int end = firstPosition + tokens;  // of all rows
    if constexpr (BOTH_WAYS) {
        end = seenEnd(p, end - 1, sequenceEnd);
    }
    int first = firstSeen(p, firstPosition);
    const int* pages = p.pageTable + (i64)sequence * p.maxPages;
    for (int c = threadIdx.x; c < ROWS * (SIZE / 8); c += THREADS) {
        int r = c / (SIZE / 8);
        int token = r / p.group;
        int head = keyHead * p.group + r % p.group;
        const u16* from = p.query + (i64)(firstRow + token) * p.queryStride + (i64)head * SIZE + c % (SIZE / 8) * 8;
        copy16(queries + (r * STRIDE<SIZE> + c % (SIZE / 8) * 8) * 2, token < tokens ? from : p.query, token < tokens);
    }
    int tile = first / TILE;
    int tileEnd = (end + TILE - 1) / TILE;
    auto load = [&](int t) {
        u32 to = sharedAddress(stages + t % 2 * STAGE_BYTES);
        if constexpr (Kv::IS_CODED) {
            loadCodes<Kv, SIZE, THREADS>(p, pages, keyHead, t, first, end, to);
        } else {
            loadTile<SIZE, THREADS, PaddedRows<SIZE>>(p, pages, keyHead, t, first, end, to);
        }
        copyCommit();
    };
    load(tile);

    int slot[2] = {warp * 16 + lane / 4, warp * 16 + lane / 4 + 8};
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
        if constexpr (BOTH_WAYS) {
            rowEnd[i] = isRow ? seenEnd(p, firstPosition + token, sequenceEnd) : 0;
        }
        totalMax[i] = isRow ? firstLargest(p, keyHead * p.group + slot[i] % p.group) : NOTHING;
        totalSum[i] = isRow && p.sinks ? 1.0f : 0.0f;
    }
    int lastToken = min((warp * 16 + 15) / p.group, tokens - 1);
    int warpEnd = warp * 16 / p.group < tokens ? firstPosition + lastToken + 1 : 0;  // positions that this warp sees
    int wholeEnd = firstPosition + warp * 16 / p.group + 1;  // positions that all of its rows see
    int wholeFirst = firstSeen(p, firstPosition + lastToken);
    if constexpr (BOTH_WAYS) {
        warpEnd = warpEnd == 0 ? 0 : seenEnd(p, warpEnd - 1, sequenceEnd);
        wholeEnd = seenEnd(p, wholeEnd - 1, sequenceEnd);
    }
    u32 queryAt = queries + ((warp * 16 + lane % 16) * STRIDE<SIZE> + lane / 16 * 8) * 2;
    float total[RUNS][2][4] = {};
    float o[RUNS][2][4] = {};
    float largest[2] = {NOTHING, NOTHING};
    float denominator[4] = {};
    float exponents = exponentScale(p);
    if constexpr (BOTH_WAYS) {
        exponents = sight.distances ? LOG2_E : exponents;
    }

    for (; tile < tileEnd; tile++) {
        copyWait<0>();
        __syncthreads();
        if (tile + 1 < tileEnd) {
            load(tile + 1);
        }
        unsigned char* stage = stages + tile % 2 * STAGE_BYTES;
        if constexpr (Kv::IS_CODED) {
            decodeTile<T, Kv, SIZE, THREADS>(stage, decoded, tile, first, end);
            __syncthreads();
        }
        u32 keys = sharedAddress(Kv::IS_CODED ? decoded : stage);
        if (tile * TILE < warpEnd) {
            float s[4][2][4] = {};
#pragma unroll
            for (int k = 0; k < SIZE / 16; k++) {
                u32 query[4];
                loadMatrices(query, queryAt + k * 32);
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    multiplyKeys<T, PaddedRows<SIZE>>(s[j], query, keys, j * 16, k);
                }
            }
            if constexpr (Kv::IS_CODED) {
                scaleProducts<T, Kv, SIZE, 32>(stage, 0, s[0][0]);
            }
            if constexpr (Sight::MEETS) {
                meet<T>(sight, s[0][0], keyHead, firstRow, firstRow + tokens - 1, firstPosition, slot[0],
                    tile * TILE + lane % 4 * 2, sequenceEnd - 1);
            }
            bool hasDistances = false;
            if constexpr (BOTH_WAYS) {
                hasDistances = sight.distances != nullptr;
                if (hasDistances) {
                    addDistances(p, sight, s[0][0], keyHead, firstPosition, slot[0], tile * TILE + lane % 4 * 2);
                }
            }
            if (!hasDistances) {
                cap<32>(p, s[0][0]);
            }
            bool isWhole = tile * TILE + TILE <= wholeEnd && tile * TILE >= wholeFirst;
            if (!isWhole) {
#pragma unroll
                for (int i = 0; i < 32; i++) {
                    int position = tile * TILE + i / 4 * 8 + lane % 4 * 2 + i % 2;
                    bool isSeen = position >= rowFirst[i / 2 % 2] && position < rowEnd[i / 2 % 2];
                    s[i / 8][i / 4 % 2][i % 4] = isSeen ? s[i / 8][i / 4 % 2][i % 4] : NOTHING;
                }
            }
            float most[2] = {NOTHING, NOTHING};
#pragma unroll
            for (int i = 0; i < 32; i++) {
                float& score = s[i / 8][i / 4 % 2][i % 4];
                most[i / 2 % 2] = fmaxf(most[i / 2 % 2], score);
            }
            float shrink[2];
            float against[2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                float next = follow(largest[i], __fmul_rn(quadMax(most[i]), exponents));
                against[i] = reference(next);
                shrink[i] = shrinkage(largest[i], against[i]);
                largest[i] = next;
            }
            u32 weights[4][4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    float* pair = s[k][i / 2] + i % 2 * 2;
                    float to = against[i % 2];
                    weights[k][i] = pack<T>(weight(pair[0], exponents, to), weight(pair[1], exponents, to));
                }
            }
            bool shrinks = anyShrinks(shrink[0], shrink[1]);
            if (shrinks) {
                denominator[0] = __fmul_rn(denominator[0], shrink[0]);
                denominator[2] = __fmul_rn(denominator[2], shrink[1]);
            }
            addWeights<T>(denominator, weights);
#pragma unroll
            for (int run = 0; run < RUNS; run++) {
                if (shrinks) {
                    scale(o[run], shrink[0], shrink[1]);
                }
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    multiplyValues<T, PaddedRows<SIZE>>(
                        o[run], weights[k], keys + TILE_BYTES<SIZE> / 2, k, firstColumn + run * 16);
                }
            }
        }
        if ((tile + 1) % (SPLIT / TILE) == 0 || tile + 1 == tileEnd) {
            Merge w[2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                w[i] = merge(totalMax[i], totalSum[i], largest[i], denominator[i * 2]);
                largest[i] = NOTHING;
                denominator[i * 2] = 0.0f;
            }
#pragma unroll
            for (int i = 0; i < RUNS * 8; i++) {
                float& sum = total[i / 8][i / 4 % 2][i % 4];
                sum = merged(w[i / 2 % 2], sum, o[i / 8][i / 4 % 2][i % 4]);
                o[i / 8][i / 4 % 2][i % 4] = 0.0f;
            }
        }
    }

#pragma unroll
    for (int i = 0; i < 2; i++) {
        int token = slot[i] / p.group;
        if (token < tokens) {
            float inverse = __frcp_rn(totalSum[i]);
            int head = keyHead * p.group + slot[i] % p.group;
            u16* to = p.output + (i64)(firstRow + token) * p.outputStride + (i64)head * SIZE + firstColumn + lane % 4 * 2;
#pragma unroll
            for (int run = 0; run < RUNS; run++) {
                *(u32*)(to + run * 16) = pack<T>(total[run][0][i * 2] * inverse, total[run][0][i * 2 + 1] * inverse);
                *(u32*)(to + run * 16 + 8) = pack<T>(total[run][1][i * 2] * inverse, total[run][1][i * 2 + 1] * inverse);
            }
        }
    }
}
