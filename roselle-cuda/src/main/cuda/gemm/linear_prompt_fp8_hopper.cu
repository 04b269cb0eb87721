// The products of linear_fp8_hopper.cu for many rows, with its bits, for Hopper (sm_90a): rows stand on the M side of wgmma here and
// weights on the N side, so that a thread has two rows, whose scales take two registers.
//
// Blocks stay and take one tile of 128 outputs and 128 rows after the other, and form clusters as in linear_prompt_hopper.cu. Each of the
// two warpgroups has 64 rows; while one scales what the tensor cores have summed, the other's products run.
//
// weight, scales: as in linear_fp8_hopper.cu; weight tiles past the last one are not read.
// tokens: the tensor map of the rows' codes as 16-bit numbers, [rows, columns / 2], with a box of 64 rows of 64, swizzled by 128 bytes.
// results: the tensor map of the output, [rows, outputs], with a box of 64 rows of 64 columns, swizzled by 128 bytes.
// Launch: clusters of 2 blocks, at most as many blocks as there are multiprocessors and twice ceil(outputs / 256) *
// ceil(rows / 128); 384 threads; dynamic shared memory of STAGES * (32,768 + 512 + 16) + 32,768 (gated: 16,384) + 1,040 bytes.
// linear_prompt_fp8_SUFFIX: `slices` is 1; linear_prompt_fp8_sliced_SUFFIX: any.
// linear_prompt_fp8_gated: as linear_prompt_gated.
#include "gemm/gating.cuh"
#include "common/wgmma_fp8.cuh"
#include "format/codes.cuh"
#include "gemm/fp8.cuh"
#include "gemm/prompt.cuh"

constexpr int ROWS = 64;  // of a warpgroup
constexpr int BLOCK_ROWS = GROUPS * ROWS;
constexpr int COLUMNS = 128;  // of products of a block

// Shared memory of a block: STAGES times (two weight tiles, 128 rows of 128 bytes), what each warpgroup has for the output, of 64
// columns at a time; the scales of each stage's rows; barriers.
template <int STAGES_, bool SLICED_, bool GATED_>
struct Memory {
    static constexpr int STAGES = STAGES_;
    static constexpr bool SLICED = SLICED_;
    static constexpr bool GATED = GATED_;
    static constexpr u32 STAGE_BYTES = 2 * TILE_BYTES + BLOCK_ROWS * 128;
    static constexpr u32 SCALE_BYTES = BLOCK_ROWS * 4;
    static constexpr u32 HALF_BYTES = ROWS * 128;  // 64 columns of the results
    static constexpr int HALVES = GATED ? 1 : 2;
    u32 base;

    __device__ u32 weight(int stage) const {
        return base + stage * STAGE_BYTES;
    }
    __device__ u32 tokens(int stage) const {
        return weight(stage) + 2 * TILE_BYTES;
    }
    __device__ u32 results(int group) const {
        return base + STAGES * STAGE_BYTES + group * HALVES * HALF_BYTES;
    }
    __device__ u32 scales(int stage) const {
        return results(GROUPS) + stage * SCALE_BYTES;
    }
    __device__ u32 full(int stage) const {
        return scales(STAGES) + stage * 16;
    }
    __device__ u32 empty(int stage) const {
        return full(stage) + 8;
    }
    __device__ u32 old(int group) const {  // what the output held is there
        return full(STAGES) + group * 8;
    }
};

// The two weight tiles of a block, which has the products of `p.outputs` outputs; gated: a tile of gates and that of their ups.
struct Pair {
    int first;
    int second;

    template <class M>
    static __device__ __forceinline__ Pair of(const Product& p, int rowTile) {
        int last = (p.outputs + TILE - 1) / TILE - 1;
        int first = M::GATED ? min(rowTile / 2, last) : min(rowTile, last);
        return {first, M::GATED ? first + last + 1 : min(first + 1, last)};
    }
};

template <class M>
__device__ __forceinline__ Tiles<BLOCK_ROWS> tilesOf(const Product& p) {
    return Tiles<BLOCK_ROWS>(p, M::GATED ? TILE : COLUMNS);
}

