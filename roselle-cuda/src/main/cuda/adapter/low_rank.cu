// What adapters add to products: output[r] += sum over parts of scale * factor * B (A input[r]) (LoRA, Hu et al., 2021), each row
// with its own adapter. Rows without one, and those whose adapter leaves the weight alone, are not touched.
//
// low_rank_shrink: shrunk[s, r, j] = sum of A[j, k] input[r, k] over slice s of the columns, 1,024 of them, for all parts of a weight
//     one behind the other. A block of 128 threads has 16 ranks of up to ROWS neighbouring rows with one adapter, in one slice. Its
//     warps take the runs of 32 columns in turn, 16-bit numbers by mma.m16n8k16, with the ranks on its M side, rows on its N side;
//     then warps are added in order.
// low_rank_expand: output[r, o] += sum over j, ascending, fused onto what is there, of B[j, o] (scale * (factor * sum over s, ascending,
//     of shrunk[s, r, j])). A warp has 256 outputs of ROWS rows, a lane eight neighbouring ones.
//
// low_rank_gated: the same with what a product leaves for gates and ups, both multiples of 8 as are the parts, and then, with the
//     bits of gated of rows.cu, output[r] = activation(min(gate, limit)) * (clamp(up, -upLimit, upLimit) + upOffset), of all rows.
//
// So a number's sum depends on the matrices alone. Kernels named `many` take more rows of an adapter at a time, those named `each` one.
// Which adapter a row has, and the adapter, lie there since before the step: they are read while the kernel before still runs. A shrinks
// what a product reads, so it is launched before the product, which meanwhile fetches weights.
// Grids, blocks, parameters: tools/cuda-lab/ENTRIES.md.
#include "adapter/added.cuh"
#include "common/ampere.cuh"
#include "common/elements.cuh"
#include "rows/gate_normed.cuh"

constexpr int WARPS = 4;
constexpr int THREADS = 32 * WARPS;
constexpr int RANKS = 16;  // of a block that shrinks, and that a warp expands at a time
constexpr int SLICE = 1024;  // columns
constexpr int TILE = 256;  // outputs of a block that expands
constexpr int EACH_BLOCKS = __CUDA_ARCH__ < 1000 ? 4 : 3;  // of a multiprocessor: as many as spill nothing

