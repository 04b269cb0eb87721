// Attention (attention.cuh) of many rows of a sequence with wgmma (sm_90a): head sizes 64 and 128.
//
// Two warpgroups of 64 rows of (token, head) each take the scores and the weighted values of a tile of 64 positions; four warps
// bring keys and values. Its sums are those of attention_many, bit for bit, and so are grid, rows and parameters; 384 threads,
// dynamic shared memory (128 + STAGES * 128) * 2 * SIZE + 1,024 + 16 * STAGES bytes.
#include "attention.cuh"
#include "wgmma.cuh"

constexpr int ROWS = 128;

// Rows of SIZE numbers in shared memory as the tensor cores want them: SIZE / 64 blocks of [rows, 64], swizzled.
template <int SIZE>
__device__ __forceinline__ u32 swizzled(int rows, int row, int chunk) {
    return chunk / 8 * rows * 128 + row * 128 + ((chunk ^ row) & 7) * 16;
}

// Values of 16 positions as the B operand: columns contiguous, blocks of 64 columns TILE * 128 bytes apart.
__device__ __forceinline__ u64 valueOperand(u32 address) {
    return (u64)((address & 0x3FFFF) >> 4) | ((u64)(TILE * 128 / 16) << 16) | (64ULL << 32) | (1ULL << 62);
}

template <int SIZE, int STAGES>
struct Stages {
    static constexpr u32 HALF = TILE * SIZE * 2;
    u32 base;

    __device__ u32 keys(int tile) const {
        return base + tile % STAGES * 2 * HALF;
    }
    __device__ u32 values(int tile) const {
        return keys(tile) + HALF;
    }
    __device__ u32 full(int tile) const {
        return base + STAGES * 2 * HALF + tile % STAGES * 16;
    }
    __device__ u32 empty(int tile) const {
        return full(tile) + 8;
    }
};

template <int SIZE, int STAGES>
__device__ __forceinline__ void bring(const Attention& p, Stages<SIZE, STAGES> stages, const int* pages, int keyHead,
    int firstTile, int tileEnd, int first, int end) {
    constexpr int CHUNKS = SIZE / 8;
    constexpr int STEP = 128 / CHUNKS;  // rows that the threads copy at once, at most a page
    int thread = threadIdx.x - 256;
    int row = thread / CHUNKS;
    int chunk = thread % CHUNKS;
    const u16* keys = p.cache + keyHead * PAGE * SIZE + row * SIZE + chunk * 8;
    i64 toValues = (i64)p.keyHeads * PAGE * SIZE;
    u32 target = swizzled<SIZE>(TILE, row, chunk);  // STEP is a multiple of 8: the swizzle stays
    for (int tile = firstTile; tile < tileEnd; tile++) {
        int i = tile - firstTile;
        int page[TILE / PAGE];
#pragma unroll
        for (int q = 0; q < TILE / PAGE; q++) {
            int position = tile * TILE + q * PAGE;
            page[q] = position + PAGE > first && position < end ? pages[position / PAGE] : -1;
        }
        if (i >= STAGES) {
            barrierWait(stages.empty(i), (i / STAGES - 1) & 1);
        }
        u32 to = stages.keys(i) + target;
#pragma unroll
        for (int q = 0; q < TILE / PAGE; q++) {
            const u16* from = keys + max(page[q], 0) * p.pageElements;
            int left = page[q] < 0 ? 0 : end - tile * TILE - q * PAGE - row;
#pragma unroll
            for (int r = 0; r < PAGE; r += STEP) {
                copy16(to + (q * PAGE + r) * 128, from + r * SIZE, r < left);
                copy16(to + (q * PAGE + r) * 128 + stages.HALF, from + r * SIZE + toValues, r < left);
            }
        }
        barrierArriveAfterCopies(stages.full(i));
    }
}

