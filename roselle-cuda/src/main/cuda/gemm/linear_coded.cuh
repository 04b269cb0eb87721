// output[r][n] = scale * activation(sum over k of weight[n][k] * input[r][k] + bias[n])  (+ output[r][n])
//
// For Hopper (sm_90a), BF16 and F16 rows with float32 sums, and weights of 4 to 8 bits, packed (pack_codes) as tiles of codes.cuh.
// Weights stand on the M side of wgmma.m64nNk16 and are decoded into the registers that it reads them from, so that nothing but
// codes goes through memory; tokens stand on the N side.
//
// Order of the sum, the same for every number of rows: K is cut into tiles of 128 and these into `slices` runs, slice s from tile
// s * tiles / slices on. A slice is summed by the tensor cores in steps of 16 numbers; the slices' sums are added in order.
// `slices` depends on the weight's shape alone. coded_8 to coded_64 give each slice to a block of its own, whose cluster adds them;
// coded_many walks them in one block. Neither the instruction's N nor the token's column in it takes part in the sum; up to 16 tokens
// are multiplied by mma.m16n8k16 in the same steps, whose sums have the same bits on Hopper.
//
// weight: [ceil(outputs / 64), ceil(columns / 128)] tiles; where GROUPS is 2 and the row tiles are odd, one more row of memory.
// input: [rows, columns]; columns, stride and address are multiples of 8 numbers. tokens: its tensor map, with a box of TOKENS rows
//   of 64 columns, swizzled by 128 bytes; rows and columns past the end are zeros.
// Launch: blocks of 128 * GROUPS + 32 * PRODUCERS threads; dynamic shared memory of
// STAGES * (GROUPS * BYTES + TOKENS * 256 + 16) + 1024 bytes, and up to 32 tokens (TOKENS + 8) * 256 * GROUPS more.
//   With tiles = ceil(outputs / (64 * GROUPS)) * ceil(rows / TOKENS): grid (tiles * slices, 1, 1), cluster (slices, 1, 1), slices <= 8;
//   coded_many: grid (tiles, 1, 1), no cluster.
// Each kernel may be launched with programmatic stream serialization: it reads nothing but weights before the end of the kernel before it.
#pragma once
#include "common/wgmma_held.cuh"
#include "format/codes.cuh"
#include "gemm/sums.cuh"

// The shared memory of a block: STAGES times the tokens of 128 columns, in two halves; the tiles of weights; the inbox; barriers.
template <class CODES, int TOKENS_, int GROUPS_, int PRODUCERS_, int STAGES_>
struct CodedRing {
    static constexpr int TOKENS = TOKENS_;
    static constexpr int GROUPS = GROUPS_;
    static constexpr int STAGES = STAGES_;
    static constexpr int ARRIVALS = 1;  // at the barrier of a full stage
    static constexpr u32 HALF_BYTES = TOKENS * 128;
    static constexpr u32 STAGE_BYTES = 2 * HALF_BYTES + GROUPS * CODES::BYTES;
    static constexpr int SUM_STRIDE = TILE * GROUPS + 4;
    static constexpr bool HAS_INBOX = TOKENS <= 32;
    static constexpr u32 INBOX_BYTES = HAS_INBOX ? (TOKENS + MOST_SLICES) * TILE * GROUPS * 4 : 0;
    static_assert(TOKENS * SUM_STRIDE * 4 <= STAGES * STAGE_BYTES, "the sums do not fit");
    u32 base;

    __device__ u32 tokens(int stage) const {
        return base + stage * 2 * HALF_BYTES;
    }
    __device__ u32 weight(int stage) const {
        return base + STAGES * 2 * HALF_BYTES + stage * GROUPS * CODES::BYTES;
    }
    __device__ u32 inbox() const {
        return base + STAGES * STAGE_BYTES;
    }
    __device__ u32 full(int stage) const {
        return inbox() + INBOX_BYTES + stage * 16;
    }
    __device__ u32 empty(int stage) const {
        return full(stage) + 8;
    }
};

#ifndef MMA_TOKENS
constexpr int MMA_TOKENS = 16;  // at most, of which warps multiply by themselves
#endif

