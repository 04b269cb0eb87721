// Operations on rows of BF16 or F16 numbers between the products; sums are float32 and their order depends on `columns` alone.
//
// A row begins every `stride` numbers. Each kernel may be launched with programmatic stream serialization.
// norm: output[r] = (x - m) / sqrt(v + epsilon) * (weight + weightOffset) + bias; add_normed: output[r] += scale * that. Grid
//   (rows, heads), each head of `columns` numbers by itself, columns / 8 threads, rounded up to 32; columns, strides and addresses
//   are multiples of 8. Up to 8,192 columns;
//   norm_wide and add_normed_wide, with 512 threads: up to 32,768.
// rope_append: normalises and rotates queries and keys in place and appends keys and values to the pages (attention.cuh).
//   128 threads; a row has queryHeads heads to change if queries do, then keyHeads if keys do, and to copy keyHeads if keys
//   do not, and keyHeads of values; a warp takes headsOfWarp of them. Grid (ceil(rows * ceil(heads / headsOfWarp) / 4)); sizes
//   of a head up to 512.
// gated: output[r] = activation(min(gate[r], limit)) * (clamp(up[r], -upLimit, upLimit) + upOffset). Grid (ceil(columns / 1024),
//   rows), 128 threads; columns, strides and addresses are multiples of 8.
// gate_normed: norm of the parts of rows, of `size` numbers each, up to 256, then gated of the gates and what that left. `output`
//   are the rows, `parts` the same memory part by part. Grid (ceil(rows * partsOfRow / 4)), 128 threads.
// embed: output[r] (+)= scale * table[ids[r]] of a packed table (linear_hopper.cu); ids past its rows are 0. Grid (ceil(columns / 1024), rows), 128.
// gather: output[i] = input[index[i]], multiples of 8. Grid (ceil(columns / 1024), rows), 128 threads.
#include "gemm/epilogue.cuh"

#include "common/ampere.cuh"
#include "attention/heads.cuh"
#include "rows/gate_normed.cuh"
#include "rows/normalise.cuh"

// Blocks of gated, embed and gather have THREADS, with eight columns each; blocks of rope_append have WARPS, for heads of up to
// MOST_HEAD numbers.
enum Limits : int { THREADS = 128, WARPS = 4, MOST_HEAD = 512 };

template <class T, bool ADDS, int MOST>
__device__ __forceinline__ void norm(
    const u16* input, i64 inputStride, NormArguments n, float scale, u16* output, i64 outputStride, int columns) {
    u16* out = output + blockIdx.x * outputStride + blockIdx.y * columns;
    normaliseRow<T, MOST>(input + blockIdx.x * inputStride + blockIdx.y * columns, n, columns, [&](int column, float(&x)[8]) {
        if (ADDS) {
            float old[8];
            unpack<T>(*(const uint4*)(out + column), old);
#pragma unroll
            for (int j = 0; j < 8; j++) {
                x[j] = __fmaf_rn(scale, x[j], old[j]);
            }
        }
        *(uint4*)(out + column) = packed<T>(x);
    });
}

struct PageArguments {
    u16* cache;
    i64 pageElements;
    const int* pageTable;
    int maxPages;
    const int* rowSequence;
    const int* positions;
};

// A warp copies heads [first, end) of a row to where a position's lie in a page.
__device__ __forceinline__ void appendHeads(
    const u16* __restrict__ from, u16* __restrict__ page, int first, int end, int size, int position) {
    constexpr int AT_ONCE = 4;
    int lane = threadIdx.x % 32;
    if (((u64)from | (u64)page | (u64)(2 * size)) % 16 != 0) {
        for (int i = first * size + lane; i < end * size; i += 32) {
            page[(i / size * 16 + position % 16) * size + i % size] = from[i];
        }
        return;
    }
    int pieces = size / 8;
    for (int i = first * pieces + lane; i < end * pieces; i += 32 * AT_ONCE) {
        uint4 held[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            if (i + 32 * j < end * pieces) {
                held[j] = ((const uint4*)from)[i + 32 * j];
            }
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            int at = i + 32 * j;
            if (at < end * pieces) {
                ((uint4*)page)[(at / pieces * 16 + position % 16) * pieces + at % pieces] = held[j];
            }
        }
    }
}

