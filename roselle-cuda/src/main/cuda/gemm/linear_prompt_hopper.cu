// The products of linear_hopper.cu for many rows, with its bits: output[r][n] = scale * activation(sum over k of
// weight[n][k] * input[r][k] + bias[n])  (+ output[r][n]), for Hopper (sm_90a), BF16 and F16 with float32 sums.
//
// Blocks stay and take one tile of 128 outputs and TOKENS rows after the other. Two blocks form a cluster: they take the same
// rows of the input, each fetches half of them for both, and neighbouring outputs. One thread of a block fetches, two warpgroups
// of 64 outputs each multiply; a warpgroup that stores its sums leaves the tensor cores to the other one.
//
// The sum over K is cut into the slices of linear_hopper.cu, which a block walks in order.
//
// weight, input, output: as in linear_hopper.cu; weight tiles past the last one are not read.
// tokens: the tensor map of the input, [rows, columns], with a box of TOKENS / 2 rows of 64 columns, swizzled by 128 bytes; rows
//   and columns past the end are zeros.
// Launch: clusters of 2 blocks, at most as many blocks as there are multiprocessors and twice ceil(outputs / 256) *
// ceil(rows / TOKENS); 384 threads; dynamic shared memory of STAGES * (16,384 + TOKENS * 128 + 16) + 18,432 bytes. Each kernel
// may be launched with programmatic stream serialization.
// linear_prompt_gated: the weight has rows of gates, a multiple of 64, and as many of ups after them; the output is what gated
// of rows.cu makes of the two products with silu, with its bits. `outputs` counts both, `slices` is 1; nothing is added to the
// output, and no activation follows the products.
#include "gemm/epilogue.cuh"
#include "gemm/rings.cuh"
#include "common/wgmma.cuh"

constexpr int CLUSTER = 2;  // blocks
constexpr unsigned short BOTH = 3;
constexpr int GROUPS = 2;  // warpgroups that multiply
constexpr int CHUNK = 32;  // tokens whose sums lie in shared memory together
constexpr int SUM_STRIDE = TILE + 4;  // numbers
constexpr int BAND = 2048;  // rows whose products with all weights come before those of other rows

// Shared memory of a block: STAGES times (two weight tiles, TOKENS rows of 128 bytes), the sums of a chunk of tokens for each
// warpgroup, barriers.
template <int TOKENS_, int STAGES_>
struct Memory {
    static constexpr int TOKENS = TOKENS_;
    static constexpr int STAGES = STAGES_;
    static constexpr u32 STAGE_BYTES = GROUPS * TILE_BYTES + TOKENS * 128;
    static constexpr u32 CHUNK_BYTES = CHUNK * SUM_STRIDE * 4;
    u32 base;

    __device__ u32 weight(int stage) const {
        return base + stage * STAGE_BYTES;
    }
    __device__ u32 tokens(int stage) const {
        return weight(stage) + GROUPS * TILE_BYTES;
    }
    __device__ u32 sums(int group) const {
        return base + STAGES * STAGE_BYTES + group * CHUNK_BYTES;
    }
    __device__ u32 full(int stage) const {
        return sums(GROUPS) + stage * 16;
    }
    __device__ u32 empty(int stage) const {
        return full(stage) + 8;
    }
};

// A place in the ring of stages, and how often it was used.
struct Turn {
    int stage = 0;
    u32 parity = 0;

