// output[r][n] = scale * activation(sum over k of weight[n][k] * input[r][k] + bias[n])  (+ output[r][n])
//
// For sm_80 and later, BF16 and F16 rows, with mma.m16n8k16: weights on its M side, tokens on its N side. Weights are 16-bit
// numbers of the same type, or quantized (formats.cuh), read as the checkpoint has them and decoded on the way to the tensor
// cores. Columns are a multiple of 32 (of 256 for the K formats), input rows and address of 8 numbers.
//
// Order of the sum: K is cut into chunks and these into 8 slices, slice s from chunk s * chunks / 8 on; a slice is summed by the
// tensor cores in steps of 16 numbers, the slices' sums are added in order. In a group of 32 numbers the lanes hold eight
// neighbours each, so a step has the numbers 8c to 8c + 3 (then to 8c + 7) for c = 0 to 3. `few` gives each slice to a warp,
// `many` walks them one after the other: a row's bits are the same from both, and do not depend on the number of rows.
//
// weight: the first of `outputs` rows, `rowBytes` bytes each; 16 bytes of memory before and after them may be read.
// Launch: few: grid (ceil(outputs / 16), ceil(rows / TOKENS)), 256 threads. many: grid (ceil(outputs / 128), ceil(rows / 64)),
// 128 threads. Dynamic shared memory: few: 8 * STAGES * 16 * STRIDE bytes, STAGES 3, but 4 for 16-bit weights; many: 24,576 more
// than WEIGHT_STAGES * 128 * STRIDE, WEIGHT_STAGES 2, but 3 for 16-bit weights.
//
// Grouped: experts[choice] of a stack of matrices, `outputs` rows each and without gaps, times input[choice / share], to
// output[choice]; bias [experts, outputs]. The block (x, y) has the tokens of tile x of group_choices (generic_experts.cu) and
// tile y of the outputs: grid (most tiles, tiles of the outputs), all else as above. A row's bits are those of the same matrix alone.
#pragma once
#include "common/ampere.cuh"
#include "gemm/epilogue.cuh"
#include "format/formats.cuh"

constexpr int SLICES = 8;

// What a block takes: few rows or many.
enum BlockTile : int { FEW_OUTPUTS = 16, MANY_OUTPUTS = 128, MANY_TOKENS = 64 };

struct Product {
    const u8* weight;
    i64 rowBytes;
    const u16* input;
    i64 inputStride;
    void* output;
    i64 outputStride;
    int rows;
    int outputs;
    int columns;
    const int* order;  // grouped: choices by expert
    const int4* tiles;  // grouped: expert, its tokens' first in `order`, their number
    int share;  // grouped: choices that share a row of the input
};

// Makes a grouped product that of the matrix of this block's tile; false where there is no such tile.
__device__ __forceinline__ bool group(Product& p, Epilogue& epilogue) {
    int4 tile = p.tiles[blockIdx.x];
    p.weight += (i64)tile.x * p.outputs * p.rowBytes;
    epilogue.bias = epilogue.bias ? epilogue.bias + (i64)tile.x * p.outputs : nullptr;
    p.order += tile.y;
    p.rows = tile.z;
    return tile.z > 0;
}

// The first number of a token's row, which exists.
template <bool GROUPED>
__device__ __forceinline__ const u16* inputRow(const Product& p, int token) {
    return p.input + (GROUPED ? (i64)(p.order[token] / p.share) : (i64)token) * p.inputStride;
}

template <class FORMAT>
struct Is {
    static constexpr bool PLAIN = false;
};

template <>
struct Is<FormatPlain> {
    static constexpr bool PLAIN = true;
};

// Stages of weights and tokens in the shared memory of a block, and the bytes of all of it.
template <class FORMAT>
struct BlockMemory {
    static constexpr int FEW_STAGES = Is<FORMAT>::PLAIN ? 4 : 3;
    static constexpr int FEW_BYTES = SLICES * FEW_STAGES * FEW_OUTPUTS * FORMAT::STRIDE;
    static constexpr int TOKEN_STAGES = 3;
    static constexpr int TOKEN_BYTES = MANY_TOKENS * 128;
    static constexpr int WEIGHT_STAGES = FORMAT::CHUNK == 64 ? TOKEN_STAGES : 2;
    static constexpr int WEIGHT_BYTES = MANY_OUTPUTS * FORMAT::STRIDE;
    static constexpr int MANY_BYTES = WEIGHT_STAGES * WEIGHT_BYTES + TOKEN_STAGES * TOKEN_BYTES;
};

