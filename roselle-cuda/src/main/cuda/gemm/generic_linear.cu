// Products and table look-ups for every processor and every type of weight: right first; the fast kernels are linear_*.cu.
//
// output[r][n] = scale * activation(sum over k of weight[n][k] * input[r][k] + bias[n]), stored or added to what is there.
// A warp sums a product: lane l takes the numbers k with k / 8 % 32 == l, ascending, by fused multiply-adds in float32, then
// the lanes are added pairwise. That order depends on `columns` alone: not on rows, nor on which of these kernels runs.
// Weights: a table of WeightBlock (blocks.cuh) in device memory. Grids, blocks, parameters: tools/cuda-lab/ENTRIES.md.
#include "common/ampere.cuh"
#include "format/blocks.cuh"
#include "gemm/epilogue.cuh"

constexpr int WARPS = 8;  // outputs of a block
constexpr int ROWS = 8;   // of a block

template <class T>
__device__ __forceinline__ void finish(float sum, int biasIndex, const Epilogue& epilogue, void* output, i64 at) {
    float x = epilogue.bias ? sum + epilogue.bias[biasIndex] : sum;
    float y = epilogue.scale * activate(epilogue.activation, x);
    if (epilogue.flags & STORES_FLOATS) {
        float* target = (float*)output + at;
        *target = epilogue.flags & ACCUMULATES ? *target + y : y;
    } else {
        Number<T>* target = (Number<T>*)output;
        store<T>(target, at, epilogue.flags & ACCUMULATES ? load<T>(target, at) + y : y);
    }
}

// Adds this lane's share of the products of a weight's row with COUNT rows of the input.
template <class T, int COUNT>
__device__ __forceinline__ void multiply(
    const Number<T>* input, i64 inputStride, int rows, WeightRow weight, int columns, float (&sums)[COUNT]) {
    for (int k = threadIdx.x % 32 * 8; k < columns; k += 256) {
        float w[8];
        weightEight(weight, k, columns, w);
#pragma unroll
        for (int r = 0; r < COUNT; r++) {
            if (r >= rows) {
                break;
            }
            const Number<T>* from = input + r * inputStride + k;
            float x[8];
            if (k + 8 <= columns) {
                loadEight<T>(from, x);
            } else {
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    x[i] = k + i < columns ? load<T>(from, i) : 0.0f;
                }
            }
#pragma unroll
            for (int i = 0; i < 8; i++) {
                sums[r] = fmaf(w[i], x[i], sums[r]);
            }
        }
    }
}

// Rows of the input with the row `n` of a weight; the epilogue of output `n`.
template <class T>
__device__ __forceinline__ void product(const Number<T>* input, i64 inputStride, WeightRow weight, int columns, int n,
    const Epilogue& epilogue, void* output, i64 outputAt, i64 outputStride, int rows) {
    float sums[ROWS] = {};
    multiply<T>(input, inputStride, rows, weight, columns, sums);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        float sum = warpSum(sums[r]);
        if (r < rows && threadIdx.x % 32 == r) {
            finish<T>(sum, n, epilogue, output, outputAt + r * outputStride);
        }
    }
}

template <class T>
__device__ __forceinline__ void linear(const Number<T>* input, i64 inputStride, const WeightBlock* blocks, int blockCount,
    int columns, int outputs, const Epilogue& epilogue, void* output, i64 outputStride, int rows) {
    launchNext();
    int n = blockIdx.x * WARPS + threadIdx.x / 32;
    int row = blockIdx.y * ROWS;
    waitForPrevious();
    if (n < outputs) {
        product<T>(input + row * inputStride, inputStride, weightRow(blocks, blockCount, n), columns, n, epilogue, output,
            row * outputStride + n, outputStride, min(ROWS, rows - row));
    }
}

template <class T>
__device__ __forceinline__ void headLinear(const Number<T>* input, i64 inputStride, int inputStep, const WeightBlock* blocks,
    int blockCount, int heads, int columns, int outputs, Number<T>* output, i64 outputStride, int outputStep, int rows) {
    launchNext();
    int n = blockIdx.x * WARPS + threadIdx.x / 32;
    int row = blockIdx.y * ROWS;
    waitForPrevious();
    if (n < heads * outputs) {
        int head = n / outputs;
        Epilogue plain = {nullptr, NONE, 1.0f, 0};
        product<T>(input + row * inputStride + head * inputStep, inputStride, weightRow(blocks, blockCount, n), columns, n,
            plain, output, row * outputStride + head * outputStep + n % outputs, outputStride, min(ROWS, rows - row));
    }
}