// Blocks without work make room at once, but for one, so that who waits for this kernel waits for those before it all the same.
__device__ __forceinline__ void waitOnce() {
    if (blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0) {
        waitForPrevious();
    }
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

// The rows of a block that shrinks: neighbours with one adapter among ROWS that begin at a multiple of it. Their first row's block
// has them; other blocks have none.
template <int ROWS>
__device__ __forceinline__ int together(const u64* adapters, int row, int rows) {
    u64 mine = adapters[row];
    if (mine == 0 || (row % ROWS != 0 && adapters[row - 1] == mine)) {
        return 0;
    }
    int end = min(rows, (row / ROWS + 1) * ROWS);
    int count = 1;
    while (row + count < end && adapters[row + count] == mine) {
        count++;
    }
    return count;
}

// What a block that shrinks works on.
template <class T>
struct Shrunk {
    const Number<T>* matrix;  // the first of its ranks
    int stride;
    int ranks;
    const Number<T>* input;  // the first of its rows
    i64 inputStride;
    int columns;
    int rows;
    int firstColumn;
};

constexpr int STEPS = SLICE / (32 * WARPS);  // runs of 32 columns of a warp

// Numbers 8 t to 8 t + 7 of a run of 32 columns are those of lanes with lane % 4 = t: the first four go into the first mma, the
// others into the second, whose sums are added last; each time two as columns 2 t and 2 t + 1 of it, two as columns 2 t + 8 and 2 t + 9.
template <class T, int ROWS>
__device__ __forceinline__ void shrinkSlice(const Shrunk<T>& s, float (*partial)[RANKS * ROWS]) {
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int group = lane / 4;
    int first = s.firstColumn + warp * 32 + lane % 4 * 8;
    const uint4 zeros = make_uint4(0, 0, 0, 0);
    uint4 a[STEPS][2];
#pragma unroll
    for (int i = 0; i < STEPS; i++) {
        int k = first + i * 32 * WARPS;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int rank = group + 8 * half;
            bool present = k < s.stride && rank < s.ranks;
            a[i][half] = present ? *(const uint4*)(s.matrix + (i64)rank * s.stride + k) : zeros;
        }
    }
    waitForPrevious();
#pragma unroll 1
    for (int tile = 0; tile < ROWS && tile < s.rows; tile += 8) {
        float sums[2][4] = {};
        const u16* input = s.input + (tile + group) * s.inputStride;
        bool isRow = tile + group < s.rows;
        bool isAligned = ((u64)input & 15) == 0;
        uint4 x[STEPS];
#pragma unroll
        for (int i = 0; i < STEPS; i++) {
            int k = first + i * 32 * WARPS;
            x[i] = isRow && isAligned && k + 8 <= s.columns ? *(const uint4*)(input + k) : zeros;
        }
        if (!isAligned || s.firstColumn + SLICE > s.columns) {
#pragma unroll
            for (int i = 0; i < STEPS; i++) {
                int k = first + i * 32 * WARPS;
                if (isRow && k < s.columns && (!isAligned || k + 8 > s.columns)) {
                    u32 words[4] = {};
#pragma unroll
                    for (int n = 0; n < 8; n++) {
                        words[n / 2] |= k + n < s.columns ? (u32)input[k + n] << n % 2 * 16 : 0;
                    }
                    x[i] = make_uint4(words[0], words[1], words[2], words[3]);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < STEPS; i++) {
            u32 low[4] = {a[i][0].x, a[i][1].x, a[i][0].y, a[i][1].y};
            u32 high[4] = {a[i][0].z, a[i][1].z, a[i][0].w, a[i][1].w};
            mma<T>(sums[0], low, x[i].x, x[i].y);
            mma<T>(sums[1], high, x[i].z, x[i].w);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            partial[warp][(tile + lane % 4 * 2 + i % 2) * RANKS + group + i / 2 * 8] = __fadd_rn(sums[0][i], sums[1][i]);
        }
    }
}

// The same of float32 numbers: a thread has eight columns.
template <class T, int ROWS>
__device__ __forceinline__ void shrinkFloats(const Shrunk<T>& s, float (*partial)[RANKS * ROWS]) {
    int k = s.firstColumn + 8 * threadIdx.x;
    waitForPrevious();
    for (int j = 0; j < s.ranks; j++) {
        float a[8] = {};
        if (k < s.stride) {
            loadEight<T>(s.matrix + (i64)j * s.stride + k, a);
        }
        for (int i = 0; i < s.rows; i++) {
            float x[8];
            loadSome<T>(s.input + i * s.inputStride, k, s.columns, x);
            float sum = 0.0f;
#pragma unroll
            for (int n = 0; n < 8; n++) {
                sum = __fmaf_rn(a[n], x[n], sum);
            }
            sum = warpSum(sum);
            if (threadIdx.x % 32 == 0) {
                partial[threadIdx.x / 32][i * RANKS + j] = sum;
            }
        }
    }
}

template <class T, int ROWS>
__device__ __forceinline__ void shrink(const Number<T>* input, i64 inputStride, int columns, const u64* adapters, int weight,
    float* shrunk, int shrunkStride, int rows) {
    __shared__ float partial[WARPS][RANKS * ROWS];
    launchNext();
    int row = blockIdx.x;
    int count = together<ROWS>(adapters, row, rows);
    if (count > 0) {
        Added added(adapters[row], weight);
        int first = blockIdx.y * RANKS;
        int ranks = min(RANKS, added.ranks() - first);
        if (ranks > 0) {
            int stride = added.parts->stride;
            const Number<T>* matrix = (const Number<T>*)(added.adapter + added.parts->shrink) + (i64)first * stride;
            Shrunk<T> s = {
                matrix, stride, ranks, input + row * inputStride, inputStride, columns, count, (int)blockIdx.z * SLICE};
            if constexpr (sizeof(Number<T>) == 2) {
                shrinkSlice<T, ROWS>(s, partial);
            } else {
                shrinkFloats<T, ROWS>(s, partial);
            }
            __syncthreads();
            float* target = shrunk + ((i64)blockIdx.z * rows + row) * shrunkStride + first;
            for (int at = threadIdx.x; at < count * RANKS; at += THREADS) {
                float sum = partial[0][at];
#pragma unroll
                for (int warp = 1; warp < WARPS; warp++) {
                    sum = __fadd_rn(sum, partial[warp][at]);
                }
                if (at % RANKS < ranks) {
                    target[(i64)(at / RANKS) * shrunkStride + at % RANKS] = sum;
                }
            }
        }
    }
    waitOnce();
}

// What the slices of columns gave, added in order; eight are read at once.
__device__ __forceinline__ float sumOfSlices(const float* from, i64 stride, int slices) {
    float sum = from[0];
    for (int first = 1; first < slices; first += 8) {
        float next[8];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            next[i] = first + i < slices ? from[(first + i) * stride] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < 8; i++) {
            sum = first + i < slices ? __fadd_rn(sum, next[i]) : sum;
        }
    }
    return sum;
}

// Rows of a warp that have one adapter.
struct Expanded {
    const char* adapter;
    int count;
    const float* shrunk;  // of the first of them
    int shrunkStride;
    i64 sliceStride;
    int slices;
    float factor;
    float (*numbers)[RANKS];  // [rows][RANKS] of shared memory
};

// Adds a part to eight outputs of each row, those of the part from `at` on where `isThere`. B of HELD ranks is read at once, and
// before `begin`, which has the sums begin with what is there.
template <class T, int ROWS, int HELD, class BEGIN>
__device__ __forceinline__ void accumulate(
    float (&sums)[ROWS][8], const Expanded& e, const AddedPart& part, int at, bool isThere, BEGIN begin) {
    const Number<T>* matrix = (const Number<T>*)(e.adapter + part.expand) + at;
    for (int first = 0; first < part.rank; first += RANKS) {
        Held<T> b[HELD];
        auto read = [&](int next) {
#pragma unroll
            for (int j = 0; j < HELD; j++) {
                if (isThere && next + j < part.rank) {
                    b[j].read(matrix + (i64)(next + j) * part.width);
                }
            }
        };
        read(first);
        if (first == 0) {
            begin();
        }
        __syncwarp();
#pragma unroll
        for (int i = threadIdx.x % 32; i < ROWS * RANKS; i += 32) {
            int row = i / RANKS;
            int rank = first + i % RANKS;
            if (row < e.count && rank < part.rank) {
                const float* from = e.shrunk + (i64)row * e.shrunkStride + part.firstRank + rank;
                float sum = sumOfSlices(from, e.sliceStride, e.slices);
                e.numbers[row][i % RANKS] = __fmul_rn(part.scale, __fmul_rn(e.factor, sum));
            }
        }
        __syncwarp();
        for (int next = 0; next < RANKS && isThere; next += HELD) {
            if (next > 0) {
                read(first + next);
            }
#pragma unroll
            for (int j = 0; j < HELD; j++) {
                if (first + next + j < part.rank) {
                    float x[8];
                    b[j].give(x);
#pragma unroll
                    for (int i = 0; i < ROWS; i++) {
                        if (i < e.count) {
                            float number = e.numbers[i][next + j];
#pragma unroll
                            for (int n = 0; n < 8; n++) {
                                sums[i][n] = __fmaf_rn(x[n], number, sums[i][n]);
                            }
                        }
                    }
                }
            }
        }
    }
}

// How many rows from `row` on have its adapter.
__device__ __forceinline__ int alike(const u64* adapters, int row, int end) {
    int count = 1;
    while (row + count < end && adapters[row + count] == adapters[row]) {
        count++;
    }
    return count;
}

template <class T, int ROWS, int HELD>
__device__ __forceinline__ void expand(Number<T>* output, i64 outputStride, const u64* adapters, int weight, float factor,
    const float* shrunk, int shrunkStride, int slices, int rows) {
    __shared__ float numbers[WARPS][ROWS][RANKS];
    launchNext();
    int warp = threadIdx.x / 32;
    int first = (blockIdx.x * WARPS + warp) * ROWS;
    int end = min(rows, first + ROWS);
    for (int row = first; row < end;) {
        int count = alike(adapters, row, end);
        Added added(adapters[row], weight);
        int tile = blockIdx.y;
        int index = 0;
        while (index < added.count && tile >= (added.parts[index].outputs + TILE - 1) / TILE) {
            tile -= (added.parts[index++].outputs + TILE - 1) / TILE;
        }
        if (index < added.count) {
            AddedPart part = added.parts[index];
            Number<T>* to = output + row * outputStride + part.firstOutput;
            int at = tile * TILE + threadIdx.x % 32 * 8;
            bool isThere = at < part.outputs;
            float sums[ROWS][8];
            Expanded e = {added.adapter, count, shrunk + (i64)row * shrunkStride, shrunkStride, (i64)rows * shrunkStride,
                slices, factor, numbers[warp]};
            accumulate<T, ROWS, HELD>(sums, e, part, at, isThere, [&] {
                waitForPrevious();
#pragma unroll
                for (int i = 0; i < ROWS; i++) {
                    if (isThere && i < count) {
                        loadSome<T>(to + i * outputStride, at, part.outputs, sums[i]);
                    }
                }
            });
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                if (isThere && i < count) {
                    storeSome<T>(to + i * outputStride, at, part.outputs, sums[i]);
                }
            }
        }
        row += count;
    }
    waitOnce();
}

