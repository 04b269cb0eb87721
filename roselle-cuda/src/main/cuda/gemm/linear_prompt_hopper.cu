// The products of linear_hopper.cu for many rows, with its bits: output[r][n] = scale * activation(sum over k of
// weight[n][k] * input[r][k] + bias[n])  (+ output[r][n]), for Hopper (sm_90a), BF16 and F16 with float32 sums.
//
// Blocks stay and take one tile of 128 outputs and TOKENS rows after the other. Two blocks form a cluster: they take the same
// rows of the input, each fetches half of them for both, and neighbouring outputs. One warp of a block fetches, two warpgroups
// of 64 outputs each multiply. What a warpgroup has summed it leaves in shared memory as the output wants it, where the copy
// engine takes it from while the next tile is multiplied; what the output held comes the same way.
//
// The sum over K is cut into the slices of linear_hopper.cu, which a block walks in order.
//
// weight, input, output: as in linear_hopper.cu, but the output has 16 bits; weight tiles past the last one are not read.
// tokens: the tensor map of the input, [rows, columns], with a box of TOKENS / 2 rows of 64 columns, swizzled by 128 bytes; rows
//   and columns past the end are zeros.
// results: the tensor map of the output, [rows, outputs], with a box of TOKENS rows of 64 columns, swizzled by 128 bytes
//   (linear_prompt_gated: 32 columns, by 64 bytes).
// Launch: clusters of 2 blocks, at most as many blocks as there are multiprocessors and twice ceil(outputs / 256) *
// ceil(rows / TOKENS); 384 threads; dynamic shared memory of STAGES * (16,384 + TOKENS * 128 + 16) + TOKENS * 256 (gated: 128)
// + 1,040 bytes. Each kernel may be launched with programmatic stream serialization.
// linear_prompt_256: `slices` is 1.
// linear_prompt_gated: the weight has rows of gates, a multiple of 64, and as many of ups after them; the output is what gated
// of rows.cu makes of the two products with silu, with its bits. `outputs` counts both, `slices` is 1; nothing is added to the
// output, and no activation follows the products.
#include "gemm/gating.cuh"
#include "gemm/prompt.cuh"
#include "common/wgmma.cuh"

// Shared memory of a block: STAGES times (two weight tiles, TOKENS rows of 128 bytes), what each warpgroup has for the output,
// [TOKENS][64] or, gated, [TOKENS][32]; barriers.
template <int TOKENS_, int STAGES_, bool SLICED_, bool GATED_>
struct Memory {
    static constexpr int TOKENS = TOKENS_;
    static constexpr int STAGES = STAGES_;
    static constexpr bool SLICED = SLICED_;
    static constexpr bool GATED = GATED_;
    static constexpr u32 STAGE_BYTES = GROUPS * TILE_BYTES + TOKENS * 128;
    static constexpr u32 RESULT_BYTES = TOKENS * (GATED ? 64 : 128);
    u32 base;

    __device__ u32 weight(int stage) const {
        return base + stage * STAGE_BYTES;
    }
    __device__ u32 tokens(int stage) const {
        return weight(stage) + GROUPS * TILE_BYTES;
    }
    __device__ u32 results(int group) const {
        return base + STAGES * STAGE_BYTES + group * RESULT_BYTES;
    }
    __device__ u32 full(int stage) const {
        return results(GROUPS) + stage * 16;
    }
    __device__ u32 empty(int stage) const {
        return full(stage) + 8;
    }
    __device__ u32 old(int group) const {  // what the output held is there
        return full(STAGES) + group * 8;
    }
};