template <class T>
__device__ __forceinline__ void groupedLinear(const Number<T>* input, i64 inputStride, int inputShare, const int* experts,
    const WeightBlock* blocks, int blockCount, int columns, int outputs, const Epilogue& epilogue, void* output,
    i64 outputStride) {
    launchNext();
    int n = blockIdx.y * WARPS + threadIdx.x / 32;
    i64 choice = blockIdx.x;
    waitForPrevious();
    if (n < outputs) {
        int row = experts[choice] * outputs + n;
        float sum[1] = {};
        multiply<T>(input + choice / inputShare * inputStride, 0, 1, weightRow(blocks, blockCount, row), columns, sum);
        sum[0] = warpSum(sum[0]);
        if (threadIdx.x % 32 == 0) {
            finish<T>(sum[0], row, epilogue, output, choice * outputStride + n);
        }
    }
}

template <class T>
__device__ __forceinline__ void embed(const WeightBlock* blocks, int blockCount, int columns, int tableRows, const int* index,
    float scale, int adds, Number<T>* output, i64 outputStride) {
    launchNext();
    int column = blockIdx.y * 256 + threadIdx.x;
    i64 at = blockIdx.x * outputStride + column;
    waitForPrevious();
    if (column < columns) {
        int id = index[blockIdx.x];
        WeightRow row = weightRow(blocks, blockCount, id < tableRows ? id : 0);
        float x = weightNumber(row.data, row.type, column);
        store<T>(output, at, adds ? load<T>(output, at) + scale * x : scale * x);
    }
}

#define LINEAR(T, SUFFIX)                                                                                                    \
    extern "C" __global__ void __launch_bounds__(256, 2) linear_##SUFFIX(const Number<T>* input, i64 inputStride,            \
        const WeightBlock* blocks, int blockCount, int columns, int outputs, const float* bias, int activation, float scale, \
        int flags, void* output, i64 outputStride, int rows) {                                                               \
        Epilogue epilogue = {bias, activation, scale, flags};                                                                \
        linear<T>(input, inputStride, blocks, blockCount, columns, outputs, epilogue, output, outputStride, rows);           \
    }                                                                                                                        \
    extern "C" __global__ void __launch_bounds__(256, 2) head_linear_##SUFFIX(const Number<T>* input, i64 inputStride,       \
        int inputStep, const WeightBlock* blocks, int blockCount, int heads, int columns, int outputs, Number<T>* output,    \
        i64 outputStride, int outputStep, int rows) {                                                                        \
        headLinear<T>(input, inputStride, inputStep, blocks, blockCount, heads, columns, outputs, output, outputStride,      \
            outputStep, rows);                                                                                               \
    }                                                                                                                        \
    extern "C" __global__ void __launch_bounds__(256, 2) grouped_linear_##SUFFIX(const Number<T>* input, i64 inputStride,    \
        int inputShare, const int* experts, const WeightBlock* blocks, int blockCount, int columns, int outputs,             \
        const float* bias, int activation, float scale, int flags, void* output, i64 outputStride) {                         \
        Epilogue epilogue = {bias, activation, scale, flags};                                                                \
        groupedLinear<T>(                                                                                                    \
            input, inputStride, inputShare, experts, blocks, blockCount, columns, outputs, epilogue, output, outputStride);  \
    }                                                                                                                        \
    extern "C" __global__ void __launch_bounds__(256) table_rows_##SUFFIX(const WeightBlock* blocks, int blockCount,         \
        int columns, int tableRows, const int* index, float scale, int adds, Number<T>* output, i64 outputStride) {          \
        embed<T>(blocks, blockCount, columns, tableRows, index, scale, adds, output, outputStride);                          \
    }

LINEAR(F32, f32)
LINEAR(Bf16, bf16)
LINEAR(F16, f16)
