// Paged causal attention: what its kernels share, above all the order of the sums.
//
// output[r][h] = sum over p of softmax(scale * query[r][h] . key[p][h / group])[p] * value[p][h / group]
// over the positions p of the row's sequence up to its own, within the window; a soft cap c makes a score c * tanh(score / c),
// a sink is the logit of one more key without value.
//
// Positions are cut into tiles of 64 and splits of 128, counted from the sequence's first token. Within a split an online
// softmax (Milakov and Gimelshein, 2018) walks the tiles; the splits' results (exponent m, denominator l, weighted values
// o) are merged in order, one by one. Tiles and splits that a row does not see change nothing. A product is summed by the tensor
// cores in ascending steps of 16; the other rows of an instruction take no part. Weights are rounded to 16 bits before both
// uses. So a row's bits depend on nothing but its query and its sequence.
//
// query: [rows, keyHeads * group, SIZE], `queryStride` numbers from row to row; output likewise. Multiples of 8 numbers.
// cache: the pages of one layer, `pageElements` numbers each: keys [keyHeads, 16, SIZE], then values [keyHeads, 16, SIZE].
// pageTable: [sequences, maxPages]; pages behind the window may be -1. positions: [rows].
// What the host wrote for the step (positions, tables) is there before the kernel before this one starts.
#pragma once
#include "common/ampere.cuh"

#if __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ == 1200 || __CUDA_ARCH__ == 1210
#define SMALL_BLOCKS  // of shared memory: 99 KiB at most
#endif

constexpr int PAGE = 16;
constexpr int TILE = 64;
constexpr int SPLIT = 128;
constexpr float LOG2_E = 1.4426950408889634f;
#define NOTHING __int_as_float(0xFF800000)  // minus infinity

struct Attention {
    const u16* query;
    i64 queryStride;
    const u16* cache;
    i64 pageElements;
    const int* pageTable;
    int maxPages;
    int keyHeads;
    int group;
    float scale;
    float softCap;
    int window;
    const float* sinks;
    u16* output;
    i64 outputStride;
    const int* positions;
};

// The first position that a row sees. A window below 0 is a power of two that does not slide, but begins at its last multiple
// (Llama 4); without a window it is 0.
__device__ __forceinline__ int firstSeen(const Attention& p, int position) {
    int slid = max(0, position + 1 - p.window);
    int cut = position & p.window;
    return p.window > 0 ? slid : cut;
}

__device__ __forceinline__ float power(float x) {  // 2^x
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// What a score is multiplied with to be an exponent of 2. Products become scores where there is a cap.
__device__ __forceinline__ float exponentScale(const Attention& p) {
    return p.softCap == 0.0f ? __fmul_rn(p.scale, LOG2_E) : LOG2_E;
}

template <int COUNT>
__device__ __forceinline__ void cap(const Attention& p, float* products) {
    if (p.softCap != 0.0f) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            products[i] = __fmul_rn(p.softCap, tanhf(__fdiv_rn(__fmul_rn(products[i], p.scale), p.softCap)));
        }
    }
}

// The exponent that weights are taken against, once there is a score `most`: it follows the largest only where that has grown
// by more than 8, which spares most of the rescaling; a weight stays below 2^9.
__device__ __forceinline__ float follow(float largest, float most) {
    return most > largest + 8.0f ? most : largest;
}

// What to subtract from exponents that are taken against `largest`; anything finite where there is none.
__device__ __forceinline__ float reference(float largest) {
    return largest == NOTHING ? 0.0f : largest;
}

// What sums taken against `before` are multiplied with; nothing has been summed before there is a score.
__device__ __forceinline__ float shrinkage(float before, float against) {
    return before == NOTHING ? 1.0f : power(before - against);
}

__device__ __forceinline__ float weight(float score, float exponentScale, float against) {
    return power(__fmaf_rn(score, exponentScale, -against));
}

__device__ __forceinline__ float quadMax(float x) {
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

template <class T>
constexpr u32 ONES = 0;
template <>
constexpr u32 ONES<Bf16> = 0x3F803F80;
template <>
constexpr u32 ONES<F16> = 0x3C003C00;

// Adds the weights [16, 64] of a tile to the rows' sums: [0] of the upper row of this lane, [2] of the lower one.
template <class T>
__device__ __forceinline__ void addWeights(float (&sums)[4], const u32 (&weights)[4][4]) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
        mma<T>(sums, weights[k], ONES<T>, ONES<T>);
    }
}

