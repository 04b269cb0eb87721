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
#include "attention/attention.cuh"
#include "common/wgmma.cuh"

constexpr int ROWS = 128;

// Rows of SIZE numbers in shared memory as the tensor cores want them: SIZE / 64 blocks of [rows, 64], swizzled.
template <int SIZE>
__device__ __forceinline__ u32 swizzled(int rows, int row, int chunk) {
    return chunk / 8 * rows * 128 + row * 128 + ((chunk ^ row) & 7) * 16;
}

// Values of 16 positions as the B operand: columns contiguous, blocks of 64 columns POSITIONS * 128 bytes apart.
template <int POSITIONS>
__device__ __forceinline__ u64 valueOperand(u32 address) {
    return (u64)((address & 0x3FFFF) >> 4) | ((u64)(POSITIONS * 128 / 16) << 16) | (64ULL << 32) | (1ULL << 62);
}

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

constexpr int NO_ROW = 0x7FFFFF00;  // past the end of any cache

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

// Makes zeros of the values that the last page holds from row `from` of POSITIONS on, whatever they are: a weight of 0 times
// infinity would be no number.
template <int SIZE, int POSITIONS>
__device__ __forceinline__ void clearRows(u32 values, int from) {
    int until = (from + PAGE - 1) / PAGE * PAGE;
    for (int c = threadIdx.x % 128; c < (until - from) * (SIZE / 8); c += 128) {
        u32 to = values + (c % (SIZE / 64) * POSITIONS + from + c / (SIZE / 8)) * 128 + c / (SIZE / 64) % 8 * 16;
        asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(to), "r"(0) : "memory");
    }
    proxyFence();
    namedBarrier(2 + threadIdx.x / 128, 128);
}

// Which positions rows see. A row is a token and one of its heads.
struct Sight {
    int firstPosition;
    int tokens;

    // Until where the row of a place in the tile sees; 0 where there is none.
    __device__ __forceinline__ int end(const Attention& p, int slot) const {
        int token = slot / p.group;
        return token < tokens ? firstPosition + token + 1 : 0;
    }
};

// The weights of the 64 positions from `position` on, whose scores begin at s[FIRST]; `shrink`: what earlier sums of the split
// are to be multiplied with. A block has TILE_ROWS rows.
template <class T, int FIRST, int TILE_ROWS = ROWS>
__device__ __forceinline__ void weigh(const Attention& p, float (&s)[SPLIT / 2], const Sight& sight, int position, bool isWhole,
    float (&largest)[2], float (&shrink)[2], u32 (&weights)[4][4]) {
    float exponents = __fmul_rn(p.scale, LOG2_E);
    if (!isWhole) {
        int slot = threadIdx.x / 32 % (TILE_ROWS / 16) * 16 + threadIdx.x % 32 / 4;
        int from = position + threadIdx.x % 4 * 2;  // of the thread's first column
        int end[2] = {sight.end(p, slot) - from, sight.end(p, slot + 8) - from};
        int first[2] = {p.window == 0 ? -from : end[0] - p.window, p.window == 0 ? -from : end[1] - p.window};
#pragma unroll
        for (int j = 0; j < TILE / 2; j++) {
            int column = j / 4 * 8 + j % 2;
            s[FIRST + j] = column >= first[j / 2 % 2] && column < end[j / 2 % 2] ? s[FIRST + j] : NOTHING;
        }
    }
    float most[2] = {NOTHING, NOTHING};
#pragma unroll
    for (int j = 0; j < TILE / 2; j++) {
        most[j / 2 % 2] = fmaxf(most[j / 2 % 2], s[FIRST + j]);
    }
    float against[2];
#pragma unroll
    for (int j = 0; j < 2; j++) {
        float next = follow(largest[j], __fmul_rn(quadMax(most[j]), exponents));
        against[j] = reference(next);
        shrink[j] = shrinkage(largest[j], against[j]);
        largest[j] = next;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float* pair = s + FIRST + k * 8 + j * 2;
            float to = against[j % 2];
            weights[k][j] = pack<T>(weight(pair[0], exponents, to), weight(pair[1], exponents, to));
        }
    }
}