// Where piece `chunk` of 16 bytes lies in row `row` of 128-byte rows: four pieces of two rows have different banks.
__device__ __forceinline__ int swapped(int row, int chunk) {
    return row * 128 + (chunk ^ (row & 1) << 2) * 16;
}

// Copies chunk `chunk` of COUNT rows of the weight into shared memory; THREADS threads.
template <class FORMAT, int COUNT, int THREADS>
__device__ __forceinline__ void loadWeights(const Product& p, int firstRow, int chunk, u8* target, int thread) {
    constexpr int PIECES = FORMAT::STRIDE / 16;
    i64 from = (i64)chunk * FORMAT::BYTES;
    int bytes = (int)min((i64)FORMAT::BYTES, p.rowBytes - from);
#pragma unroll 5
    for (int i = thread; i < COUNT * PIECES; i += THREADS) {
        int r = i / PIECES;
        int piece = i % PIECES;
        u64 address = (u64)(p.weight + (firstRow + r) * p.rowBytes + from);
        u64 aligned = (address & ~15ull) + piece * 16;
        bool present = firstRow + r < p.outputs && aligned < address + bytes;
        int at = Is<FORMAT>::PLAIN ? swapped(r, piece) : r * FORMAT::STRIDE + piece * 16;
        copy16(sharedAddress(target + at), present ? (const void*)aligned : p.weight, present);
    }
}

// The operand A of 16 rows for two steps: rows `row` and row + 8, numbers k until k + 8 of a chunk.
template <class T, class FORMAT>
__device__ __forceinline__ void operandA(
    const Product& p, const u8* weights, int firstRow, int chunk, int row, int k, u32 (&a)[2][4]) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int r = row + half * 8;
        u32 pairs[4];
        if constexpr (Is<FORMAT>::PLAIN) {
            uint4 bits = *(const uint4*)(weights + swapped(r, k / 8));
            pairs[0] = bits.x, pairs[1] = bits.y, pairs[2] = bits.z, pairs[3] = bits.w;
        } else {
            u64 address = (u64)p.weight + (firstRow + r) * p.rowBytes + (i64)chunk * FORMAT::BYTES;
            FORMAT::template eight<T>(weights + r * FORMAT::STRIDE + (address & 15), k, pairs);
        }
        a[0][half] = pairs[0];
        a[0][half + 2] = pairs[1];
        a[1][half] = pairs[2];
        a[1][half + 2] = pairs[3];
    }
}

template <class T, bool GROUPED>
__device__ __forceinline__ void finishOne(const Product& p, const Epilogue& epilogue, float sum, int token, int n) {
    token = GROUPED ? p.order[token] : token;
    float x = epilogue.bias ? sum + epilogue.bias[n] : sum;
    float y = epilogue.scale * activate(epilogue.activation, x);
    i64 at = (i64)token * p.outputStride + n;
    if (epilogue.flags & STORES_FLOATS) {
        float* target = (float*)p.output + at;
        *target = epilogue.flags & ACCUMULATES ? *target + y : y;
    } else {
        u16* target = (u16*)p.output + at;
        *target = fromFloat<T>(epilogue.flags & ACCUMULATES ? toFloat<T>(*target) + y : y);
    }
}