// Lanes of the warp that fetches bring pieces of the two weight tiles. Gated: a warpgroup has 32 rows of either tile.
template <class M>
__device__ __forceinline__ void fetch(M memory, const Product& p, const TensorMap* map) {
    constexpr int SHARE = M::TOKENS / CLUSTER;  // tokens that this block fetches
    constexpr int PIECES = M::GATED ? 4 : 2;
    constexpr u32 PIECE_BYTES = GROUPS * TILE_BYTES / PIECES;
    Tiles<M::TOKENS> all(p, M::GATED ? TILE : TILE * GROUPS);
    int tiles = (p.columns + TILE - 1) / TILE;
    int lastRow = (p.outputs + TILE - 1) / TILE - 1;
    u32 rank = clusterRank();
    int lane = threadIdx.x % 32;
    int rows = lane % PIECES / 2 * PIECE_BYTES;  // where the piece is in its tile
    Turn turn;
    bool isFirstRound = true;
    for (int index = blockIdx.x / CLUSTER; index < all.count(); index += gridDim.x / CLUSTER) {
        int rowTile, firstToken;
        all.place(index, rowTile, firstToken);
        int first = M::GATED ? min(rowTile / 2, lastRow) : min(rowTile, lastRow);  // the two weight tiles of the block
        int second = M::GATED ? first + lastRow + 1 : min(first + 1, lastRow);
        const unsigned char* piece = p.weight + (i64)(lane % 2 ? second : first) * tiles * TILE_BYTES + rows;
        if (index == blockIdx.x / CLUSTER) {
#pragma unroll 1
            for (int k = 0; k < min(M::STAGES, tiles); k++) {  // weights never change; the input does
                if (lane < PIECES) {
                    bulkPrefetch(piece + (i64)k * TILE_BYTES, PIECE_BYTES);
                }
            }
            waitForPrevious();
        }
#pragma unroll 1
        for (int k = 0; k < tiles; k++) {
            if (!isFirstRound) {
                barrierWait(memory.empty(turn.stage), turn.parity ^ 1);
            }
            u32 full = memory.full(turn.stage);
            if (lane == 0) {
                barrierExpect(full, M::STAGE_BYTES);
                tensorCopyToCluster(
                    memory.tokens(turn.stage) + rank * SHARE * 128, map, k * TILE, firstToken + rank * SHARE, full, BOTH);
            }
            __syncwarp();
            if (lane < PIECES) {
                bulkCopy(memory.weight(turn.stage) + lane * PIECE_BYTES, piece, PIECE_BYTES, full);
            }
            piece += TILE_BYTES;
            turn.next<M::STAGES>();
            isFirstRound = isFirstRound && turn.stage != 0;
        }
    }
}

// Where of the output a warpgroup is, and how the copy engine sees that.
struct Target {
    const TensorMap* results;
    int column;
    int firstToken;
    bool accumulates;
};

// Once the copy engine has taken the results before: what the output holds comes to their place, if it is needed.
template <class M>
__device__ __forceinline__ void prepareResults(M memory, int group, const Target& target) {
    if (threadIdx.x % 128 == 0) {
        bulkStoresRead();
        if (target.accumulates) {
            barrierExpect(memory.old(group), M::RESULT_BYTES);
            tensorCopy(memory.results(group), target.results, target.column, target.firstToken, memory.old(group));
        }
    }
    __syncwarp();
}

// Sums `count` tiles of K, at least one. On return nothing is in flight.
template <class T, class M>
__device__ __forceinline__ void multiply(
    M memory, float (&sums)[M::TOKENS / 2], int group, int count, Turn& turn, const Target& target, bool prepares) {
    int before = 0;
    for (int i = 0; i < count; i++) {
        barrierWait(memory.full(turn.stage), turn.parity);
        u64 a = operand(memory.weight(turn.stage) + group * TILE_BYTES);
        u64 b = operand(memory.tokens(turn.stage));
        wgmmaBegin();
#pragma unroll
        for (int k = 0; k < TILE / 16; k++) {
            wgmma<T, M::TOKENS>(sums, a + 2 * k, b + 2 * k, i > 0 || k > 0);
        }
        wgmmaCommit();
        if (i == 0 && prepares) {
            prepareResults(memory, group, target);
        }
        wgmmaWait<1>();
        if (i > 0) {
            release(memory, before);
        }
        before = turn.stage;
        turn.next<M::STAGES>();
    }
    wgmmaWait<0>();
    release(memory, before);
}

// Gives the results of a warpgroup to the copy engine.
template <class M>
__device__ __forceinline__ void storeResults(M memory, int group, const Target& target) {
    proxyFence();
    namedBarrier(1 + group, 128);
    if (threadIdx.x % 128 == 0) {
        tensorStore(target.results, target.column, target.firstToken, memory.results(group));
        bulkStoresCommit();
    }
    __syncwarp();
}