template <class T, int ROWS, int HELD>
__device__ __forceinline__ void expandAndGate(const u16* gate, i64 gateStride, const u16* up, i64 upStride, const u64* adapters,
    int weight, float factor, const float* shrunk, int shrunkStride, int slices, int activation, float limit, float upLimit,
    float upOffset, u16* output, i64 outputStride, int columns, int rows) {
    __shared__ float numbers[WARPS][ROWS][RANKS];
    launchNext();
    int warp = threadIdx.x / 32;
    int first = (blockIdx.x * WARPS + warp) * ROWS;
    int end = min(rows, first + ROWS);
    int column = blockIdx.y * TILE + threadIdx.x % 32 * 8;
    bool isThere = column < columns;
    for (int row = first; row < end;) {
        int count = alike(adapters, row, end);
        Added added(adapters[row], weight);
        Expanded e = {added.adapter, count, shrunk + (i64)row * shrunkStride, shrunkStride, (i64)rows * shrunkStride, slices,
            factor, numbers[warp]};
        uint4 products[2][ROWS];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const u16* from = (half == 0 ? gate + row * gateStride : up + row * upStride) + column;
            i64 stride = half == 0 ? gateStride : upStride;
            float sums[ROWS][8];
            bool isRead = false;
            auto begin = [&] {
                if (!isRead) {
                    waitForPrevious();
#pragma unroll
                    for (int i = 0; i < ROWS; i++) {
                        if (isThere && i < count) {
                            unpack<T>(*(const uint4*)(from + i * stride), sums[i]);
                        }
                    }
                }
                isRead = true;
            };
            for (int index = 0; index < added.count; index++) {
                AddedPart part = added.parts[index];
                int at = half * columns + column - part.firstOutput;
                bool isIn = isThere && at >= 0 && at < part.outputs;
                if (__any_sync(~0u, isIn)) {
                    accumulate<T, ROWS, HELD>(sums, e, part, at, isIn, begin);
                }
            }
            begin();
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                products[half][i] = isThere && i < count ? packed<T>(sums[i]) : make_uint4(0, 0, 0, 0);
            }
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            if (isThere && i < count) {
                *(uint4*)(output + (row + i) * outputStride + column) =
                    gatedEight<T>(products[0][i], products[1][i], activation, limit, upLimit, upOffset);
            }
        }
        row += count;
    }
    waitOnce();
}

