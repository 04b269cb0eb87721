// Operations on rows of BF16 or F16 numbers between the products; sums are float32 and their order depends on `columns` alone.
//
// A row begins every `stride` numbers. Each kernel may be launched with programmatic stream serialization.
// norm: output[r] = (x - m) / sqrt(v + epsilon) * (weight + weightOffset) + bias, or output[r] += scale * that. Grid (rows),
//   columns / 8 threads, rounded up to 32, at most 512; columns, strides and addresses are multiples of 8, at most 32,768.
// rope_append: normalises and rotates queries and keys in place and appends keys and values to the pages (attention.cuh).
//   Grid (ceil((queryHeads + 2 * keyHeads) / 4), rows), 128 threads, a warp for each head; sizes of a head up to 256.
// gated: output[r] = activation(min(gate[r], limit)) * (clamp(up[r], -limit, limit) + upOffset). Grid (ceil(columns / 1024),
//   rows), 128 threads; columns, strides and addresses are multiples of 8.
// embed: output[r] (+)= scale * table[ids[r]] of a packed table (linear_hopper.cu). Grid (ceil(columns / 1024), rows), 128.
// gather: output[i] = input[index[i]], multiples of 8. Grid (ceil(columns / 1024), rows), 128 threads.
#include "epilogue.cuh"

#include "ampere.cuh"
#include "heads.cuh"

// Sum over the block, in the order of its warps; `shared` has 16 floats.
__device__ __forceinline__ float blockSum(float x, float* shared) {
    x = warpSum(x);
    if (threadIdx.x % 32 == 0) {
        shared[threadIdx.x / 32] = x;
    }
    __syncthreads();
    float sum = shared[0];
    for (int w = 1; w < (int)blockDim.x / 32; w++) {
        sum = __fadd_rn(sum, shared[w]);
    }
    return sum;
}

template <class T, bool ADDS>
__device__ __forceinline__ void norm(
    const u16* input, i64 inputStride, NormArguments n, float scale, u16* output, i64 outputStride, int columns) {
    constexpr int MOST = 8;  // pieces of 8 numbers that a thread holds
    __shared__ float sums[2][16];
    launchNext();
    int step = blockDim.x * 8;
    NormPiece piece;  // the first one comes before the input is there: it never changes
    if ((int)threadIdx.x * 8 < columns) {
        piece.load(n, threadIdx.x * 8);
    }
    waitForPrevious();
    const u16* in = input + blockIdx.x * inputStride;
    u16* out = output + blockIdx.x * outputStride;
    float x[MOST][8];
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < MOST; i++) {
        int column = threadIdx.x * 8 + i * step;
        if (column < columns) {
            unpack<T>(*(const uint4*)(in + column), x[i]);
            sum = addEight(sum, x[i], !n.takesMean);
        }
    }
    sum = blockSum(sum, sums[0]);
    if (n.takesMean) {
        float mean = __fdiv_rn(sum, (float)columns);
        sum = 0.0f;
#pragma unroll
        for (int i = 0; i < MOST; i++) {
            if ((int)threadIdx.x * 8 + i * step < columns) {
                subtract(x[i], mean);
                sum = addEight(sum, x[i], true);
            }
        }
        sum = blockSum(sum, sums[1]);
    }
    float factor = normFactor(sum, columns, n.epsilon);
#pragma unroll
    for (int i = 0; i < MOST; i++) {
        int column = threadIdx.x * 8 + i * step;
        if (column < columns) {
            if (i > 0) {
                piece.load(n, column);
            }
            piece.apply(x[i], factor, n.weightOffset);
            if (ADDS) {
                float old[8];
                unpack<T>(*(const uint4*)(out + column), old);
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    x[i][j] = __fmaf_rn(scale, x[i][j], old[j]);
                }
            }
            *(uint4*)(out + column) = packed<T>(x[i]);
        }
    }
}

struct PageArguments {
    u16* cache;
    i64 pageElements;
    const int* pageTable;
    int maxPages;
    const int* rowSequence;
    const int* positions;
};

