// Operations on rows between the products, for every processor, type and size: right first; the fast ones are in rows.cu.
//
// Element (r, c) of a view lies at r * stride + c of its pointer; a row is a block's, so grid.x = rows. Sums are float32, in
// an order that depends on `columns` alone. Outputs may be inputs where the backend's contract says so.
// Grids, blocks, parameters: tools/cuda-lab/ENTRIES.md.
#include "common/ampere.cuh"
#include "common/elements.cuh"
#include "gemm/epilogue.cuh"

constexpr int THREADS = 256;

// Sum over the block: pairwise in its warps, then warp after warp; the same bits in all threads.
__device__ __forceinline__ float blockSum(float x, float* shared) {
    x = warpSum(x);
    __syncthreads();  // the last sum has been read
    if (threadIdx.x % 32 == 0) {
        shared[threadIdx.x / 32] = x;
    }
    __syncthreads();
    float sum = shared[0];
#pragma unroll
    for (int w = 1; w < THREADS / 32; w++) {
        sum += shared[w];
    }
    return sum;
}

template <class T, bool ADDS>
__device__ __forceinline__ void norm(const Number<T>* input, i64 inputStride, int takesMean, const float* weight,
    float weightOffset, const float* bias, float epsilon, float scale, Number<T>* output, i64 outputStride, int columns) {
    __shared__ float shared[THREADS / 32];
    launchNext();
    waitForPrevious();
    const Number<T>* in = input + blockIdx.x * inputStride + blockIdx.y * columns;  // heads of `columns` numbers
    Number<T>* out = output + blockIdx.x * outputStride + blockIdx.y * columns;
    float mean = 0.0f;
    if (takesMean) {
        float sum = 0.0f;
        for (int c = threadIdx.x; c < columns; c += THREADS) {
            sum += load<T>(in, c);
        }
        mean = blockSum(sum, shared) / columns;
    }
    float squares = 0.0f;
    for (int c = threadIdx.x; c < columns; c += THREADS) {
        float x = load<T>(in, c) - mean;
        squares = fmaf(x, x, squares);
    }
    float factor = 1.0f / sqrtf(blockSum(squares, shared) / columns + epsilon);
    for (int c = threadIdx.x; c < columns; c += THREADS) {
        float y = (load<T>(in, c) - mean) * factor * (weight[c] + weightOffset);
        y = bias ? y + bias[c] : y;
        store<T>(out, c, ADDS ? load<T>(out, c) + scale * y : y);
    }
}

// Of the sparse activations of Gemma 3n: what lies less than so many standard deviations above the mean is 0.
template <class T>
__device__ __forceinline__ void sparsify(Number<T>* gates, i64 stride, float deviations, int columns) {
    __shared__ float shared[THREADS / 32];
    launchNext();
    waitForPrevious();
    Number<T>* row = gates + blockIdx.x * stride;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += THREADS) {
        sum += load<T>(row, c);
    }
    float mean = blockSum(sum, shared) / columns;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < columns; c += THREADS) {
        float x = load<T>(row, c) - mean;
        squares = fmaf(x, x, squares);
    }
    float bound = fmaf(deviations, sqrtf(blockSum(squares, shared) / columns), mean);
    for (int c = threadIdx.x; c < columns; c += THREADS) {
        store<T>(row, c, fmaxf(0.0f, load<T>(row, c) - bound));
    }
}

