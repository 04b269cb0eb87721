// The experts that few rows chose: 16-bit weights as the checkpoint has them, BF16 and F16.
//
// experts_gated: output[r * chosen + j][n] = activation(min(gate, limit)) * (clamp(up, -limit, limit) + upOffset), with gate and up
//   the products of rows n and size + n of expert (r, j) with input[r]. A block has eight n of one choice: grid
//   (ceil(size / 8) * rows * chosen), 256 threads; shared memory: `columns` numbers, up to a multiple of 16 bytes, then 512 bytes.
// experts_combined: output[r] (+)= scale * sum over j of weights[r * chosen + j] * (expert (r, j) * input[r * chosen + j]), then, where
//   there is a shared expert beside them, output[r] += sigmoid(sharedGate[r][0]) * scale * shared[r]. A block has 16 outputs of a row:
//   grid (ceil(outputs / 16) * rows), SETS * 256 threads, of which set s has choices s, s + SETS and so on; shared memory: `columns`
//   numbers for each choice, up to a multiple of 16 bytes, then 580 * chosen + 132 bytes.
//
// An expert has fewer than 2^32 numbers, columns are a multiple of 32, up to 32 experts are chosen.
//
// Bits are those of the grouped products of linear_mma.cuh (warp w of eight has slice w of K, slices are added in order), of gated,
// combine_experts and add_gated, one after the other: numbers are rounded as these would store them.
//
// Weights go from memory to the registers that multiply: each is read once, and a warp asks for some ahead. experts_combined asks
// for its first ones while the kernel before it still runs: that is experts_gated, which lets it start no sooner than the routing is
// there.
#include "common/ampere.cuh"
#include "gemm/epilogue.cuh"

using u8 = unsigned char;

// Groups that a warp asks for before it needs them: what its registers take.
#if __CUDA_ARCH__ >= 1000
enum Ahead : int { OF_GATES = 2, OF_SUMS = 3 };
#else
enum Ahead : int { OF_GATES = 3, OF_SUMS = 3 };
#endif

enum Sizes : int { HALF = 8, ROWS = 2 * HALF, SLICES = 8, CHUNK = 64, GROUP = 32 };

// An expert's number, never from this multiprocessor's cache, which may have it from the last layer.
__device__ __forceinline__ int loadRouted(const int* from) {
    return *(const volatile int*)from;
}

// The columns of a warp's slice, in groups.
struct Slice {
    int first;
    int count;

    __device__ __forceinline__ Slice(int slice, int columns) {
        int chunks = (columns + CHUNK - 1) / CHUNK;
        first = slice * chunks / SLICES * (CHUNK / GROUP);
        count = min((slice + 1) * chunks / SLICES * (CHUNK / GROUP), columns / GROUP) - first;
    }
};

// The numbers of a group's columns that a lane multiplies with: of two rows, `step` numbers apart.
struct Group {
    uint4 low;
    uint4 high;

    __device__ __forceinline__ void load(const u16* from, u32 step) {
        low = loadOnce(from);
        high = loadOnce(from + step);
    }

    // sums[ROWS, first of eight tokens] += the rows * x.
    template <class T>
    __device__ __forceinline__ void multiply(const u16* x, float (&sums)[4]) const {
        uint4 b = threadIdx.x % 32 < 4 ? *(const uint4*)x : make_uint4(0, 0, 0, 0);
        mma<T>(sums, {low.x, high.x, low.y, high.y}, b.x, b.y);
        mma<T>(sums, {low.z, high.z, low.w, high.w}, b.z, b.w);
    }
};

// Keeps a slice's sums in [SLICES, ROWS].
__device__ __forceinline__ void keep(const float (&both)[4], int slice, float* sums) {
    int lane = threadIdx.x % 32;
    if (lane % 4 == 0) {
        float* to = sums + slice * ROWS + lane / 4;
        to[0] = both[0];
        to[HALF] = both[2];
    }
}

// Brings `count` rows of `columns` numbers that lie `step` numbers apart, one behind the other.
__device__ __forceinline__ void bring(const u16* from, i64 step, u16* to, int count, int columns) {
    int pieces = columns / 8;
#pragma unroll 1
    for (int i = threadIdx.x; i < count * pieces; i += blockDim.x) {
        *(uint4*)(to + i * 8) = *(const uint4*)(from + i / pieces * step + i % pieces * 8);
    }
}

