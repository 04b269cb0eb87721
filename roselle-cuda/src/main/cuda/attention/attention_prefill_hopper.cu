// Prefill attention (attention.cuh) with wgmma (sm_90a): many rows of a sequence, head sizes 64, 128 and 256, without a soft cap.
//
// Two warpgroups of 64 rows of (token, head) each take the scores of a split of 128 positions with one instruction for each
// 16 numbers of a key, then weigh and add the values of its two tiles of 64 positions, one after the other; a warp has the copy
// engine load pages. The scores of the next split are on their way while a split's result is merged, and while one warpgroup
// takes exponentials the tensor cores work for the other. Its sums are those of attention_prefill, bit for bit, and so are grid,
// rows and parameters but for one more: `pages`, the tensor map of the layer's pages as rows of SIZE numbers, in boxes of a
// page's 16 rows of 64 columns, swizzled by 128 bytes. 384 threads, dynamic shared memory
// (128 + STAGES * 256) * 2 * SIZE + 1,024 + 24 * STAGES bytes.
//
// Heads of 256 numbers leave no registers for 64 rows of sums: both warpgroups have the scores of the same 64 rows, and half of
// the values' columns each. There are places for the keys of two splits and for the values of one, tile by tile: dynamic shared
// memory (64 + 384) * 512 + 1,024 + 64 bytes.
#include "attention/prefill_hopper.cuh"

// Keys and values of STAGES splits, and their barriers.
template <int SIZE, int STAGES>
struct Stages {
    static constexpr u32 HALF = SPLIT * SIZE * 2;
    u32 base;

    __device__ u32 keys(int i) const {
        return base + i % STAGES * 2 * HALF;
    }
    __device__ u32 values(int i) const {
        return keys(i) + HALF;
    }
    __device__ u32 fullKeys(int i) const {
        return base + STAGES * 2 * HALF + i % STAGES * 24;
    }
    __device__ u32 fullValues(int i) const {
        return fullKeys(i) + 8;
    }
    __device__ u32 empty(int i) const {
        return fullKeys(i) + 16;
    }
};

// A warp fetches pages, a lane for each page of a split. What has no page is zeros.
template <int SIZE, int STAGES>
__device__ __forceinline__ void loadPages(const Attention& p, Stages<SIZE, STAGES> stages, const TensorMap* pages,
    const int* table, int keyHead, int firstSplit, int splitEnd, int first, int end) {
    int lane = threadIdx.x % 32;
    int pageRows = p.pageElements / SIZE;
    auto rowOf = [&](int split) {
        int position = split * SPLIT + lane * PAGE;
        int page = lane < SPLIT / PAGE && position + PAGE > first && position < end ? table[position / PAGE] : -1;
        return page < 0 ? NO_ROW : page * pageRows + keyHead * PAGE;
    };
    int row = rowOf(firstSplit);
#pragma unroll 1
    for (int split = firstSplit; split < splitEnd; split++) {
        int i = split - firstSplit;
        int next = rowOf(split + 1);
        if (i >= STAGES) {
            barrierWait(stages.empty(i), (i / STAGES - 1) & 1);
        }
        if (lane == 0) {
            barrierExpect(stages.fullKeys(i), stages.HALF);
            barrierExpect(stages.fullValues(i), stages.HALF);
        }
        __syncwarp();
        if (lane < SPLIT / PAGE) {
#pragma unroll
            for (int h = 0; h < SIZE / 64; h++) {
                tensorCopy(stages.keys(i) + (h * SPLIT + lane * PAGE) * 128, pages, h * 64, row, stages.fullKeys(i));
            }
#pragma unroll
            for (int h = 0; h < SIZE / 64; h++) {
                tensorCopy(stages.values(i) + (h * SPLIT + lane * PAGE) * 128, pages, h * 64, row + p.keyHeads * PAGE,
                    stages.fullValues(i));
            }
        }
        row = next;
    }
}