template <class T, int SIZE, int STAGES>
__device__ __forceinline__ void attendHopper(const Attention& p, const int2* tiles, const int* rowStart) {
    constexpr int SUMS = SIZE / 2;
    extern __shared__ unsigned char memory[];
    u32 queries = (sharedAddress(memory) + 1023) & ~1023u;
    Stages<SIZE, STAGES> stages = {queries + ROWS * SIZE * 2};
    launchNext();
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrierInit(stages.full(i), 128);
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
    int firstTile = first / TILE;
    int tileEnd = (end + TILE - 1) / TILE;
    waitForPrevious();
    for (int c = threadIdx.x; c < ROWS * (SIZE / 8); c += 384) {
        int r = c / (SIZE / 8);
        int token = r / p.group;
        int head = keyHead * p.group + r % p.group;
        const u16* from = p.query + (i64)(firstRow + token) * p.queryStride + (i64)head * SIZE + c % (SIZE / 8) * 8;
        copy16(queries + swizzled<SIZE>(ROWS, r, c % (SIZE / 8)), token < tokens ? from : p.query, token < tokens);
    }
    copyCommit();
    copyWait<0>();
    proxyFence();
    __syncthreads();

    if (threadIdx.x >= 256) {
        fewerRegisters<40>();
        bring(p, stages, p.pageTable + (i64)sequence * p.maxPages, keyHead, firstTile, tileEnd, first, end);
        return;
    }
    moreRegisters<232>();
    int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);  // which tells the compiler that it is the warp's
    int lane = threadIdx.x % 32;
    u32 query = queries + warp / 4 * 64 * 128;
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
        rowFirst[i] = p.window == 0 ? 0 : max(0, rowEnd[i] - p.window);
        totalMax[i] = isRow ? firstLargest(p, keyHead * p.group + slot[i] % p.group) : NOTHING;
        totalSum[i] = isRow && p.sinks ? 1.0f : 0.0f;
    }
    int groupToken = warp / 4 * 64 / p.group;  // first and last token of this warpgroup
    int lastToken = min((warp / 4 * 64 + 63) / p.group, tokens - 1);
    int groupEnd = groupToken < tokens ? firstPosition + lastToken + 1 : 0;  // positions that the warpgroup sees
    int wholeEnd = firstPosition + groupToken + 1;  // positions that all of its rows see
    int wholeFirst = p.window == 0 ? 0 : max(0, firstPosition + lastToken + 1 - p.window);
    float total[SUMS] = {};
    float o[SUMS] = {};
    float largest[2] = {NOTHING, NOTHING};
    float denominator[4] = {};
    float exponents = exponentScale(p);

    bool isFirst = true;  // of the split
    for (int tile = firstTile; tile < tileEnd; tile++) {
        int i = tile - firstTile;
        barrierWait(stages.full(i), (i / STAGES) & 1);
        proxyFence();  // keys and values came by ordinary writes
        if (tile * TILE < groupEnd) {
            float s[TILE / 2];
            wgmmaBegin();
#pragma unroll
            for (int k = 0; k < SIZE / 16; k++) {
                u64 a = operand(query + k / 4 * ROWS * 128) + k % 4 * 2;
                u64 b = operand(stages.keys(i) + k / 4 * TILE * 128) + k % 4 * 2;
                wgmma<T, TILE>(s, a, b, k > 0);
            }
            wgmmaCommit();
            wgmmaWait<0>();
            cap<32>(p, s);
            bool isWhole = tile * TILE + TILE <= wholeEnd && tile * TILE >= wholeFirst;
            if (!isWhole) {
#pragma unroll
                for (int j = 0; j < 32; j++) {
                    int position = tile * TILE + j / 4 * 8 + lane % 4 * 2 + j % 2;
                    s[j] = position >= rowFirst[j / 2 % 2] && position < rowEnd[j / 2 % 2] ? s[j] : NOTHING;
                }
            }
            float most[2] = {NOTHING, NOTHING};
#pragma unroll
            for (int j = 0; j < 32; j++) {
                most[j / 2 % 2] = fmaxf(most[j / 2 % 2], s[j]);
            }
            float shrink[2];
            float against[2];
#pragma unroll
            for (int j = 0; j < 2; j++) {
                float next = follow(largest[j], __fmul_rn(quadMax(most[j]), exponents));
                against[j] = reference(next);
                shrink[j] = shrinkage(largest[j], against[j]);
                largest[j] = next;
            }
            u32 weights[4][4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    float* pair = s + k * 8 + j * 2;
                    float to = against[j % 2];
                    weights[k][j] = pack<T>(weight(pair[0], exponents, to), weight(pair[1], exponents, to));
                }
            }
            if (!isFirst && anyShrinks(shrink[0], shrink[1])) {
                denominator[0] = __fmul_rn(denominator[0], shrink[0]);
                denominator[2] = __fmul_rn(denominator[2], shrink[1]);
#pragma unroll
                for (int j = 0; j < SUMS; j++) {
                    o[j] = __fmul_rn(o[j], shrink[j / 2 % 2]);
                }
            }
            wgmmaBegin();
#pragma unroll
            for (int k = 0; k < 4; k++) {
                wgmmaRegisters<T, SIZE>(o, weights[k], valueOperand(stages.values(i)) + k * 128, k > 0 || !isFirst);
            }
            wgmmaCommit();
            addWeights<T>(denominator, weights);
            wgmmaWait<0>();
            isFirst = false;
        }
        if (lane == 0) {
            barrierArrive(stages.empty(i));
        }
        if (!isFirst && ((tile + 1) % (SPLIT / TILE) == 0 || tile + 1 == tileEnd)) {
            Merge w[2];
#pragma unroll
            for (int j = 0; j < 2; j++) {
                w[j] = merge(totalMax[j], totalSum[j], largest[j], denominator[j * 2]);
                largest[j] = NOTHING;
                denominator[j * 2] = 0.0f;
            }
            if (anyShrinks(w[0].a, w[1].a)) {
#pragma unroll
                for (int j = 0; j < SUMS; j++) {
                    total[j] = __fmul_rn(total[j], w[j / 2 % 2].a);
                }
            }
#pragma unroll
            for (int j = 0; j < SUMS; j++) {
                total[j] = __fmaf_rn(o[j], w[j / 2 % 2].b, total[j]);
            }
            isFirst = true;
        }
    }

#pragma unroll
    for (int i = 0; i < 2; i++) {
        int token = slot[i] / p.group;
        if (token < tokens) {
            float inverse = __frcp_rn(totalSum[i]);
            int head = keyHead * p.group + slot[i] % p.group;
            u16* to = p.output + (i64)(firstRow + token) * p.outputStride + (i64)head * SIZE + lane % 4 * 2;
#pragma unroll
            for (int j = 0; j < SIZE / 8; j++) {
                *(u32*)(to + j * 8) = pack<T>(total[j * 4 + i * 2] * inverse, total[j * 4 + i * 2 + 1] * inverse);
            }
        }
    }
}

#define HOPPER(T, SUFFIX, SIZE, STAGES)                                                                    \
    extern "C" __global__ void __launch_bounds__(384, 1)                                                   \
        attention_hopper_##SIZE##_##SUFFIX(ATTENTION_PARAMETERS, const int2* tiles, const int* rowStart) { \
        attendHopper<T, SIZE, STAGES>(ATTENTION, tiles, rowStart);                                         \
    }

BOTH_TYPES(HOPPER, 64, 6)
BOTH_TYPES(HOPPER, 128, 5)