// Whether any row of the warp needs its sums rescaled.
__device__ __forceinline__ bool anyShrinks(float upper, float lower) {
    return __any_sync(~0u, upper != 1.0f || lower != 1.0f);
}

// How a merge weighs what there is (a) and what is added (b).
struct Merge {
    float a;
    float b;
};

// Adds a split's exponent m and denominator l to those of the splits before it.
__device__ __forceinline__ Merge merge(float& largest, float& denominator, float m, float l) {
    float next = follow(largest, m);
    Merge w = {power(largest - reference(next)), power(m - reference(next))};
    denominator = __fmaf_rn(l, w.b, __fmul_rn(denominator, w.a));
    largest = next;
    return w;
}

__device__ __forceinline__ float merged(Merge w, float total, float o) {
    return __fmaf_rn(o, w.b, __fmul_rn(total, w.a));
}

// Before the first split: nothing, or the sink.
__device__ __forceinline__ float firstLargest(const Attention& p, int head) {
    return p.sinks ? p.sinks[head] * LOG2_E : NOTHING;
}

// The pages of a sequence, 32 at a time, one in each lane of a warp, whose lanes ask together.
struct HeldPages {
    const int* pages;
    int first;  // page that is seen
    int end;
    int held = 0;
    int group = -1;

    __device__ __forceinline__ void hold(int tile) {
        constexpr int TILES = 32 * PAGE / TILE;
        if (tile / TILES != group) {
            group = tile / TILES;
            int page = group * 32 + threadIdx.x % 32;
            held = page >= first && page < end ? pages[page] : 0;
        }
    }

    __device__ __forceinline__ int at(int page) const {
        return __shfl_sync(~0u, held, page % 32);
    }
};

__device__ __forceinline__ i64 pageOf(const HeldPages& pages, int page, bool) {
    return pages.at(page);
}

__device__ __forceinline__ i64 pageOf(const int* pages, int page, bool isSeen) {
    return isSeen ? pages[page] : 0;
}

template <int SIZE>
constexpr int STRIDE = SIZE + 8;  // numbers from row to row in shared memory; the eight keep its banks apart

template <int SIZE>
constexpr u32 TILE_BYTES = 2 * TILE * STRIDE<SIZE> * 2;

// How the keys, or values, of a tile lie in shared memory: rows one behind the other, STRIDE apart.
template <int SIZE>
struct PaddedRows {
    static constexpr u32 BYTES = TILE * STRIDE<SIZE> * 2;

    // Where 16 bytes of a row begin.
    __device__ __forceinline__ static u32 place(int row, int chunk) {
        return row * STRIDE<SIZE> * 2 + chunk * 16;
    }
};

// The same as the copy engine leaves them: SIZE / 64 blocks of [64 rows, 64 numbers], swizzled by 128 bytes.
template <int SIZE>
struct SwizzledRows {
    static constexpr u32 BYTES = TILE * SIZE * 2;

    __device__ __forceinline__ static u32 place(int row, int chunk) {
        return chunk / 8 * TILE * 128 + row * 128 + ((chunk ^ row) & 7) * 16;
    }
};

