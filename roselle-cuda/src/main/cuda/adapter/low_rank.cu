// What adapters add to products: output[r] += factor * sum over parts of scale * B (A input[r]) (LoRA, Hu et al., 2021), each row
// with its own adapter. Rows without one, and those whose adapter leaves the weight alone, are not touched.
//
// low_rank_shrink: shrunk[r, j] = factor * sum over k of A[j, k] input[r, k], for all parts of a weight one behind the other.
//     A block of 128 threads has RANKS sums of ROWS rows. A thread has numbers 8 t to 8 t + 7, and those 1,024 farther on; then
//     lanes are added, then warps in order.
// low_rank_expand: output[r, o] += sum over j, ascending, fused onto what is there, of B[j, o] (scale * shrunk[r, j]).
//     A thread has eight neighbouring outputs of ROWS rows.
//
// So a number's sum depends on the matrices alone. Kernels named `many` take eight rows of an adapter at a time. Which adapter a
// row has, and the adapter, lie there since before the step: they are read while the kernel before still runs.
// Grids, blocks, parameters: tools/cuda-lab/ENTRIES.md.
#include "common/ampere.cuh"
#include "common/elements.cuh"

constexpr int THREADS = 128;
constexpr int TILE = 8 * THREADS;  // outputs of a block that expands

// What an adapter adds to outputs of a weight that follow each other.
struct AddedPart {
    i64 shrink;  // bytes from the adapter's beginning to A, [rank, stride]; those of a weight's parts follow each other
    i64 expand;  // to B turned, [rank, width]
    int firstOutput;
    int outputs;
    int firstRank;  // among all of the weight
    int rank;
    int stride;  // columns, filled up with zeros to a multiple of 8
    int width;  // outputs, likewise
    float scale;
};

// What a row's adapter adds to a weight. An adapter begins with the number of weights that it knows of, where the parts of each
// begin, and where the last ones end; then the parts, from a multiple of 16 bytes on.
struct Added {
    const char* adapter;
    const AddedPart* parts = nullptr;
    int count = 0;

    __device__ __forceinline__ Added(u64 address, int weight) : adapter((const char*)address) {
        if (address == 0) {
            return;
        }
        const int* header = (const int*)adapter;
        int weights = header[0];
        if (weight < weights) {
            parts = (const AddedPart*)(adapter + (4 * (weights + 2) + 15) / 16 * 16) + header[1 + weight];
            count = header[2 + weight] - header[1 + weight];
        }
    }

    __device__ __forceinline__ int ranks() const {
        return count == 0 ? 0 : parts[count - 1].firstRank + parts[count - 1].rank;
    }
};

// Rows from `row` on that have the same adapter.
__device__ __forceinline__ int together(const u64* adapters, int row, int end) {
    int count = 1;
    while (row + count < end && adapters[row + count] == adapters[row]) {
        count++;
    }
    return count;
}

// Eight numbers of a row, zeros behind its end.
template <class T>
__device__ __forceinline__ void loadSome(const Number<T>* row, int at, int columns, float (&x)[8]) {
    if (at + 8 <= columns) {
        loadEight<T>(row + at, x);
        return;
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        x[i] = at + i < columns ? load<T>(row, at + i) : 0.0f;
    }
}

template <class T>
__device__ __forceinline__ void storeSome(Number<T>* row, int at, int columns, const float (&x)[8]) {
    if constexpr (sizeof(Number<T>) == 2) {
        if (at + 8 <= columns && ((u64)(row + at) & 15) == 0) {
            *(uint4*)(row + at) =
                make_uint4(pack<T>(x[0], x[1]), pack<T>(x[2], x[3]), pack<T>(x[4], x[5]), pack<T>(x[6], x[7]));
            return;
        }
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        if (at + i < columns) {
            store<T>(row, at + i, x[i]);
        }
    }
}

// Eight numbers of a matrix of an adapter, as they lie in memory.
template <class T>
struct Held {
    uint4 words[sizeof(Number<T>) / 2];

    __device__ __forceinline__ void read(const Number<T>* numbers) {
#pragma unroll
        for (int i = 0; i < (int)sizeof(Number<T>) / 2; i++) {
            words[i] = ((const uint4*)numbers)[i];
        }
    }