// output += input, made as long as another row.
template <class T>
__device__ __forceinline__ void addAsLongAs(const Number<T>* input, i64 inputStride, const Number<T>* like, i64 likeStride,
    Number<T>* output, i64 outputStride, int columns) {
    __shared__ float shared[THREADS / 32];
    launchNext();
    waitForPrevious();
    i64 row = blockIdx.x;
    float own = 0.0f;
    float other = 0.0f;
    for (int c = threadIdx.x; c < columns; c += THREADS) {
        float x = load<T>(input, row * inputStride + c);
        float y = load<T>(like, row * likeStride + c);
        own = fmaf(x, x, own);
        other = fmaf(y, y, other);
    }
    own = sqrtf(blockSum(own, shared) / columns);
    other = sqrtf(blockSum(other, shared) / columns);
    float factor = other / fmaxf(own, sqrtf(1e-5f));
    for (int c = threadIdx.x; c < columns; c += THREADS) {
        float x = load<T>(input, row * inputStride + c);
        store<T>(output, row * outputStride + c, fmaf(factor, x, load<T>(output, row * outputStride + c)));
    }
}

// Divides `count` numbers by their sum plus epsilon.
__device__ __forceinline__ void divide(float* numbers, int step, int count, float epsilon) {
    float total = epsilon;
    for (int i = 0; i < count; i++) {
        total += numbers[i * step];
    }
    for (int i = 0; i < count; i++) {
        numbers[i * step] /= total;
    }
}

// How n streams go on in each other: a softmax of each row of a square, whose columns and rows are divided by their sums in
// turns; a lane has a row or a column.
__device__ __forceinline__ void balance(float* square, int n, int rounds, float epsilon) {
    for (int i = threadIdx.x; i < n; i += 32) {
        float* row = square + i * n;
        float largest = row[0];
        for (int j = 1; j < n; j++) {
            largest = fmaxf(largest, row[j]);
        }
        for (int j = 0; j < n; j++) {
            row[j] = expf(row[j] - largest);
        }
        divide(row, 1, n, 0.0f);
        for (int j = 0; j < n; j++) {
            row[j] += epsilon;
        }
    }
    for (int round = 0; round < rounds; round++) {
        __syncwarp();
        for (int i = threadIdx.x; i < n && round > 0; i += 32) {
            divide(square + i * n, 1, n, epsilon);
        }
        __syncwarp();
        for (int i = threadIdx.x; i < n; i += 32) {
            divide(square + i, n, n, epsilon);
        }
    }
    __syncwarp();
}

// Coefficients of n residual streams from products of them (hyper-connections): n for what is read, then, where something is
// given back, for each stream how much it takes of that and of each stream. A row is a warp's; output may be the input.
template <class T>
__device__ __forceinline__ void connect(const Number<T>* products, i64 productStride, int n, int rounds, float epsilon,
    int takes, float magnitude, float offset, int givenFirst, Number<T>* coefficients, i64 stride) {
    extern __shared__ float x[];  // the products: n, n, [n, n]
    launchNext();
    waitForPrevious();
    i64 row = blockIdx.x;
    int count = takes ? 2 * n + (rounds > 0 ? n * n : 0) : n;
    for (int i = threadIdx.x; i < count; i += 32) {
        x[i] = load<T>(products, row * productStride + i);
    }
    __syncwarp();
    const float* square = x + 2 * n;
    if (rounds > 0) {
        balance(x + 2 * n, n, rounds, epsilon);
    }
    Number<T>* out = coefficients + row * stride;
    for (int k = threadIdx.x; k < n; k += 32) {
        store<T>(out, k, sigmoid(x[k]) + epsilon);
        int at = n + k * (n + 1);
        if (takes) {
            store<T>(out, givenFirst ? at : at + n, fmaf(magnitude, sigmoid(x[n + k]), offset));
        }
        for (int j = 0; takes && j < n; j++) {
            float same = j == k ? 1.0f : 0.0f;
            store<T>(out, at + j + (givenFirst ? 1 : 0), rounds > 0 ? square[j * n + k] : same);
        }
    }
}

// What a row operation does with each of its numbers: output = operation(column).
template <class T, class OPERATION>
__device__ __forceinline__ void each(Number<T>* output, i64 outputStride, int columns, OPERATION operation) {
    launchNext();
    int column = blockIdx.y * THREADS + threadIdx.x;
    waitForPrevious();
    if (column < columns) {
        i64 row = blockIdx.x;
        store<T>(output, row * outputStride + column, operation(row, column));
    }
}