// Stages of the blocks of each kernel.
template <class CODES>
struct CodedStages {
    static constexpr bool SMALL = CODES::BYTES <= 6144;
    static constexpr int ROWS_8 = SMALL ? 5 : 4;
    static constexpr int ROWS_16 = SMALL ? 5 : 3;
    static constexpr int ROWS_32 = SMALL ? 5 : 3;
    static constexpr int ROWS_64 = SMALL ? 4 : 3;
    static constexpr int MANY = 4;
};

// Loads the tiles `first` until `end` of K: one thread.
template <class CODES, class R>
__device__ __forceinline__ void produceCodes(
    R ring, const Product& p, const TensorMap* map, int rowTile, int firstToken, int first, int end) {
    int count = end - first;
    int tiles = (p.columns + CODE_COLUMNS - 1) / CODE_COLUMNS;
    const u8* weight = p.weight + ((i64)rowTile * tiles + first) * CODES::BYTES;
    u64 policy = p.rows > R::TOKENS ? READ_AGAIN : READ_ONCE;
    auto loadWeight = [&](int i) {
        int stage = i % R::STAGES;
        u32 full = ring.full(stage);
        barrierExpect(full, R::STAGE_BYTES);
#pragma unroll
        for (int g = 0; g < R::GROUPS; g++) {
            bulkCopy(ring.weight(stage) + g * CODES::BYTES, weight + ((i64)g * tiles + i) * CODES::BYTES, CODES::BYTES, full,
                policy);
        }
    };
    auto loadTokens = [&](int i) {
        int stage = i % R::STAGES;
        int column = (first + i) * CODE_COLUMNS;
        tensorCopy(ring.tokens(stage), map, column, firstToken, ring.full(stage));
        tensorCopy(ring.tokens(stage) + R::HALF_BYTES, map, column + 64, firstToken, ring.full(stage));
    };
    int ready = min(R::STAGES, count);
    for (int i = 0; i < ready; i++) {
        loadWeight(i);
    }
    waitForPrevious();  // weights never change; the input does
    for (int i = 0; i < ready; i++) {
        loadTokens(i);
    }
    for (int i = R::STAGES; i < count; i++) {
        barrierWait(ring.empty(i % R::STAGES), (i / R::STAGES - 1) & 1);
        loadWeight(i);
        loadTokens(i);
    }
}

// Adds the products of a tile of K by instructions of a warp, which take less time where tokens are few.
template <class T, class R>
__device__ __forceinline__ void multiplyHere(
    R ring, float (&sums)[R::TOKENS / 2], const u32 (&a)[CODE_STEPS][4], int stage, int lane) {
#pragma unroll
    for (int j = 0; j < R::TOKENS / 8; j++) {
        float(&sum)[4] = *(float(*)[4])(sums + 4 * j);
        int token = j * 8 + lane % 8;
#pragma unroll
        for (int s = 0; s < CODE_STEPS; s += 2) {
            u32 b[4];
            int piece = s % 4 * 2 + lane / 8;
            loadMatrices(b, ring.tokens(stage) + s / 4 * R::HALF_BYTES + token * 128 + ((piece ^ (token & 7)) << 4));
            mma<T>(sum, a[s], b[0], b[1]);
            mma<T>(sum, a[s + 1], b[2], b[3]);
        }
    }
}

// Adds the products of a tile of K by the instructions of a warpgroup, or makes them the sums.
template <class T, class R>
__device__ __forceinline__ void multiplyTogether(
    R ring, float (&sums)[R::TOKENS / 2], const u32 (&a)[CODE_STEPS][4], int stage, bool adds) {
    u64 b = operand(ring.tokens(stage));
    wgmmaBegin();
#pragma unroll
    for (int s = 0; s < CODE_STEPS; s++) {
        wgmmaHeld<T, R::TOKENS>(sums, a[s], b + s / 4 * (R::HALF_BYTES / 16) + s % 4 * 2, adds || s > 0);
    }
    wgmmaCommit();
    wgmmaWait<0>();
}