template <class T, int SIZE, int STAGES>
__device__ __forceinline__ void attendHopper(
    const Attention& p, const int2* tiles, const int* rowStart, const TensorMap* pages) {
    constexpr int SUMS = SIZE / 2;
    extern __shared__ unsigned char memory[];
    u32 queries = (sharedAddress(memory) + 1023) & ~1023u;
    Stages<SIZE, STAGES> stages = {queries + ROWS * SIZE * 2};
    launchNext();
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrierInit(stages.fullKeys(i), 1);
            barrierInit(stages.fullValues(i), 1);
            barrierInit(stages.empty(i), 8);
        }
        barrierInitDone();
    }
    int block = gridDim.x - 1 - blockIdx.x;  // the last tiles of a prompt see most: they begin first
    int keyHead = blockIdx.y;
    int sequence = tiles[block].x;
    int firstRow = tiles[block].y;
    int tokens = min(ROWS / p.group, rowStart[sequence + 1] - firstRow);
    int firstPosition = p.positions[firstRow];
    int end = firstPosition + tokens;  // of all rows
    int first = p.window == 0 ? 0 : max(0, firstPosition + 1 - p.window);
    int firstSplit = first / SPLIT;
    int splitEnd = (end + SPLIT - 1) / SPLIT;
    waitForPrevious();
    __syncthreads();

    if (threadIdx.x >= 256) {
        fewerRegisters<24>();
        if (threadIdx.x < 256 + 32) {
            loadPages(p, stages, pages, p.pageTable + (i64)sequence * p.maxPages, keyHead, firstSplit, splitEnd, first, end);
        }
        return;
    }
    moreRegisters<240>();
    for (int c = threadIdx.x; c < ROWS * (SIZE / 8); c += 256) {
        int r = c / (SIZE / 8);
        int token = r / p.group;
        int head = keyHead * p.group + r % p.group;
        const u16* from = p.query + (i64)(firstRow + token) * p.queryStride + (i64)head * SIZE + c % (SIZE / 8) * 8;
        copy16(queries + swizzled<SIZE>(ROWS, r, c % (SIZE / 8)), token < tokens ? from : p.query, token < tokens);
    }
    copyCommit();
    copyWait<0>();
    proxyFence();
    namedBarrier(1, 256);
    int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);  // which tells the compiler that it is the warp's
    int lane = threadIdx.x % 32;
    u32 query = queries + warp / 4 * 64 * 128;
    auto slotOf = [&](int i) { return (int)threadIdx.x / 32 * 16 + lane / 4 + i * 8; };
    Sight sight = {firstPosition, tokens};
    float totalMax[2];
    float totalSum[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int token = slotOf(i) / p.group;
        bool isRow = token < tokens;
        totalMax[i] = isRow ? firstLargest(p, keyHead * p.group + slotOf(i) % p.group) : NOTHING;
        totalSum[i] = isRow && p.sinks ? 1.0f : 0.0f;
    }
    int groupToken = warp / 4 * 64 / p.group;  // first and last token of this warpgroup
    int lastToken = min((warp / 4 * 64 + 63) / p.group, tokens - 1);
    int groupEnd = groupToken < tokens ? firstPosition + lastToken + 1 : 0;  // positions that the warpgroup sees
    int wholeEnd = firstPosition + groupToken + 1;  // positions that all of its rows see
    int wholeFirst = p.window == 0 ? 0 : max(0, firstPosition + lastToken + 1 - p.window);
    float total[SUMS] = {};
    float s[SPLIT / 2];
    int splits = max(0, min(splitEnd, (groupEnd + SPLIT - 1) / SPLIT) - firstSplit);

    if (splits > 0) {
        barrierWait(stages.fullKeys(0), 0);
    }
    score<T, SIZE>(s, query, stages.keys(0));
#pragma unroll 1
    for (int i = 0; i < splits; i++) {
        int position = (firstSplit + i) * SPLIT;
        float largest[2] = {NOTHING, NOTHING};
        float denominator[4] = {};
        float shrink[2];
        float o[SUMS];
        u32 weights[2][4][4];
        auto isWhole = [&](int from) { return from + TILE <= wholeEnd && from >= wholeFirst; };
        wgmmaWait<0>();
        weigh<T, 0>(p, s, sight, position, isWhole(position), largest, shrink, weights[0]);
        barrierWait(stages.fullValues(i), (i / STAGES) & 1);
        if (end % PAGE != 0 && end - position < SPLIT) {
            clearRows<SIZE, SPLIT>(stages.values(i), end - position);
        }
        gather<T, SIZE, SPLIT>(o, weights[0], stages.values(i), false);
        addWeights<T>(denominator, weights[0]);
        if (position + TILE < groupEnd) {
            weigh<T, TILE / 2>(p, s, sight, position + TILE, isWhole(position + TILE), largest, shrink, weights[1]);
            wgmmaWait<0>();
            if (anyShrinks(shrink[0], shrink[1])) {
                denominator[0] = __fmul_rn(denominator[0], shrink[0]);
                denominator[2] = __fmul_rn(denominator[2], shrink[1]);
                multiplyRows(o, shrink[0], shrink[1]);
            }
            gather<T, SIZE, SPLIT>(o, weights[1], stages.values(i) + TILE * 128, true);
            addWeights<T>(denominator, weights[1]);
        }
        int next = min(i + 1, splits - 1);
        barrierWait(stages.fullKeys(next), (next / STAGES) & 1);
        score<T, SIZE>(s, query, stages.keys(next));
        wgmmaWait<1>();
        if (lane == 0) {
            barrierArrive(stages.empty(i));
        }
        Merge w[2];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            w[j] = merge(totalMax[j], totalSum[j], largest[j], denominator[j * 2]);
        }
        if (anyShrinks(w[0].a, w[1].a)) {
            multiplyRows(total, w[0].a, w[1].a);
        }