// The sum of a choice's slices, [SLICES, ROWS], as a product would store it.
template <class T>
__device__ __forceinline__ float stored(const float* sums, int row) {
    float sum = sums[row];
#pragma unroll
    for (int s = 1; s < SLICES; s++) {
        sum = __fadd_rn(sum, sums[s * ROWS + row]);
    }
    return toFloat<T>(fromFloat<T>(sum));
}

// A multiprocessor has five blocks, so that 132 have the 576 of nine experts of 512 at once.
template <class T>
__device__ __forceinline__ void gatedExperts(const u16* weight, const u16* input, i64 inputStride, const int* experts,
    int chosen, int rows, int size, int columns, int activation, float limit, float upOffset, u16* output, i64 outputStride) {
    constexpr int AHEAD = OF_GATES;
    extern __shared__ __align__(128) u8 memory[];
    u16* x = (u16*)memory;
    float* sums = (float*)(memory + (columns * 2 + 15) / 16 * 16);
    int lane = threadIdx.x % 32;
    int choice = (int)blockIdx.x % (rows * chosen);
    int first = (int)blockIdx.x / (rows * chosen) * HALF;
    Slice slice(threadIdx.x / 32, columns);
    u32 step = (u32)size * columns;
    waitForPrevious();
    launchNext();  // whose first reads are of what is there now
    const u16* at = weight + loadRouted(experts + choice) * 2 * (i64)step;
    at += (u32)min(first + lane / 4, size - 1) * columns + slice.first * GROUP + lane % 4 * 8;  // rows behind the last are not stored
    Group ahead[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
        if (i < slice.count) {
            ahead[i].load(at + i * GROUP, step);
        }
    }
    bring(input + (i64)(choice / chosen) * inputStride, 0, x, 1, columns);
    __syncthreads();
    const u16* from = x + slice.first * GROUP + lane % 4 * 8;
    float both[4] = {};
#pragma unroll 1
    for (int left = slice.count; left > 0; left -= AHEAD) {
        at += AHEAD * GROUP;
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            if (i < left) {
                ahead[i].multiply<T>(from + i * GROUP, both);
                if (i + AHEAD < left) {
                    ahead[i].load(at + i * GROUP, step);
                }
            }
        }
        from += AHEAD * GROUP;
    }
    keep(both, threadIdx.x / 32, sums);
    __syncthreads();
    int n = first + (int)threadIdx.x;
    if (threadIdx.x < HALF && n < size) {
        float gate[1] = {fminf(stored<T>(sums, threadIdx.x), limit)};
        float up = stored<T>(sums, HALF + threadIdx.x);
        activateAll(activation, gate);
        output[(i64)choice * outputStride + n] = fromFloat<T>(gate[0] * (fminf(fmaxf(up, -limit), limit) + upOffset));
    }
}

// What a shared expert gave and its gate, or null.
struct Shared {
    const u16* output;
    i64 stride;
    const u16* gate;
    i64 gateStride;
};