// Few rows: a block has 16 outputs and 8 * TILES tokens, warp w the slice w, from a ring of its own.
template <class T, class FORMAT, int TILES, bool GROUPED>
__device__ __forceinline__ void linearFew(Product p, Epilogue epilogue) {
    constexpr int STAGES = BlockMemory<FORMAT>::FEW_STAGES;
    constexpr int AHEAD = TILES == 1 ? 4 : 1;
    constexpr int STAGE_BYTES = FEW_OUTPUTS * FORMAT::STRIDE;
    constexpr int TOKENS = 8 * TILES;
    extern __shared__ __align__(128) u8 memory[];
    launchNext();
    if constexpr (GROUPED) {
        waitForPrevious();
        if (!group(p, epilogue)) {
            return;
        }
    }
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int firstRow = (GROUPED ? blockIdx.y : blockIdx.x) * FEW_OUTPUTS;
    int firstToken = GROUPED ? 0 : blockIdx.y * TOKENS;
    int chunks = (p.columns + FORMAT::CHUNK - 1) / FORMAT::CHUNK;
    int first = warp * chunks / SLICES;
    int end = (warp + 1) * chunks / SLICES;
    u8* ring = memory + warp * STAGES * STAGE_BYTES;
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++) {
        if (first + i < end) {
            loadWeights<FORMAT, FEW_OUTPUTS, 32>(p, firstRow, first + i, ring + i * STAGE_BYTES, lane);
        }
        copyCommit();
    }
    if constexpr (!GROUPED) {
        waitForPrevious();  // weights never change; the input does
    }
    int row = lane / 4;
    int part = lane % 4;
    const u16* input[TILES];  // of the tokens that there are, else null
#pragma unroll
    for (int t = 0; t < TILES; t++) {
        int token = firstToken + t * 8 + row;
        input[t] = token < p.rows ? inputRow<GROUPED>(p, token) + part * 8 : nullptr;
    }
    float sums[TILES][4] = {};
    for (int chunk = first; chunk < end; chunk++) {
        int stage = (chunk - first) % STAGES;
        copyWait<STAGES - 2>();
        __syncwarp();
        int next = chunk + STAGES - 1;
        if (next < end) {
            loadWeights<FORMAT, FEW_OUTPUTS, 32>(p, firstRow, next, ring + (next - first) % STAGES * STAGE_BYTES, lane);
        }
        copyCommit();
        int groups = min(FORMAT::CHUNK, p.columns - chunk * FORMAT::CHUNK) / 32;
#pragma unroll AHEAD
        for (int g = 0; g < groups; g++) {
            uint4 x[TILES];
#pragma unroll
            for (int t = 0; t < TILES; t++) {
                x[t] = input[t] ? *(const uint4*)(input[t] + chunk * FORMAT::CHUNK + g * 32) : make_uint4(0, 0, 0, 0);
            }
            u32 a[2][4];
            operandA<T, FORMAT>(p, ring + stage * STAGE_BYTES, firstRow, chunk, row, g * 32 + part * 8, a);
#pragma unroll
            for (int t = 0; t < TILES; t++) {
                mma<T>(sums[t], a[0], x[t].x, x[t].y);
                mma<T>(sums[t], a[1], x[t].z, x[t].w);
            }
        }
        __syncwarp();
    }
    copyWait<0>();
    __syncthreads();  // the rings give way to the sums [SLICES, TOKENS, 16]
    float* slices = (float*)memory;
#pragma unroll
    for (int t = 0; t < TILES; t++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int token = t * 8 + part * 2 + i % 2;
            slices[(warp * TOKENS + token) * 16 + row + i / 2 * 8] = sums[t][i];
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < TOKENS * 16; i += 256) {
        float sum = slices[i];
#pragma unroll
        for (int s = 1; s < SLICES; s++) {
            sum += slices[s * TOKENS * 16 + i];
        }
        int token = firstToken + i / 16;
        int n = firstRow + i % 16;
        if (token < p.rows && n < p.outputs) {
            finishOne<T, GROUPED>(p, epilogue, sum, token, n);
        }
    }
}