// Sums `count` K tiles of a slice. Other warpgroups multiply while this one decodes.
template <class T, class CODES, class R>
__device__ __forceinline__ void consumeCodes(R ring, float (&sums)[R::TOKENS / 2], int group, int count, Turn& turn) {
    int warp = threadIdx.x % 128 / 32;
    int lane = threadIdx.x % 32;
    if (R::TOKENS <= MMA_TOKENS) {
#pragma unroll
        for (int i = 0; i < R::TOKENS / 2; i++) {
            sums[i] = 0.0f;
        }
    }
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        barrierWait(ring.full(turn.stage), turn.parity);
        u32 a[CODE_STEPS][4];
        CODES::template decode<T>(ring.weight(turn.stage) + group * CODES::BYTES, warp, lane, a);
        if constexpr (R::TOKENS <= MMA_TOKENS) {
            multiplyHere<T>(ring, sums, a, turn.stage, lane);
            __syncwarp();
        } else {
            multiplyTogether<T>(ring, sums, a, turn.stage, i > 0);
        }
        if (lane == 0) {
            barrierArrive(ring.empty(turn.stage));
        }
        turn.next<R::STAGES>();
    }
}

template <class T, class CODES, class R>
__device__ __forceinline__ void codedParallel(const Product& p, const Epilogue& epilogue, int slices, const TensorMap* map) {
    int tiles = (p.columns + CODE_COLUMNS - 1) / CODE_COLUMNS;
    multiplyParallel<T, R>(
        p, epilogue, slices, tiles,
        [&](R ring, Place at, int first, int end) {
            if (threadIdx.x == R::GROUPS * 128) {
                produceCodes<CODES>(ring, p, map, at.rowTile, at.firstToken, first, end);
            }
        },
        [&](R ring, Place, float(&sums)[R::TOKENS / 2], int group, int first, int end) {
            Turn turn;
            consumeCodes<T, CODES>(ring, sums, group, end - first, turn);
        });
}

template <class T, class CODES, class R>
__device__ __forceinline__ void codedSerial(const Product& p, const Epilogue& epilogue, int slices, const TensorMap* map) {
    launchNext();
    R ring = openRing<R>();
    auto [rowTile, firstToken] = place<R::TOKENS, R::GROUPS>(p, blockIdx.x);
    int tiles = (p.columns + CODE_COLUMNS - 1) / CODE_COLUMNS;
    int group = threadIdx.x / 128;
    if (group == R::GROUPS) {
        fewerRegisters<40>();
        if (threadIdx.x == R::GROUPS * 128) {
            produceCodes<CODES>(ring, p, map, rowTile, firstToken, 0, tiles);
        }
    } else {
        moreRegisters<232>();
        float all[R::TOKENS / 2];
#pragma unroll
        for (int i = 0; i < R::TOKENS / 2; i++) {
            all[i] = -0.0f;  // to which a number is added without a change of its bits
        }
        Turn turn;
        for (int s = 0; s < slices; s++) {
            float sums[R::TOKENS / 2];
            consumeCodes<T, CODES>(ring, sums, group, (s + 1) * tiles / slices - s * tiles / slices, turn);
#pragma unroll
            for (int i = 0; i < R::TOKENS / 2; i++) {
                all[i] += sums[i];
            }
        }
        waitForPrevious();
        namedBarrier(1, R::GROUPS * 128);
        stash(ring, all, group);
        namedBarrier(1, R::GROUPS * 128);
        finishThere<1>(ring, Finish<T, R>(p, epilogue, rowTile, firstToken, 0, 1));
    }
}

// Brings rows of blocks into tiles, the first of which is tile row `firstTile` of `packed`. Launch: grid (tiles of K, row tiles), 256 threads.
template <class CODES>
__device__ __forceinline__ void packCodes(
    const u8* rowsOfBlocks, i64 rowBytes, u8* packed, int firstTile, int rows, int columns) {
    u8* tile = packed + ((i64)(firstTile + blockIdx.y) * gridDim.x + blockIdx.x) * CODES::BYTES;
    auto block = [&](int row, int column) -> const u8* {
        bool present = blockIdx.y * CODE_ROWS + row < rows && blockIdx.x * CODE_COLUMNS + column < columns;
        i64 at = (blockIdx.x * CODE_COLUMNS + column) / CODES::BLOCK * CODES::BLOCK_BYTES;
        return present ? rowsOfBlocks + (blockIdx.y * CODE_ROWS + row) * rowBytes + at : nullptr;
    };
    auto within = [&](int column) { return (int)((blockIdx.x * CODE_COLUMNS + column) % CODES::BLOCK); };
    auto code = [&](int row, int column) -> u32 {
        const u8* from = block(row, column);
        return from ? CODES::code(from, within(column)) : 0;
    };
    for (int i = threadIdx.x; i < (int)CODES::CODE_BYTES / 4; i += blockDim.x) {
        ((u32*)tile)[i] = CODES::word(i, code);
    }
    for (int i = threadIdx.x; i < CODE_COLUMNS / CODES::GROUP * CODE_ROWS; i += blockDim.x) {
        int column = i / CODE_ROWS * CODES::GROUP;
        CODES::putFactors(tile, i % CODE_ROWS, column, block(i % CODE_ROWS, column), within(column));
    }
}

