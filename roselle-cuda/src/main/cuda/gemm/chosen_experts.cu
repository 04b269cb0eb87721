// The experts that few rows chose, all of a row's in one block: 16-bit weights as the checkpoint has them, BF16 and F16.
//
// experts_gated: output[r * chosen + j][n] = activation(min(gate, limit)) * (clamp(up, -limit, limit) + upOffset), with gate and up
//   the products of rows n and size + n of expert (r, j) with input[r]. Grid (ceil(size / 8) * rows).
// experts_combined: output[r] (+)= scale * sum over j of weights[r * chosen + j] * (expert (r, j) * input[r * chosen + j]), then, where
//   there is a shared expert, output[r] += sigmoid(sharedGate[r][0]) * scale * shared[r]. Grid (ceil(outputs / 16) * rows).
//
// Both: SETS * 256 threads; an expert has fewer than 2^32 numbers, columns are a multiple of 32, up to 32 experts are chosen. Dynamic
// shared memory: ringBytes(SETS), then the inputs of a block, `columns` numbers once or for each choice, up to a multiple of 16 bytes,
// then 512 * chosen bytes, and for experts_combined 68 * chosen more.
//
// Bits are those of the grouped products of linear_mma.cuh (warp w of eight has slice w of K, slices are added in order), of gated,
// combine_experts and add_gated, one after the other: numbers are rounded as these would store them.
//
// Set s of eight warps has choices s, s + SETS and so on, whose chunks of its slice a warp walks through a ring of its own: one warp
// alone would need longer for its instructions than memory for its chunks. experts_combined begins with its weights while the
// kernel before it still runs: that is experts_gated, which lets it start no sooner than the routing is there.
#include "common/ampere.cuh"
#include "gemm/epilogue.cuh"

using u8 = unsigned char;

enum Sizes : int { HALF = 8, ROWS = 2 * HALF, SLICES = 8, CHUNK = 64, CHUNK_BYTES = 128, STAGE_BYTES = ROWS * CHUNK_BYTES };

#if __CUDA_ARCH__ >= 1000
constexpr int TOGETHER = 1;  // groups of 32 columns: two would need more registers than a thread has
#else
constexpr int TOGETHER = 2;
#endif

// What the rings of all warps take: four sets have a multiprocessor for themselves.
__device__ constexpr int ringBytes(int sets) {
    return sets == 4 ? 196608 : 98304;
}

// The experts that the row of a block chose.
struct Chosen {
    const u16* stack;  // [experts, expertRows, columns]
    i64 expertRows;
    int columns;
    int count;
    int first;  // row of an expert, of those that the block multiplies with
    int limit;  // rows of which `first` is one
};

// An expert's number, never from this multiprocessor's cache, which may have it from the last layer.
__device__ __forceinline__ int loadRouted(const int* from) {
    return *(const volatile int*)from;
}

// Where piece `piece` of 16 bytes lies in row `row` of 128-byte rows: four pieces of two rows have different banks.
__device__ __forceinline__ int swapped(int row, int piece) {
    return row * CHUNK_BYTES + (piece ^ (row & 1) << 2) * 16;
}

// One row of an expert for each of 2 * HALF rows of a tile: HALF from `first` on, then HALF that follow those, or, of gates, their ups.
template <bool GATES>
struct Tile {
    static constexpr int PIECES = ROWS * 8 / 32;  // of a lane
    u32 at[PIECES];  // in an expert's matrix
    bool present[PIECES];

    __device__ __forceinline__ explicit Tile(const Chosen& c) {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < PIECES; i++) {
            int row = lane / 8 + i * 4;
            int of = c.first + (GATES ? row % HALF : row);
            present[i] = of < c.limit;
            at[i] = (u32)(GATES && row >= HALF ? of + c.limit : of) * c.columns + lane % 8 * 8;
        }
    }

    // Copies a chunk of an expert into a stage.
    __device__ __forceinline__ void load(const Chosen& c, const u16* expert, int chunk, u8* stage) const {
        int lane = threadIdx.x % 32;
        bool inRow = chunk * CHUNK + lane % 8 * 8 < c.columns;
#pragma unroll
        for (int i = 0; i < PIECES; i++) {
            bool there = present[i] && inRow;
            const u16* from = there ? expert + (at[i] + chunk * CHUNK) : c.stack;
            copy16(sharedAddress(stage + swapped(lane / 8 + i * 4, lane % 8)), from, there);
        }
    }
};