// One thread fetches.
template <class M>
__device__ __forceinline__ void fetch(M memory, const Product& p, const Fp8Scales& scales, const TensorMap* map) {
    Tiles<BLOCK_ROWS> all = tilesOf<M>(p);
    int tiles = p.columns / FP8_COLUMNS;
    u32 rank = clusterRank();
    Turn turn;
    bool isFirstRound = true;
    waitForPrevious();
    for (int index = blockIdx.x / CLUSTER; index < all.count(); index += gridDim.x / CLUSTER) {
        int rowTile, firstToken;
        all.place(index, rowTile, firstToken);
        Pair pair = Pair::of<M>(p, rowTile);
        const unsigned char* first = p.weight + (i64)pair.first * tiles * TILE_BYTES;
        const unsigned char* second = p.weight + (i64)pair.second * tiles * TILE_BYTES;
        const float* rowScales = scales.rows + firstToken;
#pragma unroll 1
        for (int k = 0; k < tiles; k++) {
            if (!isFirstRound) {
                barrierWait(memory.empty(turn.stage), turn.parity ^ 1);
            }
            u32 full = memory.full(turn.stage);
            barrierExpect(full, M::STAGE_BYTES + M::SCALE_BYTES);
            tensorCopyToCluster(memory.tokens(turn.stage) + rank * ROWS * 128, map, k * (FP8_COLUMNS / 2),
                firstToken + rank * ROWS, full, BOTH);
            bulkCopy(memory.weight(turn.stage), first, TILE_BYTES, full);
            bulkCopy(memory.weight(turn.stage) + TILE_BYTES, second, TILE_BYTES, full);
            bulkCopy(memory.scales(turn.stage), rowScales, M::SCALE_BYTES, full);
            first += TILE_BYTES;
            second += TILE_BYTES;
            rowScales += scales.stride;
            turn.next<M::STAGES>();
            isFirstRound = isFirstRound && turn.stage != 0;
        }
    }
}

// Where of the output a warpgroup is, and how the copy engine sees that.
struct Target {
    const TensorMap* results;
    int column;
    int row;
    bool accumulates;
};

// Once the copy engine has taken the results before: what the output holds comes to their place, if it is needed.
template <class M>
__device__ __forceinline__ void prepareResults(M memory, int group, const Target& target) {
    if (threadIdx.x % 128 == 0) {
        bulkStoresRead();
        if (target.accumulates) {
            barrierExpect(memory.old(group), M::HALVES * M::HALF_BYTES);
#pragma unroll
            for (int half = 0; half < M::HALVES; half++) {
                tensorCopy(memory.results(group) + half * M::HALF_BYTES, target.results, target.column + half * TILE,
                    target.row, memory.old(group));
            }
        }
    }
    __syncwarp();
}

// Gives the results of a warpgroup to the copy engine.
template <class M>
__device__ __forceinline__ void storeResults(M memory, int group, const Target& target) {
    proxyFence();
    namedBarrier(1 + group, 128);
    if (threadIdx.x % 128 == 0) {
#pragma unroll
        for (int half = 0; half < M::HALVES; half++) {
            tensorStore(target.results, target.column + half * TILE, target.row, memory.results(group) + half * M::HALF_BYTES);
        }
        bulkStoresCommit();
    }
    __syncwarp();
}

// Sums the tiles `first` until `end` of K of this warpgroup's rows.
template <class M>
__device__ __forceinline__ void multiply(M memory, const Fp8Scales& scales, const Pair& pair, int tiles, float (&sums)[64],
    int group, int first, int end, Turn& turn) {
    int row = group * ROWS + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    TileScales left(scales, pair.first, first, end, tiles);
    TileScales right(scales, pair.second, first, end, tiles);
#pragma unroll
    for (int i = 0; i < 64; i++) {
        sums[i] = 0.0f;
    }
#pragma unroll 1
    for (int i = 0; i < end - first; i++) {
        float leftScale = left.next(i);
        float rightScale = right.next(i);
        barrierWait(memory.full(turn.stage), turn.parity);
        u64 a = operand(memory.tokens(turn.stage) + group * ROWS * 128);
        u64 b = operand(memory.weight(turn.stage));
        float tile[64];
        wgmmaBegin();
#pragma unroll
        for (int k = 0; k < FP8_COLUMNS / 32; k++) {
            wgmmaFp8<COLUMNS>(tile, a + 2 * k, b + 2 * k, k > 0);
        }
        wgmmaCommit();
        float upper = sharedFloat(memory.scales(turn.stage) + row * 4);
        float lower = sharedFloat(memory.scales(turn.stage) + row * 4 + 32);
        float factors[2][2] = {{__fmul_rn(upper, leftScale), __fmul_rn(lower, leftScale)},
            {__fmul_rn(upper, rightScale), __fmul_rn(lower, rightScale)}};
        wgmmaWait<0>();
        release(memory, turn.stage);
#pragma unroll
        for (int j = 0; j < 64; j++) {
            sums[j] = __fmaf_rn(tile[j], factors[j / 32][j / 2 % 2], sums[j]);
        }
        turn.next<M::STAGES>();
    }
}