// wgmma (wgmma.cuh) of 128 columns that begins sums: for the compiler, too, what they were is not read, so that it need not keep it.
template <class T>
__device__ __forceinline__ void wgmmaFresh(float (&s)[64], u64 a, u64 b);
#define WGMMA_FRESH(T, NAME)                                                                                                \
    template <>                                                                                                             \
    __device__ __forceinline__ void wgmmaFresh<T>(float(&s)[64], u64 a, u64 b) {                                            \
        asm volatile("{\nwgmma.mma_async.sync.aligned.m64n128k16.f32." NAME "." NAME                                        \
                     " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "                                       \
                     "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, " \
                     "%34, %35, %36, "                                                                                      \
                     "%37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, " \
                     "%57, %58, %59, "                                                                                      \
                     "%60, %61, %62, %63}, %64, %65, 0, 1, 1, 0, 0;\n}\n"                                                   \
            : "=f"(s[0]), "=f"(s[1]), "=f"(s[2]), "=f"(s[3]), "=f"(s[4]), "=f"(s[5]), "=f"(s[6]), "=f"(s[7]), "=f"(s[8]),   \
            "=f"(s[9]), "=f"(s[10]), "=f"(s[11]), "=f"(s[12]), "=f"(s[13]), "=f"(s[14]), "=f"(s[15]), "=f"(s[16]),          \
            "=f"(s[17]), "=f"(s[18]), "=f"(s[19]), "=f"(s[20]), "=f"(s[21]), "=f"(s[22]), "=f"(s[23]), "=f"(s[24]),         \
            "=f"(s[25]), "=f"(s[26]), "=f"(s[27]), "=f"(s[28]), "=f"(s[29]), "=f"(s[30]), "=f"(s[31]), "=f"(s[32]),         \
            "=f"(s[33]), "=f"(s[34]), "=f"(s[35]), "=f"(s[36]), "=f"(s[37]), "=f"(s[38]), "=f"(s[39]), "=f"(s[40]),         \
            "=f"(s[41]), "=f"(s[42]), "=f"(s[43]), "=f"(s[44]), "=f"(s[45]), "=f"(s[46]), "=f"(s[47]), "=f"(s[48]),         \
            "=f"(s[49]), "=f"(s[50]), "=f"(s[51]), "=f"(s[52]), "=f"(s[53]), "=f"(s[54]), "=f"(s[55]), "=f"(s[56]),         \
            "=f"(s[57]), "=f"(s[58]), "=f"(s[59]), "=f"(s[60]), "=f"(s[61]), "=f"(s[62]), "=f"(s[63])                       \
            : "l"(a), "l"(b));                                                                                              \
    }
WGMMA_FRESH(Bf16, "bf16")
WGMMA_FRESH(F16, "f16")

// Starts the products of 64 rows of queries, of TILE_ROWS, with the keys of a split.
template <class T, int SIZE, int TILE_ROWS = ROWS>
__device__ __forceinline__ void score(float (&s)[SPLIT / 2], u32 query, u32 keys) {
    wgmmaBegin();
    u64 a = operand(query);
    u64 b = operand(keys);
    wgmmaFresh<T>(s, a, b);
#pragma unroll
    for (int k = 1; k < SIZE / 16; k++) {
        if (k % 4 == 0) {
            a += TILE_ROWS * 128 / 16;
            b += SPLIT * 128 / 16;
        }
        wgmma<T, SPLIT>(s, a + k % 4 * 2, b + k % 4 * 2, 1);
    }
    wgmmaCommit();
}

// Starts adding COLUMNS columns of weighted values of 64 positions, of POSITIONS that lie together.
template <class T, int COLUMNS, int POSITIONS>
__device__ __forceinline__ void gather(float (&o)[COLUMNS / 2], const u32 (&weights)[4][4], u32 values, bool adds) {
    wgmmaBegin();
#pragma unroll
    for (int k = 0; k < 4; k++) {
        wgmmaRegisters<T, COLUMNS>(o, weights[k], valueOperand<POSITIONS>(values) + k * 128, k > 0 || adds);
    }
    wgmmaCommit();
}

template <int SUMS>
__device__ __forceinline__ void multiplyRows(float (&sums)[SUMS], const float upper, const float lower) {
#pragma unroll
    for (int j = 0; j < SUMS; j++) {
        sums[j] = __fmul_rn(sums[j], j / 2 % 2 ? lower : upper);
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
__device__ __forceinline__ void attendWide(
    const Attention& p, const int2* tiles, const int* rowStart, const TensorMap* pages) {
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
            u16* to = p.output + (i64)(row + token) * p.outputStride + (i64)head * SIZE + thread / 128 * COLUMNS + thread % 4 * 2;
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