    __device__ __forceinline__ void give(float (&x)[8]) const {
        if constexpr (sizeof(Number<T>) == 2) {
            u32 pairs[4] = {words[0].x, words[0].y, words[0].z, words[0].w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                x[2 * i] = lowHalf<T>(pairs[i]);
                x[2 * i + 1] = highHalf<T>(pairs[i]);
            }
        } else {
            u32 all[8] = {words[0].x, words[0].y, words[0].z, words[0].w, words[1].x, words[1].y, words[1].z, words[1].w};
#pragma unroll
            for (int i = 0; i < 8; i++) {
                x[i] = __uint_as_float(all[i]);
            }
        }
    }
};

// PIECES of a row of A are read at once.
template <class T, int RANKS, int ROWS, int PIECES>
__device__ __forceinline__ void shrink(const Number<T>* input, i64 inputStride, int columns, const u64* adapters, int weight,
    float factor, float* shrunk, int shrunkStride, int rows) {
    __shared__ float partial[THREADS / 32][ROWS * RANKS];
    launchNext();
    bool isFirst = true;
    int first = blockIdx.y * RANKS;
    int end = min(rows, (int)(blockIdx.x + 1) * ROWS);
    for (int row = blockIdx.x * ROWS; row < end;) {
        int count = together(adapters, row, end);
        Added added(adapters[row], weight);
        int ranks = min(RANKS, added.ranks() - first);
        if (ranks > 0) {
            int stride = added.parts->stride;
            const Number<T>* matrix = (const Number<T>*)(added.adapter + added.parts->shrink) + (i64)first * stride;
            float sums[ROWS][RANKS] = {};
            for (int from = 8 * threadIdx.x; from < stride + 8 * (int)threadIdx.x; from += PIECES * 8 * THREADS) {
                Held<T> a[PIECES][RANKS];
#pragma unroll
                for (int p = 0; p < PIECES; p++) {
                    int k = from + p * 8 * THREADS;
#pragma unroll
                    for (int j = 0; j < RANKS; j++) {
                        if (j < ranks && k < stride) {
                            a[p][j].read(matrix + (i64)j * stride + k);
                        }
                    }
                }
                if (isFirst) {
                    waitForPrevious();
                    isFirst = false;
                }
#pragma unroll
                for (int p = 0; p < PIECES; p++) {
                    int k = from + p * 8 * THREADS;
                    if (k < stride) {
#pragma unroll
                        for (int i = 0; i < ROWS; i++) {
                            if (i < count) {
                                float x[8];
                                loadSome<T>(input + (row + i) * inputStride, k, columns, x);
#pragma unroll
                                for (int j = 0; j < RANKS; j++) {
                                    if (j < ranks) {
                                        float numbers[8];
                                        a[p][j].give(numbers);
#pragma unroll
                                        for (int n = 0; n < 8; n++) {
                                            sums[i][j] = __fmaf_rn(numbers[n], x[n], sums[i][j]);
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
#pragma unroll
                for (int j = 0; j < RANKS; j++) {
                    float sum = warpSum(sums[i][j]);
                    if (threadIdx.x % 32 == 0) {
                        partial[threadIdx.x / 32][i * RANKS + j] = sum;
                    }
                }
            }
            __syncthreads();
            int i = threadIdx.x / RANKS;
            int j = threadIdx.x % RANKS;
            if (i < count && j < ranks) {
                float sum = 0.0f;
#pragma unroll
                for (int warp = 0; warp < THREADS / 32; warp++) {
                    sum = __fadd_rn(sum, partial[warp][i * RANKS + j]);
                }
                shrunk[(i64)(row + i) * shrunkStride + first + j] = __fmul_rn(factor, sum);
            }
            __syncthreads();
        }
        row += count;
    }
    waitForPrevious();  // so that who waits for this kernel waits for those before it, whatever there was to do
}

// B of HELD ranks is read at once.
template <class T, int ROWS, int HELD>
__device__ __forceinline__ void expand(
    Number<T>* output, i64 outputStride, const u64* adapters, int weight, const float* shrunk, int shrunkStride, int rows) {
    launchNext();
    int end = min(rows, (int)(blockIdx.x + 1) * ROWS);
    for (int row = blockIdx.x * ROWS; row < end;) {
        int count = together(adapters, row, end);
        Added added(adapters[row], weight);
        int tile = blockIdx.y;
        int index = 0;
        while (index < added.count && tile >= (added.parts[index].outputs + TILE - 1) / TILE) {
            tile -= (added.parts[index++].outputs + TILE - 1) / TILE;
        }
        if (index < added.count) {
            AddedPart part = added.parts[index];
            int at = tile * TILE + 8 * threadIdx.x;
            if (at < part.outputs) {
                const Number<T>* matrix = (const Number<T>*)(added.adapter + part.expand) + at;
                Number<T>* to = output + row * outputStride + part.firstOutput;
                const float* from = shrunk + (i64)row * shrunkStride + part.firstRank;
                float sums[ROWS][8];
                for (int first = 0; first < part.rank; first += HELD) {
                    Held<T> b[HELD];
#pragma unroll
                    for (int j = 0; j < HELD; j++) {
                        if (first + j < part.rank) {
                            b[j].read(matrix + (i64)(first + j) * part.width);
                        }
                    }
                    if (first == 0) {
                        waitForPrevious();
#pragma unroll
                        for (int i = 0; i < ROWS; i++) {
                            if (i < count) {
                                loadSome<T>(to + i * outputStride, at, part.outputs, sums[i]);
                            }
                        }
                    }
#pragma unroll
                    for (int i = 0; i < ROWS; i++) {
                        if (i < count) {
                            float numbers[HELD];
#pragma unroll
                            for (int j = 0; j < HELD; j++) {
                                numbers[j] = first + j < part.rank
                                                 ? __fmul_rn(part.scale, from[(i64)i * shrunkStride + first + j])
                                                 : 0.0f;
                            }
#pragma unroll
                            for (int j = 0; j < HELD; j++) {
                                if (first + j < part.rank) {
                                    float x[8];
                                    b[j].give(x);
#pragma unroll
                                    for (int n = 0; n < 8; n++) {
                                        sums[i][n] = __fmaf_rn(x[n], numbers[j], sums[i][n]);
                                    }
                                }
                            }
                        }
                    }
                }
#pragma unroll
                for (int i = 0; i < ROWS; i++) {
                    if (i < count) {
                        storeSome<T>(to + i * outputStride, at, part.outputs, sums[i]);
                    }
                }
            }
        }
        row += count;
    }
    waitForPrevious();
}

#define LOW_RANK(T, SUFFIX)                                                                                                  \
    extern "C" __global__ void __launch_bounds__(THREADS) low_rank_shrink_##SUFFIX(const Number<T>* input, i64 inputStride,  \
        int columns, const u64* adapters, int weight, float factor, float* shrunk, int shrunkStride, int rows) {             \
        shrink<T, 4, 1, 4>(input, inputStride, columns, adapters, weight, factor, shrunk, shrunkStride, rows);               \
    }                                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                                    \
        low_rank_shrink_many_##SUFFIX(const Number<T>* input, i64 inputStride, int columns, const u64* adapters, int weight, \
            float factor, float* shrunk, int shrunkStride, int rows) {                                                       \
        shrink<T, 4, 8, 1>(input, inputStride, columns, adapters, weight, factor, shrunk, shrunkStride, rows);               \
    }                                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS) low_rank_expand_##SUFFIX(Number<T>* output, i64 outputStride,      \
        const u64* adapters, int weight, const float* shrunk, int shrunkStride, int rows) {                                  \
        expand<T, 1, 16>(output, outputStride, adapters, weight, shrunk, shrunkStride, rows);                                \
    }                                                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS, 2) low_rank_expand_many_##SUFFIX(Number<T>* output,                \
        i64 outputStride, const u64* adapters, int weight, const float* shrunk, int shrunkStride, int rows) {                \
        expand<T, 8, 2>(output, outputStride, adapters, weight, shrunk, shrunkStride, rows);                                 \
    }

LOW_RANK(Bf16, bf16)
LOW_RANK(F16, f16)
LOW_RANK(F32, f32)