#pragma unroll
        for (int j = 0; j < SUMS; j++) {
            total[j] = __fmaf_rn(o[j], w[j / 2 % 2].b, total[j]);
        }
    }
    wgmmaWait<0>();
    for (int i = splits; i < splitEnd - firstSplit; i++) {  // which only the other warpgroup sees
        barrierWait(stages.fullValues(i), (i / STAGES) & 1);  // so that no stage is released before it is used
        if (lane == 0) {
            barrierArrive(stages.empty(i));
        }
    }

    int thread;  // asked for again, so that nothing computed from it was kept in registers all the time
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    int row = *(const volatile int*)&tiles[gridDim.x - 1 - blockIdx.x].y;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int place = thread / 32 * 16 + thread % 32 / 4 + i * 8;
        int token = place / p.group;
        if (token < tokens) {
            float inverse = __frcp_rn(totalSum[i]);
            int head = keyHead * p.group + place % p.group;
            u16* to = p.output + (i64)(row + token) * p.outputStride + (i64)head * SIZE + thread % 4 * 2;
#pragma unroll
            for (int j = 0; j < SIZE / 8; j++) {
                *(u32*)(to + j * 8) = pack<T>(total[j * 4 + i * 2] * inverse, total[j * 4 + i * 2 + 1] * inverse);
            }
        }
    }
}

// What a block has of heads of 256 numbers: queries, keys of two splits, values of two tiles, barriers.
struct Wide {
    static constexpr int SIZE = 256;
    static constexpr int ROWS = 64;
    static constexpr u32 KEYS = SPLIT * SIZE * 2;
    static constexpr u32 VALUES = TILE * SIZE * 2;
    u32 queries;

    __device__ u32 keys(int split) const {
        return queries + ROWS * SIZE * 2 + split % 2 * KEYS;
    }
    __device__ u32 values(int half) const {
        return queries + ROWS * SIZE * 2 + 2 * KEYS + half * VALUES;
    }
    __device__ u32 barrier(int i) const {
        return values(2) + i * 8;
    }
    __device__ u32 fullKeys(int split) const {
        return barrier(split % 2);
    }
    __device__ u32 emptyKeys(int split) const {
        return barrier(2 + split % 2);
    }
    __device__ u32 fullValues(int half) const {
        return barrier(4 + half);
    }
    __device__ u32 emptyValues(int half) const {
        return barrier(6 + half);
    }
};

// A warp fetches pages, a lane for each page of a split: keys a split ahead of values.
__device__ __forceinline__ void loadWide(const Attention& p, Wide wide, const TensorMap* pages, const int* table, int keyHead,
    int firstSplit, int splits, int first, int end) {
    int lane = threadIdx.x % 32;
    int pageRows = p.pageElements / Wide::SIZE;
    auto rowOf = [&](int i) {
        int position = (firstSplit + i) * SPLIT + lane * PAGE;
        int page = lane < SPLIT / PAGE && position + PAGE > first && position < end ? table[position / PAGE] : -1;
        return page < 0 ? NO_ROW : page * pageRows + keyHead * PAGE;
    };
    auto loadKeys = [&](int i, int row) {
        if (i >= 2) {
            barrierWait(wide.emptyKeys(i), (i / 2 - 1) & 1);
        }
        if (lane == 0) {
            barrierExpect(wide.fullKeys(i), Wide::KEYS);
        }
        __syncwarp();
        if (lane < SPLIT / PAGE) {
#pragma unroll
            for (int h = 0; h < Wide::SIZE / 64; h++) {
                tensorCopy(wide.keys(i) + (h * SPLIT + lane * PAGE) * 128, pages, h * 64, row, wide.fullKeys(i));
            }
        }
    };
    int row = rowOf(0);
    loadKeys(0, row);
#pragma unroll 1
    for (int i = 0; i < splits; i++) {
        int next = rowOf(i + 1);
        if (i + 1 < splits) {
            loadKeys(i + 1, next);
        }
#pragma unroll
        for (int half = 0; half < 2; half++) {
            if (i > 0) {
                barrierWait(wide.emptyValues(half), (i - 1) & 1);
            }
            if (lane == 0) {
                barrierExpect(wide.fullValues(half), Wide::VALUES);
            }
            __syncwarp();
            if (lane / (TILE / PAGE) == half) {
#pragma unroll
                for (int h = 0; h < Wide::SIZE / 64; h++) {
                    tensorCopy(wide.values(half) + (h * TILE + lane % (TILE / PAGE) * PAGE) * 128, pages, h * 64,
                        row + p.keyHeads * PAGE, wide.fullValues(half));
                }
            }
        }
        row = next;
    }
}