// Whether turnWhole is for such heads.
__device__ __forceinline__ bool turnsWhole(const HeadArguments& heads, int size, u64 addresses) {
    bool isPower = size == 64 || size == 128 || size == 256;
    bool isNormed = heads.queryNorm.weight || heads.keyNorm.weight;
    return isPower && !isNormed && 2 * heads.rope.pairs == size && !heads.rope.interleaved && addresses % 16 == 0;
}

// A warp turns heads [first, end) of a row, those of keys behind those of queries, whose halves turn against each other: a thread
// has eight pairs of two heads at a time. Keys go to their page, too.
template <class T>
__device__ __forceinline__ void turnWhole(
    u16* query, u16* key, u16* keyPage, int queryHeads, int first, int end, int size, const RopeArguments& rope, int position) {
    int threads = size / 16;  // of a head
    int step = 32 / threads;
    int pair = threadIdx.x % threads * 8;
    float2 by[8];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        by[i] = turnOf(rope, position, pair + i);
    }
    for (int head = first + threadIdx.x % 32 / threads; head < end; head += 2 * step) {
        u16* at[2];
        uint4 bits[2][2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int each = head + h * step;
            at[h] = (each < queryHeads ? query + each * size : key + (each - queryHeads) * size) + pair;
            if (each < end) {
                bits[h][0] = *(const uint4*)at[h];
                bits[h][1] = *(const uint4*)(at[h] + size / 2);
            }
        }
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int each = head + h * step;
            if (each < end) {
                float x[2][8];
                unpack<T>(bits[h][0], x[0]);
                unpack<T>(bits[h][1], x[1]);
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    float low = __fmaf_rn(x[0][i], by[i].y, __fmul_rn(-x[1][i], by[i].x));  // as Pairing has it
                    x[1][i] = __fmaf_rn(x[1][i], by[i].y, __fmul_rn(x[0][i], by[i].x));
                    x[0][i] = low;
                }
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    uint4 turned = packed<T>(x[i]);
                    *(uint4*)(at[h] + i * size / 2) = turned;
                    if (each >= queryHeads) {
                        *(uint4*)(keyPage + ((each - queryHeads) * 16 + position % 16) * size + pair + i * size / 2) = turned;
                    }
                }
            }
        }
    }
}

template <class T>
__device__ __forceinline__ void ropeAppend(u16* query, i64 queryStride, u16* key, i64 keyStride, const u16* value,
    i64 valueStride, int queryHeads, int keyHeads, int keySize, int valueSize, HeadArguments heads, PageArguments pages,
    int rows, int headsOfWarp) {
    __shared__ float numbers[WARPS][MOST_HEAD];
    __shared__ float2 turns[WARPS][MOST_HEAD / 2];
    launchNext();
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int changedQueries = heads.changes(false) ? queryHeads : 0;
    bool keysChange = heads.changes(true);
    int changed = changedQueries + (keysChange ? keyHeads : 0);
    int all = changed + (keysChange ? keyHeads : 2 * keyHeads);
    int warpsOfRow = (all + headsOfWarp - 1) / headsOfWarp;
    i64 index = (i64)blockIdx.x * WARPS + warp;
    int row = index / warpsOfRow;
    int first = index % warpsOfRow * headsOfWarp;
    int end = min(first + headsOfWarp, all);
    waitForPrevious();
    int position = row < rows ? pages.positions[row] : -1;
    if (position < 0) {  // the row only fills a grid
        return;
    }
    i64 page = pages.pageTable[(i64)pages.rowSequence[row] * pages.maxPages + position / 16];
    u16* keyPage = pages.cache + page * pages.pageElements;
    u16* valuePage = keyPage + keyHeads * 16 * keySize;
    u64 addresses = (u64)(query + row * queryStride) | (u64)(key + row * keyStride) | (u64)keyPage;
    bool isWhole = turnsWhole(heads, keySize, addresses);
    if (isWhole) {
        turnWhole<T>(query + row * queryStride, key + row * keyStride, keyPage, changedQueries, first, min(end, changed),
            keySize, heads.rope, position);
    } else if (first < changed) {
        for (int pair = lane; pair < heads.rope.pairs; pair += 32) {
            turns[warp][pair] = turnOf(heads.rope, position, pair);
        }
        __syncwarp();
    }
    auto turnsOf = [&](int pair) { return turns[warp][pair]; };
    for (int head = first; head < min(end, changed) && !isWhole; head++) {
        int keyHead = head - changedQueries;
        bool isKey = keyHead >= 0;
        u16* at = isKey ? key + row * keyStride + keyHead * keySize : query + row * queryStride + head * keySize;
        u16* cached = keyPage + (keyHead * 16 + position % 16) * keySize;
        NormArguments norm =
            isKey ? ofHead(heads.keyNorm, keyHead, heads.keyNormStride) : ofHead(heads.queryNorm, head, heads.queryNormStride);
        auto store = [&](int i, u16 bits) {
            at[lane + i * 32] = bits;
            if (isKey) {
                cached[lane + i * 32] = bits;
            }
        };
        turnHead<T>(at, keySize, norm, heads.rope, turnsOf, numbers[warp], store);
    }
    int values = all - keyHeads;  // the first head of values
    if (!keysChange) {
        appendHeads(
            key + row * keyStride, keyPage, max(first, changed) - changed, min(end, values) - changed, keySize, position);
    }
    appendHeads(value + row * valueStride, valuePage, max(first, values) - values, end - values, valueSize, position);
}