// Two numbers of a row, the first of which belongs to an even column.
__device__ __forceinline__ float2 twoOf(const float* numbers, int column, int count) {
    return make_float2(
        numbers && column < count ? numbers[column] : 0.0f, numbers && column + 1 < count ? numbers[column + 1] : 0.0f);
}

// Multiplies sums with the scales of their outputs.
template <class M>
__device__ __forceinline__ void scaleOutputs(const Fp8Scales& scales, const Pair& pair, float (&sums)[64]) {
    int column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int j = 0; j < 16; j++) {
        int tile = j < 8 ? pair.first : pair.second;
        float2 scale = *(const float2*)(scales.outputs + tile * TILE + j % 8 * 8 + column);
        sums[4 * j] = __fmul_rn(sums[4 * j], scale.x);
        sums[4 * j + 1] = __fmul_rn(sums[4 * j + 1], scale.y);
        sums[4 * j + 2] = __fmul_rn(sums[4 * j + 2], scale.x);
        sums[4 * j + 3] = __fmul_rn(sums[4 * j + 3], scale.y);
    }
}

// Where a lane stores, or loads, 16 bytes of four matrices of eight rows and eight outputs: two of the same outputs, then the next two.
template <class M>
__device__ __forceinline__ u32 placeOf(M memory, int group, int eight) {
    int lane = threadIdx.x % 32;
    int row = threadIdx.x % 128 / 32 * 16 + lane % 16;
    int piece = eight + lane / 16;  // of 8 outputs
    return memory.results(group) + piece / 8 * M::HALF_BYTES + row * 128 + ((piece % 8 ^ (row & 7)) << 4);
}

template <class T, bool ADDS, class M>
__device__ __forceinline__ void leave(M memory, const float (&sums)[64], int group) {
#pragma unroll
    for (int j = 0; j < 16; j += 2) {
        u32 at = placeOf(memory, group, j);
        u32 old[4];
        if (ADDS) {
            loadMatrices(old, at);
        }
        u32 bits[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float low = sums[4 * j + 2 * i];
            float high = sums[4 * j + 2 * i + 1];
            bits[i] =
                ADDS ? pack<T>(__fadd_rn(lowHalf<T>(old[i]), low), __fadd_rn(highHalf<T>(old[i]), high)) : pack<T>(low, high);
        }
        storeMatrices(at, bits);
    }
}

template <class T, class M>
__device__ __forceinline__ void finish(
    M memory, const Product& p, const Epilogue& epilogue, float (&sums)[64], int group, u32 parity, const Target& target) {
    if (epilogue.bias) {
#pragma unroll
        for (int j = 0; j < 16; j++) {
            float2 bias = twoOf(epilogue.bias, target.column + j * 8 + threadIdx.x % 4 * 2, p.outputs);
            sums[4 * j] = __fadd_rn(sums[4 * j], bias.x);
            sums[4 * j + 1] = __fadd_rn(sums[4 * j + 1], bias.y);
            sums[4 * j + 2] = __fadd_rn(sums[4 * j + 2], bias.x);
            sums[4 * j + 3] = __fadd_rn(sums[4 * j + 3], bias.y);
        }
    } else {
#pragma unroll
        for (int i = 0; i < 64; i++) {
            sums[i] = __fadd_rn(sums[i], 0.0f);
        }
    }
    activateAll(epilogue.activation, sums);
#pragma unroll
    for (int i = 0; i < 64; i++) {
        sums[i] = __fmul_rn(epilogue.scale, sums[i]);
    }
    if (target.accumulates) {
        barrierWait(memory.old(group), parity);
        leave<T, true>(memory, sums, group);
    } else {
        namedBarrier(1 + group, 128);  // the results before have been taken
        leave<T, false>(memory, sums, group);
    }
    storeResults(memory, group, target);
}

// Leaves silu(gate) * up of sums that are rounded before as a product would store them; a thread has the ups of its gates.
template <class T, class M>
__device__ __forceinline__ void finishGated(M memory, const Product& p, const Epilogue& epilogue, const Gating& gating,
    const float (&sums)[64], int group, const Target& target) {
    namedBarrier(1 + group, 128);  // the results before have been taken
#pragma unroll
    for (int j = 0; j < 8; j += 2) {
        u32 bits[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int column = target.column + (j + i / 2) * 8 + threadIdx.x % 4 * 2;
            float2 gateBias = twoOf(epilogue.bias, column, p.outputs);
            float2 upBias = twoOf(epilogue.bias, column + p.outputs, 2 * p.outputs);
            const float* gate = &sums[4 * j + 2 * i];
            const float* up = gate + 32;
            bits[i] = gatedPair<T>(gating, roundedPair<T>(gate[0], gate[1], gateBias.x, gateBias.y, epilogue.scale),
                roundedPair<T>(up[0], up[1], upBias.x, upBias.y, epilogue.scale));
        }
        storeMatrices(placeOf(memory, group, j), bits);
    }
    storeResults(memory, group, target);
}