// Multiplies with all chosen experts. `experts` is the number of the lane's; `begin()` waits for what the block reads beside weights
// and brings the inputs to `inputs`, which choice j has `inputStep` numbers behind those before it. Leaves the slices' sums in `sums`,
// [chosen, SLICES, ROWS].
template <class T, int SETS, bool GATES, class BEGIN>
__device__ __forceinline__ void multiply(
    const Chosen& c, int experts, u8* ring, const u16* inputs, int inputStep, float* sums, BEGIN begin) {
    constexpr int STAGES = ringBytes(SETS) / SETS / SLICES / STAGE_BYTES;
    int slice = threadIdx.x / 32 % SLICES;
    int set = threadIdx.x / 256;
    int lane = threadIdx.x % 32;
    int row = lane / 4;
    int part = lane % 4;
    int chunks = (c.columns + CHUNK - 1) / CHUNK;
    int first = slice * chunks / SLICES;
    int end = (slice + 1) * chunks / SLICES;
    u8* stages = ring + (set * SLICES + slice) * STAGES * STAGE_BYTES;
    Tile<GATES> tile(c);
    auto expert = [&](int choice) { return c.stack + __shfl_sync(~0u, experts, choice & 31) * c.expertRows * c.columns; };
    int nextChoice = set;
    int nextChunk = first;
    int nextStage = 0;
    const u16* nextExpert = expert(set);
    auto loadNext = [&] {  // does nothing behind the last chunk
        if (nextChoice < c.count && first < end) {
            tile.load(c, nextExpert, nextChunk, stages + nextStage * STAGE_BYTES);
            nextStage = nextStage + 1 == STAGES ? 0 : nextStage + 1;
            if (++nextChunk == end) {
                nextChunk = first;
                nextChoice += SETS;
                nextExpert = expert(nextChoice);
            }
        }
        copyCommit();
    };
#pragma unroll 1
    for (int i = 0; i < STAGES - 1; i++) {
        loadNext();
    }
    begin();
    __syncthreads();
    int stage = 0;
#pragma unroll 1
    for (int choice = set; choice < c.count; choice += SETS) {
        float both[4] = {};
#pragma unroll 1
        for (int chunk = first; chunk < end; chunk++) {
            copyWait<STAGES - 2>();
            __syncwarp();
            loadNext();
            const u8* weights = stages + stage * STAGE_BYTES;
            const u16* x = inputs + choice * inputStep + chunk * CHUNK + part * 8;
            stage = stage + 1 == STAGES ? 0 : stage + 1;
            int groups = min(CHUNK, c.columns - chunk * CHUNK) / 32;
#pragma unroll TOGETHER
            for (int g = 0; g < groups; g++) {
                uint4 b = lane < 4 ? *(const uint4*)(x + g * 32) : make_uint4(0, 0, 0, 0);  // the first of eight tokens
                uint4 low = *(const uint4*)(weights + swapped(row, g * 4 + part));
                uint4 high = *(const uint4*)(weights + swapped(HALF + row, g * 4 + part));
                mma<T>(both, {low.x, high.x, low.y, high.y}, b.x, b.y);
                mma<T>(both, {low.z, high.z, low.w, high.w}, b.z, b.w);
            }
        }
        if (part == 0) {
            float* to = sums + (choice * SLICES + slice) * ROWS + row;
            to[0] = both[0];
            to[HALF] = both[2];
        }
    }
    copyWait<0>();
    __syncthreads();
}

// Brings `count` rows of `columns` numbers that lie `step` numbers apart, one behind the other.
__device__ __forceinline__ void bring(const u16* from, i64 step, u16* to, int count, int columns) {
    int pieces = columns / 8;
#pragma unroll 2
    for (int i = threadIdx.x; i < count * pieces; i += blockDim.x) {
        *(uint4*)(to + i * 8) = *(const uint4*)(from + i / pieces * step + i % pieces * 8);
    }
}

// A sum as a product would store it.
template <class T>
__device__ __forceinline__ float stored(const float* sums, int choice, int row) {
    const float* from = sums + choice * SLICES * ROWS + row;
    float sum = from[0];
#pragma unroll
    for (int s = 1; s < SLICES; s++) {
        sum = __fadd_rn(sum, from[s * ROWS]);
    }
    return toFloat<T>(fromFloat<T>(sum));
}