// Many rows: a block has 128 outputs, 32 to a warp, and 64 tokens; it takes 64 numbers of K at a time.
template <class T, class FORMAT, bool GROUPED>
__device__ __forceinline__ void linearMany(Product p, Epilogue epilogue) {
    constexpr int STAGES = BlockMemory<FORMAT>::TOKEN_STAGES;
    constexpr int STEPS = FORMAT::CHUNK / 64;  // of 64 numbers in a chunk
    constexpr int WEIGHT_STAGES = BlockMemory<FORMAT>::WEIGHT_STAGES;
    constexpr int WEIGHT_BYTES = BlockMemory<FORMAT>::WEIGHT_BYTES;
    constexpr int TOKEN_BYTES = BlockMemory<FORMAT>::TOKEN_BYTES;
    constexpr int TILES = 8;
    extern __shared__ __align__(128) u8 memory[];
    u8* tokens = memory + WEIGHT_STAGES * WEIGHT_BYTES;
    launchNext();
    waitForPrevious();
    if constexpr (GROUPED) {
        if (!group(p, epilogue)) {
            return;
        }
    }
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int row = lane / 4;
    int part = lane % 4;
    int firstRow = (GROUPED ? blockIdx.y : blockIdx.x) * MANY_OUTPUTS;
    int firstToken = GROUPED ? 0 : blockIdx.y * MANY_TOKENS;
    const u16* input[4];  // of the tokens that this thread loads and that there are, else null
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int token = firstToken + threadIdx.x / 8 + i * 16;
        input[i] = token < p.rows ? inputRow<GROUPED>(p, token) : nullptr;
    }
    int chunks = (p.columns + FORMAT::CHUNK - 1) / FORMAT::CHUNK;
    int steps = (p.columns + 63) / 64;
    auto loadStep = [&](int step) {
        if (step < steps) {
            if (step % STEPS == 0) {
                int chunk = step / STEPS;
                loadWeights<FORMAT, MANY_OUTPUTS, 128>(
                    p, firstRow, chunk, memory + chunk % WEIGHT_STAGES * WEIGHT_BYTES, threadIdx.x);
            }
            u8* target = tokens + step % STAGES * TOKEN_BYTES;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int token = threadIdx.x / 8 + i * 16;
                int piece = threadIdx.x % 8;
                bool present = input[i] && step * 64 + piece * 8 < p.columns;
                const u16* from = input[i] + step * 64 + piece * 8;
                copy16(sharedAddress(target + swapped(token, piece)), present ? from : p.input, present);
            }
        }
        copyCommit();
    };
    loadStep(0);
    loadStep(1);
    float all[2][TILES][4] = {};
    int step = 0;
#pragma unroll 1
    for (int slice = 0; slice < SLICES; slice++) {
        float sums[2][TILES][4] = {};
        int end = min((slice + 1) * chunks / SLICES * STEPS, steps);
#pragma unroll 1
        for (; step < end; step++) {
            copyWait<STAGES - 2>();
            __syncthreads();
            loadStep(step + STAGES - 1);
            int chunk = step / STEPS;
            const u8* weights = memory + chunk % WEIGHT_STAGES * WEIGHT_BYTES + warp * 32 * FORMAT::STRIDE;
            const u8* stage = tokens + step % STAGES * TOKEN_BYTES;
            int groups = min(64, p.columns - step * 64) / 32;
#pragma unroll 1
            for (int g = 0; g < groups; g++) {
                u32 a[2][2][4];
#pragma unroll
                for (int m = 0; m < 2; m++) {
                    operandA<T, FORMAT>(p, weights + m * 16 * FORMAT::STRIDE, firstRow + warp * 32 + m * 16, chunk, row,
                        step % STEPS * 64 + g * 32 + part * 8, a[m]);
                }
#pragma unroll
                for (int t = 0; t < TILES; t++) {
                    uint4 x = *(const uint4*)(stage + swapped(t * 8 + row, g * 4 + part));
#pragma unroll
                    for (int m = 0; m < 2; m++) {
                        mma<T>(sums[m][t], a[m][0], x.x, x.y);
                        mma<T>(sums[m][t], a[m][1], x.z, x.w);
                    }
                }
            }
        }
#pragma unroll
        for (int i = 0; i < 2 * TILES * 4; i++) {
            float& total = all[i / (TILES * 4)][i / 4 % TILES][i % 4];
            float sum = sums[i / (TILES * 4)][i / 4 % TILES][i % 4];
            total = slice == 0 ? sum : total + sum;
        }
    }
    copyWait<0>();
    __syncthreads();  // the rings give way to the sums [64, STRIDE]
    constexpr int STRIDE = 128 + 4;
    float* stashed = (float*)memory;