// Leaves finished sums in shared memory, rows of 64 outputs: eight rows and eight outputs a matrix, four of them at a time.
template <class T, bool ADDS, class M>
__device__ __forceinline__ void leave(M memory, const float (&sums)[M::TOKENS / 2], int group) {
    int lane = threadIdx.x % 32;
    int piece = threadIdx.x % 128 / 32 * 2 + lane / 8 % 2;  // of 8 outputs
    u32 at = memory.results(group) + (lane / 16 * 8 + lane % 8) * 128 + ((piece ^ (lane % 8)) << 4);
#pragma unroll
    for (int j = 0; j < M::TOKENS / 8; j += 2) {
        u32 old[4];
        if (ADDS) {
            loadMatricesTransposed(old, at + j * 1024);
        }
        u32 bits[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float low = sums[4 * j + 2 * i];
            float high = sums[4 * j + 2 * i + 1];
            bits[i] =
                ADDS ? pack<T>(__fadd_rn(lowHalf<T>(old[i]), low), __fadd_rn(highHalf<T>(old[i]), high)) : pack<T>(low, high);
        }
        storeMatricesTransposed(at + j * 1024, bits);
    }
}

// The first of the two outputs, eight apart, whose sums a thread has.
__device__ __forceinline__ int outputOfThread() {
    return threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
}