// Copies keys and values of the positions of a tile to where Layout has them: THREADS threads, keys, then values. Where the row's
// own position is FRESH, its place is left to the caller.
template <int SIZE, int THREADS, class Layout, bool FRESH = false, class Pages>
__device__ __forceinline__ void loadTile(
    const Attention& p, const Pages& pages, int keyHead, int tile, int first, int end, u32 to) {
    constexpr int CHUNKS = SIZE / 8;
    const u16* keys = p.cache + keyHead * PAGE * SIZE;
    i64 toValues = (i64)p.keyHeads * PAGE * SIZE;
    auto copy = [&](int row, int chunk, const u16* from) {
        int position = tile * TILE + row;
        bool present = position >= first && position < end;
        bool isAsked = !FRESH || position != end - 1;
        u32 target = to + Layout::place(row, chunk);
        copy16(target, from, present, isAsked);
        copy16(target + Layout::BYTES, from + toValues, present, isAsked);
    };
    if constexpr (THREADS % CHUNKS == 0 && PAGE % (THREADS / CHUNKS) == 0) {  // a thread has the same rows of each page
        constexpr int AT_ONCE = THREADS / CHUNKS;
        int row = threadIdx.x / CHUNKS;
        int chunk = threadIdx.x % CHUNKS;
        keys += row * SIZE + chunk * 8;
#pragma unroll
        for (int i = 0; i < TILE / PAGE; i++) {
            int page = tile * (TILE / PAGE) + i;
            bool isSeen = page * PAGE < end && (page + 1) * PAGE > first;
            const u16* from = keys + pageOf(pages, page, isSeen) * (int)p.pageElements;
#pragma unroll
            for (int r = 0; r < PAGE; r += AT_ONCE) {
                copy(i * PAGE + r + row, chunk, from + r * SIZE);
            }
        }
    } else {
#pragma unroll
        for (int i = 0; i < (TILE * CHUNKS + THREADS - 1) / THREADS; i++) {
            int c = threadIdx.x + i * THREADS;
            if (TILE * CHUNKS % THREADS != 0 && c >= TILE * CHUNKS) {
                break;
            }
            int row = c / CHUNKS;
            int position = tile * TILE + row;
            i64 page = pageOf(pages, position / PAGE, position >= first && position < end);
            copy(row, c % CHUNKS, keys + page * (int)p.pageElements + row % PAGE * SIZE + c % CHUNKS * 8);
        }
    }
}

// The same of keys alone, or of values; `from` is the key head's part of them in the layer's first page.
template <int SIZE, int THREADS, class Pages>
__device__ __forceinline__ void loadHalf(
    const Attention& p, const Pages& pages, const u16* from, int tile, int first, int end, u32 to) {
    constexpr int CHUNKS = SIZE / 8;
    static_assert(TILE * CHUNKS % THREADS == 0, "all threads copy as much");
#pragma unroll 8
    for (int i = 0; i < TILE * CHUNKS / THREADS; i++) {
        int c = threadIdx.x + i * THREADS;
        int r = c / CHUNKS;
        int position = tile * TILE + r;
        bool present = position >= first && position < end;
        i64 page = pageOf(pages, position / PAGE, present);
        copy16(to + (r * STRIDE<SIZE> + c % CHUNKS * 8) * 2,
            from + page * p.pageElements + position % PAGE * SIZE + c % CHUNKS * 8, present);
    }
}

// products[16 rows, 16 keys] of the keys from `firstKey` of the tile, by steps of 16 of SIZE.
template <class T, class Layout>
__device__ __forceinline__ void multiplyKeys(float (&products)[2][4], const u32 (&query)[4], u32 keys, int firstKey, int step) {
    int lane = threadIdx.x % 32;
    int key = firstKey + lane % 8 + lane / 16 * 8;
    u32 k[4];
    loadMatrices(k, keys + Layout::place(key, step * 2 + lane / 8 % 2));
    mma<T>(products[0], query, k[0], k[1]);
    mma<T>(products[1], query, k[2], k[3]);
}

// sums[16 rows, 16 columns from `column`] += weights * values, over the 16 positions of a step.
template <class T, class Layout>
__device__ __forceinline__ void multiplyValues(float (&sums)[2][4], const u32 (&weights)[4], u32 values, int step, int column) {
    int lane = threadIdx.x % 32;
    int position = step * 16 + lane % 16;
    u32 v[4];
    loadTransposed(v, values + Layout::place(position, column / 8 + lane / 16));
    mma<T>(sums[0], weights, v[0], v[1]);
    mma<T>(sums[1], weights, v[2], v[3]);
}

__device__ __forceinline__ void scale(float (&sums)[2][4], float upper, float lower) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
        sums[i][0] = __fmul_rn(sums[i][0], upper);
        sums[i][1] = __fmul_rn(sums[i][1], upper);
        sums[i][2] = __fmul_rn(sums[i][2], lower);
        sums[i][3] = __fmul_rn(sums[i][3], lower);
    }
}

// What a warp has of 16 rows in a split: each of four has every fourth run of 16 columns of the values.
template <int SIZE>
struct Quarter {
    static constexpr int RUNS = (SIZE / 16 + 3) / 4;
    float o[RUNS][2][4];
    float largest[2];
    float denominator[4];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < RUNS * 8; i++) {
            o[i / 8][i / 4 % 2][i % 4] = 0.0f;
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            largest[i] = NOTHING;
            denominator[i * 2] = 0.0f;
            denominator[i * 2 + 1] = 0.0f;
        }
    }
};