template <class T>
__device__ __forceinline__ void gated(const u16* gate, i64 gateStride, const u16* up, i64 upStride, int activation, float limit,
    float upLimit, float upOffset, u16* output, i64 outputStride, int columns) {
    launchNext();
    waitForPrevious();
    int column = (blockIdx.x * THREADS + threadIdx.x) * 8;
    if (column >= columns) {
        return;
    }
    uint4 gates = *(const uint4*)(gate + blockIdx.y * gateStride + column);
    uint4 ups = *(const uint4*)(up + blockIdx.y * upStride + column);
    *(uint4*)(output + blockIdx.y * outputStride + column) = gatedEight<T>(gates, ups, activation, limit, upLimit, upOffset);
}

// A warp has a part, of up to 256 numbers.
template <class T>
__device__ __forceinline__ void gateNormed(const u16* parts, i64 partStride, const NormArguments& n, const u16* gate,
    i64 gateStride, int activation, float limit, float upLimit, float upOffset, u16* output, i64 outputStride, int size,
    int partsOfRow, int rows) {
    launchNext();
    i64 index = (i64)blockIdx.x * WARPS + threadIdx.x / 32;
    int column = threadIdx.x % 32 * 8;
    bool isIn = column < size;
    NormPiece piece;
    if (isIn) {
        piece.load(n, column);
    }
    waitForPrevious();
    if (index >= (i64)rows * partsOfRow) {
        return;
    }
    i64 row = index / partsOfRow;
    int at = index % partsOfRow * size + column;
    uint4 gates = isIn ? *(const uint4*)(gate + row * gateStride + at) : make_uint4(0, 0, 0, 0);
    float x[8] = {};
    if (isIn) {
        unpack<T>(*(const uint4*)(parts + index * partStride + column), x);
    }
    uint4 result = normedAndGated<T>(x, isIn, piece, n, size, gates, activation, limit, upLimit, upOffset);
    if (isIn) {
        *(uint4*)(output + row * outputStride + at) = result;
    }
}

template <class T>
__device__ __forceinline__ void embed(
    const u16* table, int tableRows, const int* ids, float scale, int adds, u16* output, i64 outputStride, int columns) {
    launchNext();
    int column = (blockIdx.x * THREADS + threadIdx.x) * 8;
    waitForPrevious();
    if (column >= columns) {
        return;
    }
    int id = ids[blockIdx.y] < tableRows ? ids[blockIdx.y] : 0;
    i64 tile = (i64)(id / 64) * ((columns + 63) / 64) + column / 64;
    float x[8];
    unpack<T>(*(const uint4*)(table + tile * 4096 + id % 64 * 64 + ((column / 8 ^ id) & 7) * 8), x);
    u16* out = output + blockIdx.y * outputStride + column;
    float old[8] = {};
    if (adds) {
        unpack<T>(*(const uint4*)out, old);
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        x[i] = adds ? old[i] + scale * x[i] : scale * x[i];
    }
    *(uint4*)out = packed<T>(x);
}