template <class T, int SETS>
__device__ __forceinline__ void combinedExperts(const u16* weight, const u16* input, i64 inputStride, const int* experts,
    const float* factors, int chosen, int rows, int outputs, int columns, float scale, int adds, Shared shared, u16* output,
    i64 outputStride) {
    constexpr int AHEAD = OF_SUMS;
    extern __shared__ __align__(128) u8 memory[];
    u16* x = (u16*)memory;
    float* sums = (float*)(memory + (chosen * columns * 2 + 15) / 16 * 16);  // [chosen, SLICES, ROWS]
    float* products = sums + chosen * SLICES * ROWS;  // [chosen, ROWS]
    float* factor = products + chosen * ROWS;  // [chosen]
    float* old = factor + chosen;  // [ROWS]
    float* beside = old + ROWS;  // [ROWS]
    float* gate = beside + ROWS;  // of the shared expert
    int row = (int)blockIdx.x % rows;
    int lane = threadIdx.x % 32;
    int set = threadIdx.x / 256;
    int first = (int)blockIdx.x / rows * ROWS;
    launchNext();
    int expert = lane < chosen ? loadRouted(experts + row * chosen + lane) : 0;
    Slice slice(threadIdx.x / 32 % SLICES, columns);
    int top = min(first + lane / 4, outputs - 1);  // rows behind the last are not stored
    u32 step = (u32)(min(first + lane / 4 + HALF, outputs - 1) - top) * columns;
    u32 lanes = (u32)top * columns + slice.first * GROUP + lane % 4 * 8;
    auto start = [&](int choice) { return weight + (__shfl_sync(~0u, expert, choice & 31) * ((i64)outputs * columns) + lanes); };
    int nextChoice = set;
    int nextGroup = 0;
    const u16* at = start(set);
    auto load = [&](Group& group) {  // does nothing behind the last choice
        if (nextChoice < chosen && slice.count > 0) {
            group.load(at, step);
            at += GROUP;
            if (++nextGroup == slice.count) {
                nextGroup = 0;
                nextChoice += SETS;
                at = start(nextChoice);
            }
        }
    };
    Group ahead[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
        load(ahead[i]);
    }
    waitForPrevious();
    bring(input + (i64)row * chosen * inputStride, inputStride, x, chosen, columns);
    if (threadIdx.x < ROWS && first + (int)threadIdx.x < outputs) {
        int n = first + (int)threadIdx.x;
        old[threadIdx.x] = adds ? toFloat<T>(output[(i64)row * outputStride + n]) : 0.0f;
        beside[threadIdx.x] = shared.output ? toFloat<T>(shared.output[(i64)row * shared.stride + n]) : 0.0f;
    }
    if (threadIdx.x == 0) {
        gate[0] = shared.output ? toFloat<T>(shared.gate[(i64)row * shared.gateStride]) : 0.0f;
    }
    if ((int)threadIdx.x < chosen) {
        factor[threadIdx.x] = factors[row * chosen + threadIdx.x];
    }
    __syncthreads();
    int choice = set;
    int index = 0;
    float both[4] = {};
#pragma unroll 1
    while (choice < chosen) {
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            if (choice < chosen) {
                if (slice.count > 0) {
                    ahead[i].multiply<T>(x + choice * columns + (slice.first + index) * GROUP + lane % 4 * 8, both);
                    load(ahead[i]);
                }
                if (++index >= slice.count) {
                    keep(both, threadIdx.x / 32 % SLICES, sums + choice * SLICES * ROWS);
                    both[0] = both[1] = both[2] = both[3] = 0.0f;
                    index = 0;
                    choice += SETS;
                }
            }
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < chosen * ROWS; i += SETS * 256) {
        products[i] = stored<T>(sums + i / ROWS * SLICES * ROWS, i % ROWS);
    }
    __syncthreads();
    int n = first + (int)threadIdx.x;
    if (threadIdx.x < ROWS && n < outputs) {
        float sum = 0.0f;
        for (int j = 0; j < chosen; j++) {
            sum = fmaf(factor[j], products[j * ROWS + threadIdx.x], sum);
        }
        u16 bits = fromFloat<T>(fmaf(scale, sum, old[threadIdx.x]));
        if (shared.output) {
            bits = fromFloat<T>(fmaf(sigmoid(gate[0]) * scale, beside[threadIdx.x], toFloat<T>(bits)));
        }
        output[(i64)row * outputStride + n] = bits;
    }
}

#define GATED(T, SUFFIX)                                                                                                       \
    extern "C" __global__ void __launch_bounds__(256, 5) experts_gated_##SUFFIX(const u16* weight, const u16* input,           \
        i64 inputStride, const int* experts, int chosen, int rows, int size, int columns, int activation, float limit,         \
        float upOffset, u16* output, i64 outputStride) {                                                                       \
        gatedExperts<T>(weight, input, inputStride, experts, chosen, rows, size, columns, activation, limit, upOffset, output, \
            outputStride);                                                                                                     \
    }

#define COMBINED(SETS, T, SUFFIX)                                                                                             \
    extern "C" __global__ void __launch_bounds__(SETS * 256, 4 / SETS)                                                        \
        experts_combined_##SETS##_##SUFFIX(const u16* weight, const u16* input, i64 inputStride, const int* experts,          \
            const float* factors, int chosen, int rows, int outputs, int columns, float scale, int adds, const u16* shared,   \
            i64 sharedStride, const u16* sharedGate, i64 gateStride, u16* output, i64 outputStride) {                         \
        combinedExperts<T, SETS>(weight, input, inputStride, experts, factors, chosen, rows, outputs, columns, scale, adds,   \
            Shared{shared, sharedStride, sharedGate, gateStride}, output, outputStride);                                      \
    }

GATED(Bf16, bf16)
GATED(F16, f16)
COMBINED(2, Bf16, bf16)
COMBINED(2, F16, f16)
COMBINED(4, Bf16, bf16)
COMBINED(4, F16, f16)