// output[r] = (adds ? output[r] : 0) + scale * row index[r] of the weight, its numbers not rounded to 16 bits before. Launch: grid
// (rows, ceil(columns / 256)), 256 threads.
template <class T, class CODES>
__device__ __forceinline__ void codedRows(
    const u8* packed, int columns, int tableRows, const int* index, float scale, int adds, u16* output, i64 outputStride) {
    int column = blockIdx.y * blockDim.x + threadIdx.x;
    int tiles = (columns + CODE_COLUMNS - 1) / CODE_COLUMNS;
    launchNext();
    waitForPrevious();
    if (column < columns) {
        int row = index[blockIdx.x] < tableRows ? index[blockIdx.x] : 0;
        const u8* tile = packed + ((i64)(row / CODE_ROWS) * tiles + column / CODE_COLUMNS) * CODES::BYTES;
        float x = CODES::number(tile, row % CODE_ROWS, column % CODE_COLUMNS);
        u16* target = output + blockIdx.x * outputStride + column;
        *target = fromFloat<T>(adds ? toFloat<T>(*target) + scale * x : scale * x);
    }
}

#define CODED_PARAMETERS PRODUCT_PARAMETERS, const __grid_constant__ TensorMap tokens
#define CODED(CODES, NAME, T, SUFFIX, TOKENS, GROUPS, STAGES, BLOCKS)                                             \
    extern "C" __global__ void __launch_bounds__(128 * GROUPS + 32, BLOCKS)                                       \
        coded_##TOKENS##_##NAME##_##SUFFIX(CODED_PARAMETERS) {                                                    \
        codedParallel<T, CODES, CodedRing<CODES, TOKENS, GROUPS, 1, STAGES>>(PRODUCT, EPILOGUE, slices, &tokens); \
    }
#define CODED_MANY(CODES, NAME, T, SUFFIX, STAGES)                                                        \
    extern "C" __global__ void __launch_bounds__(384, 1) coded_many_##NAME##_##SUFFIX(CODED_PARAMETERS) { \
        codedSerial<T, CODES, CodedRing<CODES, 128, 2, 4, STAGES>>(PRODUCT, EPILOGUE, slices, &tokens);   \
    }
#define CODED_KERNELS(CODES, NAME, T, SUFFIX)                                                                               \
    CODED(CODES, NAME, T, SUFFIX, 8, 1, CodedStages<CODES>::ROWS_8, CODES::BITS == 4 && CODES::GROUP == 128 ? 5 : 4)        \
    CODED(CODES, NAME, T, SUFFIX, 16, 1, CodedStages<CODES>::ROWS_16, 4)                                                    \
    CODED(CODES, NAME, T, SUFFIX, 32, 2, CodedStages<CODES>::ROWS_32, 2)                                                    \
    CODED(CODES, NAME, T, SUFFIX, 64, 2, CodedStages<CODES>::ROWS_64, 2)                                                    \
    CODED_MANY(CODES, NAME, T, SUFFIX, CodedStages<CODES>::MANY)                                                            \
    extern "C" __global__ void coded_rows_##NAME##_##SUFFIX(const u8* packed, int columns, int tableRows, const int* index, \
        float scale, int adds, u16* output, i64 outputStride) {                                                             \
        codedRows<T, CODES>(packed, columns, tableRows, index, scale, adds, output, outputStride);                          \
    }
#define CODED_BOTH_TYPES(CODES, NAME)                                                             \
    CODED_KERNELS(CODES, NAME, Bf16, bf16)                                                        \
    CODED_KERNELS(CODES, NAME, F16, f16)                                                          \
    extern "C" __global__ void pack_codes_##NAME(                                                 \
        const u8* rowsOfBlocks, i64 rowBytes, u8* packed, int firstTile, int rows, int columns) { \
        packCodes<CODES>(rowsOfBlocks, rowBytes, packed, firstTile, rows, columns);               \
    }