template <class T>
__device__ __forceinline__ float gatedNumber(float gate, float up, int activation, float limit, float upLimit, float upOffset) {
    return activate(activation, fminf(gate, limit)) * (fmaxf(-upLimit, fminf(up, upLimit)) + upOffset);
}

// A trained activation (xIELU): a square above 0, an exponential below.
__device__ __forceinline__ float trained(float x, float positive, float negative, float slope, float bound) {
    float bent = x > 0.0f ? positive * x * x : negative * (expm1f(fminf(x, bound)) - x);
    return fmaf(slope, x, bent);
}

__device__ __forceinline__ float capped(float x, float scale, float softCap) {
    x *= scale;
    return softCap == 0.0f ? x : softCap * tanhf(x / softCap);
}

// Two layers' pages lie layerBytes apart; grid (pieces, layers). Page and address are multiples of 16 bytes, or of 2.
extern "C" __global__ void __launch_bounds__(256) copy_page(char* cache, i64 layerBytes, i64 pageBytes, int from, int to) {
    launchNext();
    waitForPrevious();
    const char* source = cache + blockIdx.y * layerBytes + from * pageBytes;
    char* target = cache + blockIdx.y * layerBytes + to * pageBytes;
    i64 first = (i64)blockIdx.x * 256 + threadIdx.x;
    i64 step = (i64)gridDim.x * 256;
    if ((((u64)source | (u64)target | pageBytes) & 15) == 0) {
        for (i64 i = first; i < pageBytes / 16; i += step) {
            ((uint4*)target)[i] = ((const uint4*)source)[i];
        }
    } else {
        for (i64 i = first; i < pageBytes / 2; i += step) {
            ((u16*)target)[i] = ((const u16*)source)[i];
        }
    }
}