#pragma unroll
    for (int m = 0; m < 2; m++) {
#pragma unroll
        for (int t = 0; t < TILES; t++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int token = t * 8 + part * 2 + i % 2;
                stashed[token * STRIDE + warp * 32 + m * 16 + row + i / 2 * 8] = all[m][t][i];
            }
        }
    }
    __syncthreads();
    int n = firstRow + threadIdx.x;
    int count = min(MANY_TOKENS, p.rows - firstToken);
    if (n < p.outputs) {
#pragma unroll 2
        for (int token = 0; token < count; token++) {
            finishOne<T, GROUPED>(p, epilogue, stashed[token * STRIDE + threadIdx.x], firstToken + token, n);
        }
    }
}

#define PRODUCT_PARAMETERS                                                                                                   \
    const void *weight, i64 rowBytes, const void *input, i64 inputStride, const float *bias, void *output, i64 outputStride, \
        int rows, int outputs, int columns, int activation, float scale, int flags
#define GROUPED_PARAMETERS PRODUCT_PARAMETERS, const int *order, const int4 *tiles, int share
#define PRODUCT                                                                                                        \
    Product{(const u8*)weight, rowBytes, (const u16*)input, inputStride, output, outputStride, rows, outputs, columns, \
        nullptr, nullptr, 1}
#define GROUPED_PRODUCT                                                                                                   \
    Product {                                                                                                             \
        (const u8*)weight, rowBytes, (const u16*)input, inputStride, output, outputStride, rows, outputs, columns, order, \
            tiles, share                                                                                                  \
    }
#define KERNELS(FORMAT, NAME, T, SUFFIX)                                                                       \
    extern "C" __global__ void __launch_bounds__(256, 2) linear_few_8_##NAME##_##SUFFIX(PRODUCT_PARAMETERS) {  \
        linearFew<T, FORMAT, 1, false>(PRODUCT, EPILOGUE);                                                     \
    }                                                                                                          \
    extern "C" __global__ void __launch_bounds__(256, 2) linear_few_32_##NAME##_##SUFFIX(PRODUCT_PARAMETERS) { \
        linearFew<T, FORMAT, 4, false>(PRODUCT, EPILOGUE);                                                     \
    }                                                                                                          \
    extern "C" __global__ void __launch_bounds__(128, 2) linear_many_##NAME##_##SUFFIX(PRODUCT_PARAMETERS) {   \
        linearMany<T, FORMAT, false>(PRODUCT, EPILOGUE);                                                       \
    }
#define BOTH_TYPES(FORMAT, NAME) KERNELS(FORMAT, NAME, Bf16, bf16) KERNELS(FORMAT, NAME, F16, f16)
#define GROUPED_KERNELS(FORMAT, NAME, T, SUFFIX)                                                                \
    extern "C" __global__ void __launch_bounds__(256, 2) grouped_few_8_##NAME##_##SUFFIX(GROUPED_PARAMETERS) {  \
        linearFew<T, FORMAT, 1, true>(GROUPED_PRODUCT, EPILOGUE);                                               \
    }                                                                                                           \
    extern "C" __global__ void __launch_bounds__(256, 2) grouped_few_32_##NAME##_##SUFFIX(GROUPED_PARAMETERS) { \
        linearFew<T, FORMAT, 4, true>(GROUPED_PRODUCT, EPILOGUE);                                               \
    }                                                                                                           \
    extern "C" __global__ void __launch_bounds__(128, 2) grouped_many_##NAME##_##SUFFIX(GROUPED_PARAMETERS) {   \
        linearMany<T, FORMAT, true>(GROUPED_PRODUCT, EPILOGUE);                                                 \
    }
#define GROUPED_BOTH_TYPES(FORMAT, NAME) GROUPED_KERNELS(FORMAT, NAME, Bf16, bf16) GROUPED_KERNELS(FORMAT, NAME, F16, f16)