template <class T, int SETS>
__device__ __forceinline__ void gatedExperts(const u16* weight, const u16* input, i64 inputStride, const int* experts,
    int chosen, int rows, int size, int columns, int activation, float limit, float upOffset, u16* output, i64 outputStride) {
    extern __shared__ __align__(128) u8 memory[];
    u16* x = (u16*)(memory + ringBytes(SETS));
    float* sums = (float*)(memory + ringBytes(SETS) + (columns * 2 + 15) / 16 * 16);
    i64 row = blockIdx.x % rows;
    int lane = threadIdx.x % 32;
    Chosen c = {weight, 2 * size, columns, chosen, (int)(blockIdx.x / rows) * HALF, size};
    waitForPrevious();
    launchNext();  // whose first reads are of what is there now
    int expert = lane < chosen ? loadRouted(experts + row * chosen + lane) : 0;
    multiply<T, SETS, true>(c, expert, memory, x, 0, sums, [&] { bring(input + row * inputStride, 0, x, 1, columns); });
    for (int i = threadIdx.x; i < chosen * HALF; i += SETS * 256) {
        int choice = i / HALF;
        int n = c.first + i % HALF;
        if (n < size) {
            float gate[1] = {fminf(stored<T>(sums, choice, i % HALF), limit)};
            float up = stored<T>(sums, choice, HALF + i % HALF);
            activateAll(activation, gate);
            output[(row * chosen + choice) * outputStride + n] =
                fromFloat<T>(gate[0] * (fminf(fmaxf(up, -limit), limit) + upOffset));
        }
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
    extern __shared__ __align__(128) u8 memory[];
    u16* x = (u16*)(memory + ringBytes(SETS));
    float* sums = (float*)(memory + ringBytes(SETS) + (chosen * columns * 2 + 15) / 16 * 16);
    float* products = sums + chosen * SLICES * ROWS;  // [chosen, ROWS]
    float* factor = products + chosen * ROWS;  // [chosen]
    i64 row = blockIdx.x % rows;
    int lane = threadIdx.x % 32;
    Chosen c = {weight, outputs, columns, chosen, (int)(blockIdx.x / rows) * ROWS, outputs};
    int n = c.first + (int)threadIdx.x;
    bool finishes = threadIdx.x < ROWS && n < outputs;
    float old = 0.0f;
    float beside = 0.0f;
    float gate = 0.0f;
    launchNext();
    int expert = lane < chosen ? loadRouted(experts + row * chosen + lane) : 0;
    multiply<T, SETS, false>(c, expert, memory, x, columns, sums, [&] {
        waitForPrevious();
        bring(input + row * chosen * inputStride, inputStride, x, chosen, columns);
        if (finishes) {
            old = adds ? toFloat<T>(output[row * outputStride + n]) : 0.0f;
            beside = shared.output ? toFloat<T>(shared.output[row * shared.stride + n]) : 0.0f;
            gate = shared.output ? toFloat<T>(shared.gate[row * shared.gateStride]) : 0.0f;
        }
        if ((int)threadIdx.x < chosen) {
            factor[threadIdx.x] = factors[row * chosen + threadIdx.x];
        }
    });
    for (int i = threadIdx.x; i < chosen * ROWS; i += SETS * 256) {
        products[i] = stored<T>(sums, i / ROWS, i % ROWS);
    }
    __syncthreads();
    if (finishes) {
        float sum = 0.0f;
        for (int j = 0; j < chosen; j++) {
            sum = fmaf(factor[j], products[j * ROWS + threadIdx.x], sum);
        }
        u16 bits = fromFloat<T>(fmaf(scale, sum, old));
        if (shared.output) {
            bits = fromFloat<T>(fmaf(sigmoid(gate) * scale, beside, toFloat<T>(bits)));
        }
        output[row * outputStride + n] = bits;
    }
}

#define EXPERTS(SETS, T, SUFFIX)                                                                                              \
    extern "C" __global__ void __launch_bounds__(SETS * 256, SETS == 4 ? 1 : 2)                                               \
        experts_gated_##SETS##_##SUFFIX(const u16* weight, const u16* input, i64 inputStride, const int* experts, int chosen, \
            int rows, int size, int columns, int activation, float limit, float upOffset, u16* output, i64 outputStride) {    \
        gatedExperts<T, SETS>(weight, input, inputStride, experts, chosen, rows, size, columns, activation, limit, upOffset,  \
            output, outputStride);                                                                                            \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(SETS * 256, SETS == 4 ? 1 : 2)                                               \
        experts_combined_##SETS##_##SUFFIX(const u16* weight, const u16* input, i64 inputStride, const int* experts,          \
            const float* factors, int chosen, int rows, int outputs, int columns, float scale, int adds, const u16* shared,   \
            i64 sharedStride, const u16* sharedGate, i64 gateStride, u16* output, i64 outputStride) {                         \
        combinedExperts<T, SETS>(weight, input, inputStride, experts, factors, chosen, rows, outputs, columns, scale, adds,   \
            Shared{shared, sharedStride, sharedGate, gateStride}, output, outputStride);                                      \
    }

EXPERTS(2, Bf16, bf16)
EXPERTS(2, F16, f16)
EXPERTS(4, Bf16, bf16)
EXPERTS(4, F16, f16)