template <class T>
__device__ __forceinline__ void ropeAppend(u16* query, i64 queryStride, u16* key, i64 keyStride, const u16* value,
    i64 valueStride, int queryHeads, int keyHeads, int keySize, int valueSize, NormArguments queryNorm, int queryNormStride,
    NormArguments keyNorm, int keyNormStride, RopeArguments rope, PageArguments pages) {
    __shared__ float heads[4][256];
    launchNext();
    waitForPrevious();
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int row = blockIdx.y;
    int position = pages.positions[row];
    int head = blockIdx.x * 4 + warp;
    if (position < 0) {  // the row only fills a grid
        return;
    }
    if (head < queryHeads) {
        if (queryNorm.weight || rope.pairs > 0) {
            u16* at = query + row * queryStride + head * keySize;
            auto store = [&](int i, u16 bits) { at[lane + i * 32] = bits; };
            turnHead<T, 0>(at, keySize, ofHead(queryNorm, head, queryNormStride), rope, position, heads[warp], store);
        }
        return;
    }
    head -= queryHeads;
    bool isKey = head < keyHeads;
    head -= isKey ? 0 : keyHeads;
    if (head >= keyHeads) {
        return;
    }
    int page = pages.pageTable[(i64)pages.rowSequence[row] * pages.maxPages + position / 16];
    u16* target = pages.cache + page * pages.pageElements;
    if (isKey) {
        u16* from = key + row * keyStride + head * keySize;
        if (keyNorm.weight || rope.pairs > 0) {
            auto store = [&](int i, u16 bits) { from[lane + i * 32] = bits; };
            turnHead<T, 0>(from, keySize, ofHead(keyNorm, head, keyNormStride), rope, position, heads[warp], store);
        }
        for (int d = lane; d < keySize; d += 32) {
            target[(head * 16 + position % 16) * keySize + d] = from[d];
        }
    } else {
        target += keyHeads * 16 * keySize;
        for (int d = lane; d < valueSize; d += 32) {
            target[(head * 16 + position % 16) * valueSize + d] = value[row * valueStride + head * valueSize + d];
        }
    }
}

template <class T>
__device__ __forceinline__ void gated(const u16* gate, i64 gateStride, const u16* up, i64 upStride, int activation, float limit,
    float upOffset, u16* output, i64 outputStride, int columns) {
    launchNext();
    waitForPrevious();
    int column = (blockIdx.x * 128 + threadIdx.x) * 8;
    if (column >= columns) {
        return;
    }
    float g[8];
    float u[8];
    unpack<T>(*(const uint4*)(gate + blockIdx.y * gateStride + column), g);
    unpack<T>(*(const uint4*)(up + blockIdx.y * upStride + column), u);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        g[i] = activate(activation, fminf(g[i], limit)) * (fminf(fmaxf(u[i], -limit), limit) + upOffset);
    }
    *(uint4*)(output + blockIdx.y * outputStride + column) = packed<T>(g);
}

template <class T>
__device__ __forceinline__ void embed(
    const u16* table, const int* ids, float scale, int adds, u16* output, i64 outputStride, int columns) {
    launchNext();
    int column = (blockIdx.x * 128 + threadIdx.x) * 8;
    waitForPrevious();
    if (column >= columns) {
        return;
    }
    int id = ids[blockIdx.y];
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
    int column = (blockIdx.x * 128 + threadIdx.x) * 8;
    if (column < columns) {
        *(uint4*)(output + blockIdx.y * outputStride + column) =
            *(const uint4*)(input + index[blockIdx.y] * inputStride + column);
    }
}

#define ROWS(T, SUFFIX)                                                                                                       \
    extern "C" __global__ void __launch_bounds__(512)                                                                         \
        norm_##SUFFIX(const u16* input, i64 inputStride, int takesMean, const float* weight, float weightOffset,              \
            const float* bias, float epsilon, u16* output, i64 outputStride, int columns) {                                   \
        NormArguments n = {takesMean != 0, weight, weightOffset, bias, epsilon};                                              \
        norm<T, false>(input, inputStride, n, 1.0f, output, outputStride, columns);                                           \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(512)                                                                         \
        add_normed_##SUFFIX(const u16* input, i64 inputStride, int takesMean, const float* weight, float weightOffset,        \
            const float* bias, float epsilon, float scale, u16* output, i64 outputStride, int columns) {                      \
        NormArguments n = {takesMean != 0, weight, weightOffset, bias, epsilon};                                              \
        norm<T, true>(input, inputStride, n, scale, output, outputStride, columns);                                           \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(128)                                                                         \
        rope_append_##SUFFIX(u16* query, i64 queryStride, u16* key, i64 keyStride, const u16* value, i64 valueStride,         \
            int queryHeads, int keyHeads, int keySize, int valueSize, NormArguments queryNorm, int queryNormStride,           \
            NormArguments keyNorm, int keyNormStride, RopeArguments rope, PageArguments pages) {                              \
        ropeAppend<T>(query, queryStride, key, keyStride, value, valueStride, queryHeads, keyHeads, keySize, valueSize,       \
            queryNorm, queryNormStride, keyNorm, keyNormStride, rope, pages);                                                 \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(128) gated_##SUFFIX(const u16* gate, i64 gateStride, const u16* up,          \
        i64 upStride, int activation, float limit, float upOffset, u16* output, i64 outputStride, int columns) {              \
        gated<T>(gate, gateStride, up, upStride, activation, limit, upOffset, output, outputStride, columns);                 \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(128)                                                                         \
        embed_##SUFFIX(const u16* table, const int* ids, float scale, int adds, u16* output, i64 outputStride, int columns) { \
        embed<T>(table, ids, scale, adds, output, outputStride, columns);                                                     \
    }

ROWS(Bf16, bf16)
ROWS(F16, f16)