template <class T, class M>
__device__ __forceinline__ void multiplyMany(const Product& p, const Epilogue& epilogue, const Gating& gating,
    const Fp8Scales& scales, int slices, const TensorMap* tokens, const TensorMap* results) {
    launchNext();
    extern __shared__ unsigned char shared[];
    M memory = {(sharedAddress(shared) + 1023) & ~1023u};
    if (threadIdx.x == 0) {
        for (int s = 0; s < M::STAGES; s++) {
            barrierInit(memory.full(s), 1);
            barrierInit(memory.empty(s), GROUPS * 4 * CLUSTER);
        }
        for (int group = 0; group < GROUPS; group++) {
            barrierInit(memory.old(group), 1);
        }
        barrierInitDone();
    }
    __syncthreads();
    clusterArrive();  // all blocks have barriers before one sends to another
    clusterWait();
    int group = __shfl_sync(~0u, threadIdx.x / 128, 0);
    if (group == GROUPS) {
        fewerRegisters<40>();
        if (threadIdx.x == GROUPS * 128) {
            fetch(memory, p, scales, tokens);
        }
        __syncwarp();
    } else {
        moreRegisters<232>();
        waitForPrevious();
        Tiles<BLOCK_ROWS> all = tilesOf<M>(p);
        int tiles = p.columns / FP8_COLUMNS;
        Turn turn;
        u32 parity = 0;
        for (int index = blockIdx.x / CLUSTER; index < all.count(); index += gridDim.x / CLUSTER) {
            int rowTile, firstToken;
            all.place(index, rowTile, firstToken);
            Pair pair = Pair::of<M>(p, rowTile);
            Target target = {results, (M::GATED ? rowTile / 2 : rowTile) * TILE, firstToken + group * ROWS,
                (epilogue.flags & ACCUMULATES) != 0};
            float sums[64];
            prepareResults(memory, group, target);
            if constexpr (!M::SLICED) {
                multiply(memory, scales, pair, tiles, sums, group, 0, tiles, turn);
                scaleOutputs<M>(scales, pair, sums);
                if constexpr (M::GATED) {
                    finishGated<T>(memory, p, epilogue, gating, sums, group, target);
                } else {
                    finish<T>(memory, p, epilogue, sums, group, parity, target);
                }
            } else {
                float total[64];
#pragma unroll
                for (int i = 0; i < 64; i++) {
                    total[i] = -0.0f;  // to which a number is added without a change of its bits
                }
#pragma unroll 1
                for (int s = 0; s < slices; s++) {
                    multiply(memory, scales, pair, tiles, sums, group, s * tiles / slices, (s + 1) * tiles / slices, turn);
                    scaleOutputs<M>(scales, pair, sums);
#pragma unroll
                    for (int i = 0; i < 64; i++) {
                        total[i] += sums[i];
                    }
                }
                finish<T>(memory, p, epilogue, total, group, parity, target);
            }
            parity ^= 1;
        }
        if (threadIdx.x % 128 == 0) {
            bulkStoresDone();
        }
        __syncwarp();
    }
    clusterArrive();  // no block leaves while another sends to it
    clusterWait();
}

#define MANY(NAME, T, SLICED)                                                                                                 \
    extern "C" __global__ void __launch_bounds__(384, 1) NAME(SCALED_PARAMETERS, const __grid_constant__ TensorMap results) { \
        multiplyMany<T, Memory<5, SLICED, false>>(PRODUCT, EPILOGUE, Gating(), SCALES, slices, &tokens, &results);            \
    }
#define GATED(T, SUFFIX)                                                                                 \
    extern "C" __global__ void __launch_bounds__(384, 1) linear_prompt_fp8_gated_##SUFFIX(               \
        SCALED_PARAMETERS, const __grid_constant__ TensorMap results, float limit, float upOffset) {     \
        Product p = PRODUCT;                                                                             \
        p.outputs = outputs / 2;                                                                         \
        Gating gating = {limit, upOffset};                                                               \
        multiplyMany<T, Memory<6, false, true>>(p, EPILOGUE, gating, SCALES, slices, &tokens, &results); \
    }

MANY(linear_prompt_fp8_bf16, Bf16, false)
MANY(linear_prompt_fp8_f16, F16, false)
MANY(linear_prompt_fp8_sliced_bf16, Bf16, true)
MANY(linear_prompt_fp8_sliced_f16, F16, true)
GATED(Bf16, bf16)
GATED(F16, f16)