#define SHRINK(T, SUFFIX, ROWS)                                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS) low_rank_shrink_##SUFFIX(const Number<T>* input, i64 inputStride, \
        int columns, const u64* adapters, int weight, float* shrunk, int shrunkStride, int rows) {                          \
        shrink<T, ROWS>(input, inputStride, columns, adapters, weight, shrunk, shrunkStride, rows);                         \
    }
#define EXPAND(T, SUFFIX, ROWS, HELD, BLOCKS)                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)                                                    \
        low_rank_expand_##SUFFIX(Number<T>* output, i64 outputStride, const u64* adapters, int weight, float factor, \
            const float* shrunk, int shrunkStride, int slices, int rows) {                                           \
        expand<T, ROWS, HELD>(output, outputStride, adapters, weight, factor, shrunk, shrunkStride, slices, rows);   \
    }
#define GATED(T, SUFFIX, ROWS, HELD, BLOCKS)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)                                                              \
        low_rank_gated_##SUFFIX(const u16* gate, i64 gateStride, const u16* up, i64 upStride, const u64* adapters, int weight, \
            float factor, const float* shrunk, int shrunkStride, int slices, int activation, float limit, float upLimit,       \
            float upOffset, u16* output, i64 outputStride, int columns, int rows) {                                            \
        expandAndGate<T, ROWS, HELD>(gate, gateStride, up, upStride, adapters, weight, factor, shrunk, shrunkStride, slices,   \
            activation, limit, upLimit, upOffset, output, outputStride, columns, rows);                                        \
    }
#define LOW_RANK(T, SUFFIX, EACH_HELD)                  \
    SHRINK(T, SUFFIX, 8)                                \
    SHRINK(T, many_##SUFFIX, 32)                        \
    EXPAND(T, each_##SUFFIX, 1, EACH_HELD, EACH_BLOCKS) \
    EXPAND(T, SUFFIX, 2, RANKS, 2)                      \
    EXPAND(T, many_##SUFFIX, 8, 2, 2)

LOW_RANK(Bf16, bf16, RANKS)
LOW_RANK(F16, f16, RANKS)
LOW_RANK(F32, f32, RANKS / 2)
GATED(Bf16, each_bf16, 1, RANKS / 2, EACH_BLOCKS)
GATED(F16, each_f16, 1, RANKS / 2, EACH_BLOCKS)
GATED(Bf16, bf16, 2, RANKS / 2, 2)
GATED(F16, f16, 2, RANKS / 2, 2)
GATED(Bf16, many_bf16, 8, 2, 2)
GATED(F16, many_f16, 8, 2, 2)