template <class T>
__device__ __forceinline__ void attendWide(const Attention& p, const int2* tiles, const int* rowStart, const TensorMap* pages) {
    constexpr int SIZE = Wide::SIZE;
    constexpr int COLUMNS = SIZE / 2;  // of a warpgroup
    constexpr int SUMS = COLUMNS / 2;
    extern __shared__ unsigned char memory[];
    Wide wide = {(sharedAddress(memory) + 1023) & ~1023u};
    launchNext();
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) {
            barrierInit(wide.fullKeys(i), 1);
            barrierInit(wide.emptyKeys(i), 8);
            barrierInit(wide.fullValues(i), 1);
            barrierInit(wide.emptyValues(i), 8);
        }
        barrierInitDone();
    }
    int block = gridDim.x - 1 - blockIdx.x;  // the last tiles of a prompt see most: they begin first
    int keyHead = blockIdx.y;
    int sequence = tiles[block].x;
    int firstRow = tiles[block].y;
    int tokens = min(Wide::ROWS / p.group, rowStart[sequence + 1] - firstRow);
    int firstPosition = p.positions[firstRow];
    int end = firstPosition + tokens;  // of all rows
    int first = p.window == 0 ? 0 : max(0, firstPosition + 1 - p.window);
    int firstSplit = first / SPLIT;
    int splits = (end + SPLIT - 1) / SPLIT - firstSplit;
    waitForPrevious();
    __syncthreads();

    if (threadIdx.x >= 256) {
        fewerRegisters<24>();
        if (threadIdx.x < 256 + 32) {
            loadWide(p, wide, pages, p.pageTable + (i64)sequence * p.maxPages, keyHead, firstSplit, splits, first, end);
        }
        return;
    }
    moreRegisters<240>();
    for (int c = threadIdx.x; c < Wide::ROWS * (SIZE / 8); c += 256) {
        int r = c / (SIZE / 8);
        int token = r / p.group;
        int head = keyHead * p.group + r % p.group;
        const u16* from = p.query + (i64)(firstRow + token) * p.queryStride + (i64)head * SIZE + c % (SIZE / 8) * 8;
        copy16(wide.queries + swizzled<SIZE>(Wide::ROWS, r, c % (SIZE / 8)), token < tokens ? from : p.query, token < tokens);
    }
    copyCommit();
    copyWait<0>();
    proxyFence();
    namedBarrier(1, 256);
    int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);  // which tells the compiler that it is the warp's
    int lane = threadIdx.x % 32;
    u32 columns = warp / 4 * (COLUMNS / 64) * TILE * 128;  // where this warpgroup's begin in a tile of values
    auto slotOf = [&](int i) { return (int)threadIdx.x / 32 % 4 * 16 + lane / 4 + i * 8; };
    Sight sight = {firstPosition, tokens};
    float totalMax[2];
    float totalSum[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int token = slotOf(i) / p.group;
        bool isRow = token < tokens;
        totalMax[i] = isRow ? firstLargest(p, keyHead * p.group + slotOf(i) % p.group) : NOTHING;
        totalSum[i] = isRow && p.sinks ? 1.0f : 0.0f;
    }
    float total[SUMS] = {};
    float s[SPLIT / 2];

    barrierWait(wide.fullKeys(0), 0);
    score<T, SIZE, Wide::ROWS>(s, wide.queries, wide.keys(0));