// Adds a tile to four warps' quarters of 16 rows, of which each warp has the products with 16 keys. The warps share `maxima`,
// [4, 16], and `weightRows`, [16, 64 + 8]; all threads of the block come here. `scored` is called once nobody reads keys any more,
// and `weighed` before the barrier behind which values are read.
template <class T, int SIZE, class Layout, class Scored, class Weighed>
__device__ __forceinline__ void addTile(const Attention& p, Quarter<SIZE>& sums, float (&s)[2][4], int tile, int warp,
    const int (&rowFirst)[2], const int (&rowEnd)[2], float exponents, float* maxima, u16* weightRows, u32 values,
    Scored scored, Weighed weighed) {
    int lane = threadIdx.x % 32;
    int upper = lane / 4;
    cap<8>(p, s[0]);
    float most[2] = {NOTHING, NOTHING};
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int position = tile * TILE + warp * 16 + i / 4 * 8 + lane % 4 * 2 + i % 2;
        float& score = s[i / 4][i % 4];
        score = position >= rowFirst[i / 2 % 2] && position < rowEnd[i / 2 % 2] ? score : NOTHING;
        most[i / 2 % 2] = fmaxf(most[i / 2 % 2], score);
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        most[i] = __fmul_rn(quadMax(most[i]), exponents);
        if (lane % 4 == 0) {
            maxima[warp * 16 + upper + i * 8] = most[i];
        }
    }
    __syncthreads();
    scored();
    float shrink[2];
    float against[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        float next = maxima[upper + i * 8];
#pragma unroll
        for (int w = 1; w < 4; w++) {
            next = fmaxf(next, maxima[w * 16 + upper + i * 8]);
        }
        next = follow(sums.largest[i], next);
        against[i] = reference(next);
        shrink[i] = shrinkage(sums.largest[i], against[i]);
        sums.largest[i] = next;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int half = i % 2;
        float* pair = s[i / 2] + half * 2;
        u32 packed = pack<T>(weight(pair[0], exponents, against[half]), weight(pair[1], exponents, against[half]));
        *(u32*)(weightRows + (upper + half * 8) * (TILE + 8) + warp * 16 + i / 2 * 8 + lane % 4 * 2) = packed;
    }
    weighed();
    __syncthreads();
    u32 weights[4][4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        loadMatrices(weights[k], sharedAddress(weightRows + lane % 16 * (TILE + 8) + k * 16 + lane / 16 * 8));
    }
    if (anyShrinks(shrink[0], shrink[1])) {
        sums.denominator[0] = __fmul_rn(sums.denominator[0], shrink[0]);
        sums.denominator[2] = __fmul_rn(sums.denominator[2], shrink[1]);
#pragma unroll
        for (int run = 0; run < Quarter<SIZE>::RUNS; run++) {
            scale(sums.o[run], shrink[0], shrink[1]);
        }
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {  // sums of different columns wait for each other's products, not for their own
        mma<T>(sums.denominator, weights[k], ONES<T>, ONES<T>);
#pragma unroll
        for (int run = 0; run < Quarter<SIZE>::RUNS; run++) {
            int column = (run * 4 + warp) * 16;
            if ((run * 4 + 3) * 16 < SIZE || column < SIZE) {
                multiplyValues<T, Layout>(sums.o[run], weights[k], values, k, column);
            }
        }
    }
}

#define ATTENTION_PARAMETERS                                                                                                   \
    const void *query, i64 queryStride, const void *cache, i64 pageElements, const int *pageTable, int maxPages, int keyHeads, \
        int group, float scale, float softCap, int window, const float *sinks, void *output, i64 outputStride,                 \
        const int *positions
#define ATTENTION                                                                                                              \
    Attention {                                                                                                                \
        (const u16*)query, queryStride, (const u16*)cache, pageElements, pageTable, maxPages, keyHeads, group, scale, softCap, \
            window, sinks, (u16*)output, outputStride, positions                                                               \
    }
#define BOTH_TYPES(KIND, ...) KIND(Bf16, bf16, __VA_ARGS__) KIND(F16, f16, __VA_ARGS__)