template <class T, class M>
__device__ __forceinline__ void finish(M memory, const Product& p, const Epilogue& epilogue, float (&sums)[M::TOKENS / 2],
    int group, u32 parity, const Target& target) {
    int column = target.column + outputOfThread();
    float bias[2] = {biasOf(epilogue, column, p.outputs), biasOf(epilogue, column + 8, p.outputs)};
#pragma unroll
    for (int i = 0; i < M::TOKENS / 2; i++) {
        sums[i] = __fadd_rn(sums[i], bias[i / 2 % 2]);
    }
    activateAll(epilogue.activation, sums);
#pragma unroll
    for (int i = 0; i < M::TOKENS / 2; i++) {
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

// Leaves silu(gate) * up of the sums of a warpgroup, which are rounded before as a product would store them. Two warps have the
// gates, two the ups: either sends the other one half of the tokens, and finishes the half that begins with eight times KEPT.
template <class T, int KEPT, class M>
__device__ __forceinline__ void leaveGated(
    M memory, const Gating& gating, const float (&sums)[M::TOKENS / 2], float scale, const float (&bias)[2], int group) {
    constexpr int HALF = M::TOKENS / 16;  // eights of tokens
    constexpr int SENT = HALF - KEPT;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x % 128 / 32;
    auto rounded = [&](int eight, int row) {
        const float* pair = &sums[4 * eight + 2 * row];
        return roundedPair<T>(pair[0], pair[1], bias[row], bias[row], scale);
    };
    auto placeOf = [&](int sender, int i) { return memory.results(group) + (sender * HALF / 2 + i) * 512 + lane * 16; };
#pragma unroll
    for (int i = 0; i < HALF / 2; i++) {
        int eight = SENT + 2 * i;
        localStore(
            placeOf(warp, i), make_uint4(rounded(eight, 0), rounded(eight, 1), rounded(eight + 1, 0), rounded(eight + 1, 1)));
    }
    namedBarrier(1 + group, 128);
    uint4 other[HALF / 2];
#pragma unroll
    for (int i = 0; i < HALF / 2; i++) {
        other[i] = localLoadBits(placeOf(warp ^ 2, i));
    }
    namedBarrier(1 + group, 128);  // their place is that of the results
    int piece = warp % 2 * 2 + lane / 8 % 2;  // of 8 outputs
    u32 at = memory.results(group) + (lane / 16 * 8 + lane % 8) * 64 + ((piece ^ (lane % 8 / 2)) << 4);
#pragma unroll
    for (int i = 0; i < HALF / 2; i++) {
        u32 theirs[4] = {other[i].x, other[i].y, other[i].z, other[i].w};
        u32 bits[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            u32 mine = rounded(KEPT + 2 * i + j / 2, j % 2);
            bits[j] = KEPT == 0 ? gatedPair<T>(gating, mine, theirs[j]) : gatedPair<T>(gating, theirs[j], mine);
        }
        storeMatricesTransposed(at + (KEPT + 2 * i) * 512, bits);
    }
}

template <class T, class M>
__device__ __forceinline__ void finishGated(M memory, const Product& p, const Epilogue& epilogue, const Gating& gating,
    const float (&sums)[M::TOKENS / 2], int group, const Target& target) {
    bool hasUps = threadIdx.x % 128 >= 64;
    int column = target.column + outputOfThread() % 32 + (hasUps ? p.outputs : 0);
    float bias[2] = {biasOf(epilogue, column, 2 * p.outputs), biasOf(epilogue, column + 8, 2 * p.outputs)};
    namedBarrier(1 + group, 128);  // the results before have been taken
    if (hasUps) {
        leaveGated<T, M::TOKENS / 16>(memory, gating, sums, epilogue.scale, bias, group);
    } else {
        leaveGated<T, 0>(memory, gating, sums, epilogue.scale, bias, group);
    }
    storeResults(memory, group, target);
}

template <class T, class M>
__device__ __forceinline__ void multiplyMany(const Product& p, const Epilogue& epilogue, const Gating& gating, int slices,
    const TensorMap* tokens, const TensorMap* results) {
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
        if (threadIdx.x < GROUPS * 128 + 32) {
            fetch(memory, p, tokens);
        }
        __syncwarp();
    } else {
        moreRegisters<232>();
        waitForPrevious();
        constexpr int OUTPUTS = M::GATED ? TILE / 2 : TILE;  // of a warpgroup
        Tiles<M::TOKENS> all(p, OUTPUTS * GROUPS);
        int tiles = (p.columns + TILE - 1) / TILE;
        Turn turn;
        u32 parity = 0;
        for (int index = blockIdx.x / CLUSTER; index < all.count(); index += gridDim.x / CLUSTER) {
            int rowTile, firstToken;
            all.place(index, rowTile, firstToken);
            Target target = {results, (rowTile + group) * OUTPUTS, firstToken, (epilogue.flags & ACCUMULATES) != 0};
            float sums[M::TOKENS / 2];
            if constexpr (M::GATED) {
                multiply<T>(memory, sums, group, tiles, turn, target, true);
                finishGated<T>(memory, p, epilogue, gating, sums, group, target);
            } else if constexpr (!M::SLICED) {
                multiply<T>(memory, sums, group, tiles, turn, target, true);
                finish<T>(memory, p, epilogue, sums, group, parity, target);
            } else {
                float all[M::TOKENS / 2];
#pragma unroll
                for (int i = 0; i < M::TOKENS / 2; i++) {
                    all[i] = -0.0f;  // to which a number is added without a change of its bits
                }
                for (int s = 0; s < slices; s++) {
                    int first = s * tiles / slices;
                    multiply<T>(memory, sums, group, (s + 1) * tiles / slices - first, turn, target, s == 0);
#pragma unroll
                    for (int i = 0; i < M::TOKENS / 2; i++) {
                        all[i] += sums[i];
                    }
                }
                finish<T>(memory, p, epilogue, all, group, parity, target);
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

#define MANY(NAME, T, ...)                                                                                              \
    extern "C" __global__ void __launch_bounds__(384, 1)                                                                \
        NAME(PRODUCT_PARAMETERS, const __grid_constant__ TensorMap tokens, const __grid_constant__ TensorMap results) { \
        multiplyMany<T, Memory<__VA_ARGS__, false>>(PRODUCT, EPILOGUE, Gating(), slices, &tokens, &results);            \
    }
#define GATED(T, SUFFIX, TOKENS, STAGES)                                                                                    \
    extern "C" __global__ void __launch_bounds__(384, 1) linear_prompt_gated_##TOKENS##_##SUFFIX(PRODUCT_PARAMETERS,        \
        float limit, float upOffset, const __grid_constant__ TensorMap tokens, const __grid_constant__ TensorMap results) { \
        Product p = PRODUCT;                                                                                                \
        p.outputs = outputs / 2;                                                                                            \
        Gating gating = {limit, upOffset};                                                                                  \
        multiplyMany<T, Memory<TOKENS, STAGES, false, true>>(p, EPILOGUE, gating, slices, &tokens, &results);               \
    }
#define BOTH_TYPES(TOKENS, ...)                            \
    MANY(linear_prompt_##TOKENS##_bf16, Bf16, __VA_ARGS__) \
    MANY(linear_prompt_##TOKENS##_f16, F16, __VA_ARGS__)

BOTH_TYPES(128, 128, 6, true)
BOTH_TYPES(192, 192, 4, true)
BOTH_TYPES(256, 256, 3, false)
GATED(Bf16, bf16, 128, 6)
GATED(Bf16, bf16, 256, 4)
GATED(F16, f16, 128, 6)
GATED(F16, f16, 256, 4)