extern "C" __global__ void __launch_bounds__(128)
    gather(const u16* input, i64 inputStride, const int* index, u16* output, i64 outputStride, int columns) {
    launchNext();
    waitForPrevious();
    int column = (blockIdx.x * THREADS + threadIdx.x) * 8;
    if (column < columns) {
        *(uint4*)(output + blockIdx.y * outputStride + column) =
            *(const uint4*)(input + index[blockIdx.y] * inputStride + column);
    }
}

#define NORMS(T, NAME, MOST, MOST_THREADS)                                                                           \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS)                                                       \
        norm_##NAME(const u16* input, i64 inputStride, int takesMean, const float* weight, float weightOffset,       \
            const float* bias, float epsilon, u16* output, i64 outputStride, int columns) {                          \
        NormArguments n = {takesMean != 0, weight, weightOffset, bias, epsilon};                                     \
        norm<T, false, MOST>(input, inputStride, n, 1.0f, output, outputStride, columns);                            \
    }                                                                                                                \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS)                                                       \
        add_normed_##NAME(const u16* input, i64 inputStride, int takesMean, const float* weight, float weightOffset, \
            const float* bias, float epsilon, float scale, u16* output, i64 outputStride, int columns) {             \
        NormArguments n = {takesMean != 0, weight, weightOffset, bias, epsilon};                                     \
        norm<T, true, MOST>(input, inputStride, n, scale, output, outputStride, columns);                            \
    }

#define ROWS(T, SUFFIX)                                                                                                       \
    extern "C" __global__ void __launch_bounds__(128, 5)                                                                      \
        rope_append_##SUFFIX(u16* query, i64 queryStride, u16* key, i64 keyStride, const u16* value, i64 valueStride,         \
            int queryHeads, int keyHeads, int keySize, int valueSize, NormArguments queryNorm, int queryNormStride,           \
            NormArguments keyNorm, int keyNormStride, RopeArguments rope, PageArguments pages, int rows, int headsOfWarp) {   \
        ropeAppend<T>(query, queryStride, key, keyStride, value, valueStride, queryHeads, keyHeads, keySize, valueSize,       \
            HeadArguments{queryNorm, queryNormStride, keyNorm, keyNormStride, rope}, pages, rows, headsOfWarp);               \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(128)                                                                         \
        gated_##SUFFIX(const u16* gate, i64 gateStride, const u16* up, i64 upStride, int activation, float limit,             \
            float upLimit, float upOffset, u16* output, i64 outputStride, int columns) {                                      \
        gated<T>(gate, gateStride, up, upStride, activation, limit, upLimit, upOffset, output, outputStride, columns);        \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(128)                                                                         \
        gate_normed_##SUFFIX(const u16* parts, i64 partStride, int takesMean, const float* weight, float weightOffset,        \
            const float* bias, float epsilon, const u16* gate, i64 gateStride, int activation, float limit, float upLimit,    \
            float upOffset, u16* output, i64 outputStride, int size, int partsOfRow, int rows) {                              \
        NormArguments n = {takesMean != 0, weight, weightOffset, bias, epsilon};                                              \
        gateNormed<T>(parts, partStride, n, gate, gateStride, activation, limit, upLimit, upOffset, output, outputStride,     \
            size, partsOfRow, rows);                                                                                          \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(128) embed_##SUFFIX(                                                         \
        const u16* table, int tableRows, const int* ids, float scale, int adds, u16* output, i64 outputStride, int columns) { \
        embed<T>(table, tableRows, ids, scale, adds, output, outputStride, columns);                                          \
    }

NORMS(Bf16, bf16, 1, 1024)
NORMS(F16, f16, 1, 1024)
NORMS(Bf16, wide_bf16, 8, 512)
NORMS(F16, wide_f16, 8, 512)
ROWS(Bf16, bf16)
ROWS(F16, f16)