    template <int STAGES>
    __device__ __forceinline__ void next() {
        stage++;
        if (stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

// Which tiles there are, and which of them is the `index`-th: bands of rows, within a band the weights one after the other.
template <int TOKENS>
struct Tiles {
    int outputs;  // tiles of a cluster
    int tokens;

    __device__ __forceinline__ Tiles(const Product& p, int outputsOfBlock)
        : outputs((p.outputs + outputsOfBlock * CLUSTER - 1) / (outputsOfBlock * CLUSTER)),
          tokens((p.rows + TOKENS - 1) / TOKENS) {}

    __device__ __forceinline__ int count() const {
        return outputs * tokens;
    }
    __device__ __forceinline__ void place(int index, int& rowTile, int& firstToken) const {
        constexpr int WIDE = BAND / TOKENS;
        int band = index / (WIDE * outputs);
        int wide = min(WIDE, tokens - band * WIDE);
        int rest = index - band * WIDE * outputs;
        rowTile = (rest / wide * CLUSTER + clusterRank()) * GROUPS;
        firstToken = (band * WIDE + rest % wide) * TOKENS;
    }
};

template <class M, bool GATED>
__device__ __forceinline__ void fetch(M memory, const Product& p, const TensorMap* map) {
    constexpr int SHARE = M::TOKENS / CLUSTER;  // tokens that this block fetches
    Tiles<M::TOKENS> all(p, GATED ? TILE : TILE * GROUPS);
    int tiles = (p.columns + TILE - 1) / TILE;
    int lastRow = (p.outputs + TILE - 1) / TILE - 1;
    u32 rank = clusterRank();
    Turn turn;
    bool isFirstRound = true;
    for (int index = blockIdx.x / CLUSTER; index < all.count(); index += gridDim.x / CLUSTER) {
        int rowTile, firstToken;
        all.place(index, rowTile, firstToken);
        int first = GATED ? rowTile / 2 : rowTile;  // the two weight tiles of the block
        int second = GATED ? first + lastRow + 1 : min(first + 1, lastRow);
        const unsigned char* upper = p.weight + (i64)min(first, lastRow) * tiles * TILE_BYTES;
        const unsigned char* lower = p.weight + (i64)min(second, GATED ? 2 * lastRow + 1 : lastRow) * tiles * TILE_BYTES;
        if (index == blockIdx.x / CLUSTER) {
#pragma unroll 1
            for (int k = 0; k < min(M::STAGES, tiles); k++) {  // weights never change; the input does
                bulkPrefetch(upper + (i64)k * TILE_BYTES, TILE_BYTES);
                bulkPrefetch(lower + (i64)k * TILE_BYTES, TILE_BYTES);
            }
            waitForPrevious();
        }
#pragma unroll 1
        for (int k = 0; k < tiles; k++) {
            if (!isFirstRound) {
                barrierWait(memory.empty(turn.stage), turn.parity ^ 1);
            }
            u32 full = memory.full(turn.stage);
            barrierExpect(full, M::STAGE_BYTES);
            tensorCopyToCluster(memory.tokens(turn.stage) + rank * SHARE * 128, map, k * TILE, firstToken + rank * SHARE, full,
                BOTH, READ_AGAIN);
            u32 to = memory.weight(turn.stage);
            if (GATED) {  // each warpgroup multiplies 32 rows of either tile
                bulkCopy(to, upper, TILE_BYTES / 2, full, READ_AGAIN);
                bulkCopy(to + TILE_BYTES / 2, lower, TILE_BYTES / 2, full, READ_AGAIN);
                bulkCopy(to + TILE_BYTES, upper + TILE_BYTES / 2, TILE_BYTES / 2, full, READ_AGAIN);
                bulkCopy(to + TILE_BYTES * 3 / 2, lower + TILE_BYTES / 2, TILE_BYTES / 2, full, READ_AGAIN);
            } else {
                bulkCopy(to, upper, TILE_BYTES, full, READ_AGAIN);
                bulkCopy(to + TILE_BYTES, lower, TILE_BYTES, full, READ_AGAIN);
            }
            upper += TILE_BYTES;
            lower += TILE_BYTES;
            turn.next<M::STAGES>();
            isFirstRound = isFirstRound && turn.stage != 0;
        }
    }
}

template <class M>
__device__ __forceinline__ void release(M memory, int stage) {
    int lane = threadIdx.x % 32;
    if (lane < CLUSTER) {
        clusterBarrierArrive(memory.empty(stage), lane);
    }
}

// Sums `count` tiles of K. On return nothing is in flight.
template <class T, class M>
__device__ __forceinline__ void multiply(M memory, float (&sums)[M::TOKENS / 2], int group, int count, Turn& turn) {
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
        wgmmaWait<1>();
        if (i > 0) {
            release(memory, before);
        }
        before = turn.stage;
        turn.next<M::STAGES>();
    }
    wgmmaWait<0>();
    if (count > 0) {
        release(memory, before);
    }
}

// Leaves the sums of chunk `c` in shared memory as [CHUNK][SUM_STRIDE]; `to` is the thread's first place.
template <class M>
__device__ __forceinline__ void stash(M memory, const float (&sums)[M::TOKENS / 2], u32 to, int c) {
#pragma unroll
    for (int j = 0; j < CHUNK / 8; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            u32 place = to + ((j * 8 + (i & 1)) * SUM_STRIDE + (i >> 1) * 8) * 4;
            asm volatile("st.shared.f32 [%0], %1;" ::"r"(place), "f"(sums[c * CHUNK / 2 + 4 * j + i]) : "memory");
        }
    }
}

// Where a thread of a warpgroup leaves its sums first.
template <class M>
__device__ __forceinline__ u32 stashPlace(M memory, int group) {
    int thread = threadIdx.x % 128;
    return memory.sums(group) + (thread % 4 * 2 * SUM_STRIDE + thread / 32 * 16 + thread % 32 / 4) * 4;
}

// Stores the sums of a warpgroup, a chunk of tokens at a time: through shared memory, so that threads have neighbouring outputs.
template <class T, class M>
__device__ __forceinline__ void finish(M memory, const Product& p, const Epilogue& epilogue, const float (&sums)[M::TOKENS / 2],
    int group, int rowTile, int firstToken) {
    constexpr int TURNS = CHUNK / 8;
    int thread = threadIdx.x % 128;
    u32 to = stashPlace(memory, group);
    u32 from = memory.sums(group) + (thread / 16 * SUM_STRIDE + thread % 16 * 4) * 4;
    int column = (rowTile + group) * TILE + thread % 16 * 4;
    int count = p.outputs - column;
    int left = p.rows - firstToken - thread / 16;  // a token is there where left is more than its number in the tile
    i64 at = (i64)(firstToken + thread / 16) * p.outputStride + column;
    float4 bias = biasFour(epilogue, column, p.outputs);
    Epilogue plain = {epilogue.bias, NONE, epilogue.scale, epilogue.flags & ACCUMULATES};
    bool isPlain = epilogue.activation == NONE && !(epilogue.flags & STORES_FLOATS);
#pragma unroll
    for (int c = 0; c < M::TOKENS / CHUNK; c++) {
        uint2 old[TURNS];
#pragma unroll
        for (int t = 0; t < TURNS; t++) {
            int token = c * CHUNK + t * 8;
            bool has = count > 0 && token < left;
            old[t] = has ? oldFour<T>(epilogue, p.output, at + token * p.outputStride, count) : make_uint2(0, 0);
        }
        namedBarrier(1 + group, 128);  // the chunk before has been read
        stash(memory, sums, to, c);
        namedBarrier(1 + group, 128);
        if (isPlain) {
#pragma unroll
            for (int t = 0; t < TURNS; t++) {
                int token = c * CHUNK + t * 8;
                float4 sum = localLoad(from + t * 8 * SUM_STRIDE * 4);
                if (count > 0 && token < left) {
                    finishFour<T>(sum, bias, old[t], plain, p.output, at + token * p.outputStride, count);
                }
            }
        } else {
#pragma unroll 1
            for (int t = 0; t < TURNS; t++) {
                int token = c * CHUNK + t * 8;
                float4 sum = localLoad(from + t * 8 * SUM_STRIDE * 4);
                if (count > 0 && token < left) {
                    uint2 before = oldFour<T>(epilogue, p.output, at + token * p.outputStride, count);
                    finishFour<T>(sum, bias, before, epilogue, p.output, at + token * p.outputStride, count);
                }
            }
        }
    }
}

// What gatedActivation makes of the products with the rows of gates and of ups.
struct Gating {
    float limit;
    float upOffset;
};

// Stores silu(gate) * up of the sums of a warpgroup, 32 outputs of either, which are rounded before as a product would store them.
template <class T, class M>
__device__ __forceinline__ void finishGated(M memory, const Product& p, const Epilogue& epilogue, const Gating& gating,
    const float (&sums)[M::TOKENS / 2], int group, int rowTile, int firstToken) {
    int thread = threadIdx.x % 128;
    u32 to = stashPlace(memory, group);
    u32 from = memory.sums(group) + (thread / 8 * SUM_STRIDE + thread % 8 * 4) * 4;
    int column = rowTile / 2 * TILE + group * 32 + thread % 8 * 4;
    int left = p.rows - firstToken - thread / 8;
    u16* target = (u16*)p.output + (i64)(firstToken + thread / 8) * p.outputStride + column;
    float4 gateBias = biasFour(epilogue, column, p.outputs);
    float4 upBias = biasFour(epilogue, p.outputs + column, 2 * p.outputs);
    auto rounded = [&](float4 sum, float4 bias) {
        u32 low =
            pack<T>(__fmul_rn(epilogue.scale, __fadd_rn(sum.x, bias.x)), __fmul_rn(epilogue.scale, __fadd_rn(sum.y, bias.y)));
        u32 high =
            pack<T>(__fmul_rn(epilogue.scale, __fadd_rn(sum.z, bias.z)), __fmul_rn(epilogue.scale, __fadd_rn(sum.w, bias.w)));
        return make_float4(lowHalf<T>(low), highHalf<T>(low), lowHalf<T>(high), highHalf<T>(high));
    };
    auto gate = [&](float g, float u) {
        return activate(SILU, fminf(g, gating.limit)) * (fminf(fmaxf(u, -gating.limit), gating.limit) + gating.upOffset);
    };
#pragma unroll
    for (int c = 0; c < M::TOKENS / CHUNK; c++) {
        namedBarrier(1 + group, 128);  // the chunk before has been read
        stash(memory, sums, to, c);
        namedBarrier(1 + group, 128);
#pragma unroll
        for (int t = 0; t < CHUNK / 16; t++) {
            int token = c * CHUNK + t * 16;
            float4 g = rounded(localLoad(from + t * 16 * SUM_STRIDE * 4), gateBias);
            float4 u = rounded(localLoad(from + t * 16 * SUM_STRIDE * 4 + 32 * 4), upBias);
            if (column < p.outputs && token < left) {
                *(uint2*)(target + token * p.outputStride) =
                    make_uint2(pack<T>(gate(g.x, u.x), gate(g.y, u.y)), pack<T>(gate(g.z, u.z), gate(g.w, u.w)));
            }
        }
    }
}

template <class T, class M, bool GATED>
__device__ __forceinline__ void multiplyMany(
    const Product& p, const Epilogue& epilogue, const Gating& gating, int slices, const TensorMap* map) {
    launchNext();
    extern __shared__ unsigned char shared[];
    M memory = {(sharedAddress(shared) + 1023) & ~1023u};
    if (threadIdx.x == 0) {
        for (int s = 0; s < M::STAGES; s++) {
            barrierInit(memory.full(s), 1);
            barrierInit(memory.empty(s), GROUPS * 4 * CLUSTER);
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
            fetch<M, GATED>(memory, p, map);
        }
        __syncwarp();
    } else {
        moreRegisters<232>();
        waitForPrevious();
        Tiles<M::TOKENS> all(p, GATED ? TILE : TILE * GROUPS);
        int tiles = (p.columns + TILE - 1) / TILE;
        Turn turn;
        for (int index = blockIdx.x / CLUSTER; index < all.count(); index += gridDim.x / CLUSTER) {
            int rowTile, firstToken;
            all.place(index, rowTile, firstToken);
            float sums[M::TOKENS / 2];
            if constexpr (GATED) {
                multiply<T>(memory, sums, group, tiles, turn);
                finishGated<T>(memory, p, epilogue, gating, sums, group, rowTile, firstToken);
            } else {
                float all[M::TOKENS / 2];
#pragma unroll
                for (int i = 0; i < M::TOKENS / 2; i++) {
                    all[i] = -0.0f;  // to which a number is added without a change of its bits
                }
                for (int s = 0; s < slices; s++) {
                    int first = s * tiles / slices;
                    multiply<T>(memory, sums, group, (s + 1) * tiles / slices - first, turn);
#pragma unroll
                    for (int i = 0; i < M::TOKENS / 2; i++) {
                        all[i] += sums[i];
                    }
                }
                finish<T>(memory, p, epilogue, all, group, rowTile, firstToken);
            }
        }
    }
    clusterArrive();  // no block leaves while another sends to it
    clusterWait();
}

#define MANY(NAME, T, TOKENS, STAGES)                                                                                         \
    extern "C" __global__ void __launch_bounds__(384, 1) NAME(PRODUCT_PARAMETERS, const __grid_constant__ TensorMap tokens) { \
        multiplyMany<T, Memory<TOKENS, STAGES>, false>(PRODUCT, EPILOGUE, Gating(), slices, &tokens);                         \
    }
#define GATED(T, SUFFIX, TOKENS, STAGES)                                                             \
    extern "C" __global__ void __launch_bounds__(384, 1) linear_prompt_gated_##TOKENS##_##SUFFIX(    \
        PRODUCT_PARAMETERS, float limit, float upOffset, const __grid_constant__ TensorMap tokens) { \
        Product p = PRODUCT;                                                                         \
        p.outputs = outputs / 2;                                                                     \
        Gating gating = {limit, upOffset};                                                           \
        multiplyMany<T, Memory<TOKENS, STAGES>, true>(p, EPILOGUE, gating, slices, &tokens);         \
    }
#define BOTH_TYPES(TOKENS, ...)                            \
    MANY(linear_prompt_##TOKENS##_bf16, Bf16, __VA_ARGS__) \
    MANY(linear_prompt_##TOKENS##_f16, F16, __VA_ARGS__)

BOTH_TYPES(128, 128, 6)
BOTH_TYPES(192, 192, 5)
GATED(Bf16, bf16, 128, 6)
GATED(Bf16, bf16, 256, 4)
GATED(F16, f16, 128, 6)
GATED(F16, f16, 256, 4)