#pragma unroll 1
    for (int i = 0; i < splits; i++) {
        int position = (firstSplit + i) * SPLIT;
        float largest[2] = {NOTHING, NOTHING};
        float denominator[4] = {};
        float shrink[2];
        float o[SUMS];
        u32 weights[2][4][4];
        auto isWhole = [&](int from) {  // whether all rows see a tile
            return from + TILE <= sight.firstPosition + 1 && (p.window == 0 || from >= end - p.window);
        };
        auto release = [&](u32 barrier) {
            if (threadIdx.x % 32 == 0) {
                barrierArrive(barrier);
            }
        };
        wgmmaWait<0>();
        release(wide.emptyKeys(i));
        weigh<T, 0, Wide::ROWS>(p, s, sight, position, isWhole(position), largest, shrink, weights[0]);
        barrierWait(wide.fullValues(0), i & 1);
        if (end % PAGE != 0 && end - position < TILE) {
            clearRows<SIZE, TILE>(wide.values(0), end - position);
        }
        gather<T, COLUMNS, TILE>(o, weights[0], wide.values(0) + columns, false);
        addWeights<T>(denominator, weights[0]);
        if (position + TILE < end) {
            weigh<T, TILE / 2, Wide::ROWS>(p, s, sight, position + TILE, isWhole(position + TILE), largest, shrink, weights[1]);
            barrierWait(wide.fullValues(1), i & 1);
            if (end % PAGE != 0 && end - position < SPLIT) {
                clearRows<SIZE, TILE>(wide.values(1), end - position - TILE);
            }
            wgmmaWait<0>();
            release(wide.emptyValues(0));
            if (anyShrinks(shrink[0], shrink[1])) {
                denominator[0] = __fmul_rn(denominator[0], shrink[0]);
                denominator[2] = __fmul_rn(denominator[2], shrink[1]);
                multiplyRows(o, shrink[0], shrink[1]);
            }
            gather<T, COLUMNS, TILE>(o, weights[1], wide.values(1) + columns, true);
            addWeights<T>(denominator, weights[1]);
        }
        int next = min(i + 1, splits - 1);
        barrierWait(wide.fullKeys(next), (next / 2) & 1);
        wgmmaWait<0>();  // else there are not registers enough
        score<T, SIZE, Wide::ROWS>(s, wide.queries, wide.keys(next));
        release(wide.emptyValues(1));
        Merge w[2];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            w[j] = merge(totalMax[j], totalSum[j], largest[j], denominator[j * 2]);
        }
        if (anyShrinks(w[0].a, w[1].a)) {
            multiplyRows(total, w[0].a, w[1].a);
        }
#pragma unroll
        for (int j = 0; j < SUMS; j++) {
            total[j] = __fmaf_rn(o[j], w[j / 2 % 2].b, total[j]);
        }
    }
    wgmmaWait<0>();

    int thread;  // asked for again, so that nothing computed from it was kept in registers all the time
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    int row = *(const volatile int*)&tiles[gridDim.x - 1 - blockIdx.x].y;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int place = thread / 32 % 4 * 16 + thread % 32 / 4 + i * 8;
        int token = place / p.group;
        if (token < tokens) {
            float inverse = __frcp_rn(totalSum[i]);
            int head = keyHead * p.group + place % p.group;
            u16* to =
                p.output + (i64)(row + token) * p.outputStride + (i64)head * SIZE + thread / 128 * COLUMNS + thread % 4 * 2;
#pragma unroll
            for (int j = 0; j < COLUMNS / 8; j++) {
                *(u32*)(to + j * 8) = pack<T>(total[j * 4 + i * 2] * inverse, total[j * 4 + i * 2 + 1] * inverse);
            }
        }
    }
}

#define PREFILL_WIDE(T, SUFFIX, SIZE)                                                                            \
    extern "C" __global__ void __launch_bounds__(384, 1) attention_prefill_hopper_##SIZE##_##SUFFIX(             \
        ATTENTION_PARAMETERS, const int2* tiles, const int* rowStart, const __grid_constant__ TensorMap pages) { \
        attendWide<T>(ATTENTION, tiles, rowStart, &pages);                                                       \
    }
#define PREFILL_HOPPER(T, SUFFIX, SIZE, STAGES)                                                                  \
    extern "C" __global__ void __launch_bounds__(384, 1) attention_prefill_hopper_##SIZE##_##SUFFIX(             \
        ATTENTION_PARAMETERS, const int2* tiles, const int* rowStart, const __grid_constant__ TensorMap pages) { \
        attendHopper<T, SIZE, STAGES>(ATTENTION, tiles, rowStart, &pages);                                       \
    }

BOTH_TYPES(PREFILL_HOPPER, 64, 6)
BOTH_TYPES(PREFILL_HOPPER, 128, 3)
BOTH_TYPES(PREFILL_WIDE, 256)