#define ROWS(T, SUFFIX)                                                                                                       \
    extern "C" __global__ void __launch_bounds__(256)                                                                         \
        norm_##SUFFIX(const Number<T>* input, i64 inputStride, int takesMean, const float* weight, float weightOffset,        \
            const float* bias, float epsilon, Number<T>* output, i64 outputStride, int columns) {                             \
        norm<T, false>(                                                                                                       \
            input, inputStride, takesMean, weight, weightOffset, bias, epsilon, 1.0f, output, outputStride, columns);         \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256)                                                                         \
        add_normed_##SUFFIX(const Number<T>* input, i64 inputStride, int takesMean, const float* weight, float weightOffset,  \
            const float* bias, float epsilon, float scale, Number<T>* output, i64 outputStride, int columns) {                \
        norm<T, true>(                                                                                                        \
            input, inputStride, takesMean, weight, weightOffset, bias, epsilon, scale, output, outputStride, columns);        \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256)                                                                         \
        gated_##SUFFIX(const Number<T>* gate, i64 gateStride, const Number<T>* up, i64 upStride, int activation, float limit, \
            float upLimit, float upOffset, Number<T>* output, i64 outputStride, int columns) {                                \
        each<T>(output, outputStride, columns, [&](i64 r, int c) {                                                            \
            return gatedNumber<T>(                                                                                            \
                load<T>(gate, r * gateStride + c), load<T>(up, r * upStride + c), activation, limit, upLimit, upOffset);      \
        });                                                                                                                   \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256) add_gated_##SUFFIX(const Number<T>* input, i64 inputStride,             \
        const Number<T>* gate, i64 gateStride, float scale, Number<T>* output, i64 outputStride, int columns) {               \
        each<T>(output, outputStride, columns, [&](i64 r, int c) {                                                            \
            float factor = sigmoid(load<T>(gate, r * gateStride)) * scale;                                                    \
            return fmaf(factor, load<T>(input, r * inputStride + c), load<T>(output, r * outputStride + c));                  \
        });                                                                                                                   \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256) combine_experts_##SUFFIX(const Number<T>* input, i64 inputStride,       \
        const float* weights, int chosen, float scale, int adds, Number<T>* output, i64 outputStride, int columns) {          \
        each<T>(output, outputStride, columns, [&](i64 r, int c) {                                                            \
            float sum = 0.0f;                                                                                                 \
            for (i64 j = r * chosen; j < (r + 1) * chosen; j++) {                                                             \
                sum = fmaf(weights[j], load<T>(input, j * inputStride + c), sum);                                             \
            }                                                                                                                 \
            return fmaf(scale, sum, adds ? load<T>(output, r * outputStride + c) : 0.0f);                                     \
        });                                                                                                                   \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256) gather_##SUFFIX(                                                        \
        const Number<T>* input, i64 inputStride, const int* index, Number<T>* output, i64 outputStride, int columns) {        \
        each<T>(output, outputStride, columns, [&](i64 r, int c) { return load<T>(input, index[r] * inputStride + c); });     \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256) order_##SUFFIX(                                                         \
        const Number<T>* input, i64 inputStride, const int* order, Number<T>* output, i64 outputStride, int columns) {        \
        each<T>(output, outputStride, columns, [&](i64 r, int c) { return load<T>(input, r * inputStride + order[c]); });     \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256)                                                                         \
        sparsify_##SUFFIX(Number<T>* gates, i64 stride, float deviations, int columns) {                                      \
        sparsify<T>(gates, stride, deviations, columns);                                                                      \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256) xielu_##SUFFIX(                                                         \
        Number<T>* numbers, i64 stride, float positive, float negative, float slope, float bound, int columns) {              \
        each<T>(numbers, stride, columns,                                                                                     \
            [&](i64 r, int c) { return trained(load<T>(numbers, r * stride + c), positive, negative, slope, bound); });       \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256) add_as_long_as_##SUFFIX(const Number<T>* input, i64 inputStride,        \
        const Number<T>* like, i64 likeStride, Number<T>* output, i64 outputStride, int columns) {                            \
        addAsLongAs<T>(input, inputStride, like, likeStride, output, outputStride, columns);                                  \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(32)                                                                          \
        connect_##SUFFIX(const Number<T>* products, i64 productStride, int streams, int rounds, float epsilon, int takes,     \
            float magnitude, float offset, int givenFirst, Number<T>* coefficients, i64 stride) {                             \
        connect<T>(                                                                                                           \
            products, productStride, streams, rounds, epsilon, takes, magnitude, offset, givenFirst, coefficients, stride);   \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256)                                                                         \
        mix_##SUFFIX(const Number<T>* input, i64 inputStride, const Number<T>* coefficients, i64 coefficientStride,           \
            int inputs, int width, Number<T>* output, i64 outputStride, int columns) {                                        \
        each<T>(output, outputStride, columns, [&](i64 r, int c) {                                                            \
            const Number<T>* factors = coefficients + r * coefficientStride + c / width * inputs;                             \
            float sum = 0.0f;                                                                                                 \
            for (int i = 0; i < inputs; i++) {                                                                                \
                sum = fmaf(load<T>(factors, i), load<T>(input, r * inputStride + (i64)i * width + c % width), sum);           \
            }                                                                                                                 \
            return sum;                                                                                                       \
        });                                                                                                                   \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256)                                                                         \
        scale_logits_##SUFFIX(Number<T>* logits, i64 stride, float scale, float softCap, int columns) {                       \
        each<T>(                                                                                                              \
            logits, stride, columns, [&](i64 r, int c) { return capped(load<T>(logits, r * stride + c), scale, softCap); });  \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(256)                                                                         \
        to_floats_##SUFFIX(const Number<T>* input, i64 inputStride, float* output, i64 outputStride, int columns) {           \
        each<F32>(output, outputStride, columns, [&](i64 r, int c) { return load<T>(input, r * inputStride + c); });          \
    }

ROWS(F32, f32)
ROWS(Bf16, bf16)
ROWS(F16, f16)
