// output[r][n] = scale * activation(sum over k of weight[n][k] * input[r][k] + bias[n])  (+ output[r][n])
//
// For Hopper (sm_90a), with weights and rows in FP8 (fp8.cuh), BF16 or F16 outputs and float32 sums: few rows. Weights stand on the
// M side of wgmma.m64nNk32, rows on the N side.
//
// Order of the sum, the same for every number of rows: K is cut into tiles of 128 and these into `slices` runs, slice s from tile
// s * tiles / slices on. The tensor cores sum a tile, whose sum is multiplied with its scales and added to the slice's in order
// (fused); a slice's sum is multiplied with the output's scale, and slices are added in order. `slices` depends on the weight's shape
// alone. Each slice has a block of its own, and a cluster adds them. Neither the instruction's N nor the side on which a factor
// stands takes part in the sum: linear_prompt_fp8_hopper.cu has the same bits.
//
// weight: [ceil(outputs / 64), columns / 128] tiles of 64 rows of 128 bytes, 16-byte chunk c of row r at c ^ (r % 8).
// tokens: the tensor map of the rows' codes as 16-bit numbers, [rows, columns / 2], with a box of TOKENS rows of 64, swizzled by 128
//   bytes; rows past the end are zeros. `input` is not read.
// Launch: blocks of 160 threads; dynamic shared memory of STAGES * (8192 + TOKENS * 132 + 16) + 1024 bytes, and up to 32 tokens
// (TOKENS + 8) * 256 more. With tiles = ceil(outputs / 64) * ceil(rows / TOKENS): grid (tiles * slices, 1, 1), cluster (slices, 1, 1),
// slices <= 8.
// Each kernel may be launched with programmatic stream serialization: it reads nothing but weights before the end of the kernel before it.
#include "common/elements.cuh"
#include "common/wgmma_fp8.cuh"
#include "format/codes.cuh"
#include "gemm/fp8.cuh"
#include "gemm/sums.cuh"
#include "rows/normalise.cuh"

// The shared memory of a block: STAGES times (a weight tile, then TOKENS rows of 128 bytes); the inbox; the scales of the tokens of each
// stage; barriers.
template <int TOKENS_, int STAGES_>
struct Fp8Ring {
    static constexpr int TOKENS = TOKENS_;
    static constexpr int GROUPS = 1;
    static constexpr int STAGES = STAGES_;
    static constexpr int ARRIVALS = 1;  // at the barrier of a full stage
    static constexpr u32 STAGE_BYTES = TILE_BYTES + TOKENS * 128;
    static constexpr u32 SCALE_BYTES = TOKENS * 4;
    static constexpr int SUM_STRIDE = TILE + 4;
    static constexpr bool HAS_INBOX = TOKENS <= 32;
    static constexpr u32 INBOX_BYTES = HAS_INBOX ? (TOKENS + MOST_SLICES) * TILE * 4 : 0;
    static_assert(TOKENS * SUM_STRIDE * 4 <= STAGES * STAGE_BYTES, "the sums do not fit");
    u32 base;

    __device__ u32 weight(int stage) const {
        return base + stage * STAGE_BYTES;
    }
    __device__ u32 tokens(int stage) const {
        return weight(stage) + TILE_BYTES;
    }
    __device__ u32 inbox() const {
        return base + STAGES * STAGE_BYTES;
    }
    __device__ u32 scales(int stage) const {
        return inbox() + INBOX_BYTES + stage * SCALE_BYTES;
    }
    __device__ u32 full(int stage) const {
        return scales(STAGES) + stage * 16;
    }
    __device__ u32 empty(int stage) const {
        return full(stage) + 8;
    }
};

// Loads the tiles `first` until `end` of K: one thread.
template <class R>
__device__ __forceinline__ void produceFp8(
    R ring, const Product& p, const Fp8Scales& scales, const TensorMap* map, Place at, int first, int end) {
    int count = end - first;
    int tiles = p.columns / FP8_COLUMNS;
    const unsigned char* weight = p.weight + ((i64)at.rowTile * tiles + first) * TILE_BYTES;
    const float* rowScales = scales.rows + (i64)first * scales.stride + at.firstToken;
    u64 policy = p.rows > R::TOKENS ? READ_AGAIN : READ_ONCE;
    auto loadWeight = [&](int i) {
        u32 full = ring.full(i % R::STAGES);
        barrierExpect(full, R::STAGE_BYTES + R::SCALE_BYTES);
        bulkCopy(ring.weight(i % R::STAGES), weight + (i64)i * TILE_BYTES, TILE_BYTES, full, policy);
    };
    auto loadTokens = [&](int i) {
        int stage = i % R::STAGES;
        tensorCopy(ring.tokens(stage), map, (first + i) * (FP8_COLUMNS / 2), at.firstToken, ring.full(stage));
        bulkCopy(ring.scales(stage), rowScales + (i64)i * scales.stride, R::SCALE_BYTES, ring.full(stage));
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

// Sums the tiles of a slice.
template <class R>
__device__ __forceinline__ void consumeFp8(
    R ring, const Product& p, const Fp8Scales& scales, Place at, float (&sums)[R::TOKENS / 2], int first, int end) {
    int lane = threadIdx.x % 32;
    TileScales tileScales(scales, at.rowTile, first, end, p.columns / FP8_COLUMNS);
    Turn turn;
#pragma unroll
    for (int i = 0; i < R::TOKENS / 2; i++) {
        sums[i] = 0.0f;
    }
    for (int i = 0; i < end - first; i++) {
        float tileScale = tileScales.next(i);
        barrierWait(ring.full(turn.stage), turn.parity);
        u64 a = operand(ring.weight(turn.stage));
        u64 b = operand(ring.tokens(turn.stage));
        float tile[R::TOKENS / 2];
        wgmmaBegin();
#pragma unroll
        for (int k = 0; k < FP8_COLUMNS / 32; k++) {
            wgmmaFp8<R::TOKENS>(tile, a + 2 * k, b + 2 * k, k > 0);
        }
        wgmmaCommit();
        wgmmaWait<0>();
#pragma unroll
        for (int j = 0; j < R::TOKENS / 8; j++) {
            float2 rowScales = sharedFloats(ring.scales(turn.stage) + (j * 8 + lane % 4 * 2) * 4);
            float even = __fmul_rn(rowScales.x, tileScale);
            float odd = __fmul_rn(rowScales.y, tileScale);
            sums[4 * j] = __fmaf_rn(tile[4 * j], even, sums[4 * j]);
            sums[4 * j + 1] = __fmaf_rn(tile[4 * j + 1], odd, sums[4 * j + 1]);
            sums[4 * j + 2] = __fmaf_rn(tile[4 * j + 2], even, sums[4 * j + 2]);
            sums[4 * j + 3] = __fmaf_rn(tile[4 * j + 3], odd, sums[4 * j + 3]);
        }
        __syncwarp();
        if (lane == 0) {
            barrierArrive(ring.empty(turn.stage));
        }
        turn.next<R::STAGES>();
    }
    const float* outputs = scales.outputs + at.rowTile * TILE + threadIdx.x % 128 / 32 * 16 + lane / 4;
    float upper = outputs[0];
    float lower = outputs[8];
#pragma unroll
    for (int i = 0; i < R::TOKENS / 2; i++) {
        sums[i] = __fmul_rn(sums[i], i % 4 < 2 ? upper : lower);
    }
}

#define FP8(T, SUFFIX, TOKENS, STAGES)                                                                       \
    extern "C" __global__ void __launch_bounds__(160, 2) linear_fp8_##TOKENS##_##SUFFIX(SCALED_PARAMETERS) { \
        using Memory = Fp8Ring<TOKENS, STAGES>;                                                              \
        Product p = PRODUCT;                                                                                 \
        Fp8Scales scales = SCALES;                                                                           \
        multiplyParallel<T, Memory>(                                                                         \
            p, EPILOGUE, slices, p.columns / FP8_COLUMNS,                                                    \
            [&](Memory ring, Place at, int first, int end) {                                                 \
                if (threadIdx.x == 128) {                                                                    \
                    produceFp8(ring, p, scales, &tokens, at, first, end);                                    \
                }                                                                                            \
            },                                                                                               \
            [&](Memory ring, Place at, float(&sums)[TOKENS / 2], int, int first, int end) {                  \
                consumeFp8(ring, p, scales, at, sums, first, end);                                           \
            });                                                                                              \
    }
#define FP8_KERNELS(T, SUFFIX) \
    FP8(T, SUFFIX, 8, 10)      \
    FP8(T, SUFFIX, 16, 9)      \
    FP8(T, SUFFIX, 32, 8)      \
    FP8(T, SUFFIX, 64, 6)

FP8_KERNELS(Bf16, bf16)
FP8_KERNELS(F16, f16)

__device__ __forceinline__ u32 e4m3Pair(float low, float high) {
    u16 pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
    return pair;
}

// The codes of a thread's 8 of 128 numbers, which half a warp has, and their scale: max|x| / 448, and the codes nearest to x / scale, 448 at
// most; where the scale is 0 they are 0.
__device__ __forceinline__ float quantized(const float (&x)[8], uint2& codes) {
    constexpr float MOST = 448.0f;
    u32 half = 0xFFFFu << (threadIdx.x & 16);
    float most = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        most = fmaxf(most, fabsf(x[i]));
    }
#pragma unroll
    for (int step = 8; step > 0; step /= 2) {
        most = fmaxf(most, __shfl_xor_sync(half, most, step));
    }
    float scale = __fdiv_rn(most, MOST);
    float y[8];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        y[i] = scale == 0.0f ? 0.0f : __fdiv_rn(x[i], scale);
    }
    codes.x = e4m3Pair(y[0], y[1]) | e4m3Pair(y[2], y[3]) << 16;
    codes.y = e4m3Pair(y[4], y[5]) | e4m3Pair(y[6], y[7]) << 16;
    return scale;
}

// Rows in FP8, with a scale for each 128 numbers, [columns / 128, stride]. Launch: grid (rows, ceil(columns / 2048)), 256 threads, a
// half of a warp for 128 numbers.
template <class T>
__device__ __forceinline__ void quantize(
    const u16* input, i64 inputStride, int columns, unsigned char* codes, float* scales, int stride) {
    int tile = blockIdx.y * 16 + threadIdx.x / 16;
    int column = tile * FP8_COLUMNS + threadIdx.x % 16 * 8;
    launchNext();
    waitForPrevious();
    float x[8] = {};
    if (column < columns) {
        loadEight<T>(input + blockIdx.x * inputStride + column, x);
    }
    uint2 some;
    float scale = quantized(x, some);
    if (column < columns) {
        *(uint2*)(codes + (i64)blockIdx.x * columns + column) = some;
        if (threadIdx.x % 16 == 0) {
            scales[(i64)tile * stride + blockIdx.x] = scale;
        }
    }
}

// The same of rows that are normalised before, as by norm of rows.cu. Launch: grid (rows), blocks as there. MOST: pieces of 8 numbers that a
// thread holds.
template <class T, int MOST>
__device__ __forceinline__ void normQuantize(const u16* input, i64 inputStride, int columns, unsigned char* codes,
    float* scales, int stride, const NormArguments& norm) {
    normaliseRow<T, MOST>(input + blockIdx.x * inputStride, norm, columns, [&](int column, float(&x)[8]) {
        float stored[8];
        unpack<T>(packed<T>(x), stored);
        uint2 some;
        float scale = quantized(stored, some);
        *(uint2*)(codes + (i64)blockIdx.x * columns + column) = some;
        if (column % FP8_COLUMNS == 0) {
            scales[(i64)(column / FP8_COLUMNS) * stride + blockIdx.x] = scale;
        }
    });
}

#define QUANTIZE(T, SUFFIX)                                                                                                    \
    extern "C" __global__ void __launch_bounds__(256) quantize_fp8_##SUFFIX(                                                   \
        const u16* input, i64 inputStride, int columns, unsigned char* codes, float* scales, int stride) {                     \
        quantize<T>(input, inputStride, columns, codes, scales, stride);                                                       \
    }                                                                                                                          \
    extern "C" __global__ void __launch_bounds__(1024) norm_quantize_fp8_##SUFFIX(                                             \
        const u16* input, i64 inputStride, int columns, unsigned char* codes, float* scales, int stride, NormArguments norm) { \
        normQuantize<T, 1>(input, inputStride, columns, codes, scales, stride, norm);                                          \
    }                                                                                                                          \
    extern "C" __global__ void __launch_bounds__(512) norm_quantize_fp8_wide_##SUFFIX(                                         \
        const u16* input, i64 inputStride, int columns, unsigned char* codes, float* scales, int stride, NormArguments norm) { \
        normQuantize<T, 8>(input, inputStride, columns, codes, scales, stride, norm);                                          \
    }
QUANTIZE(Bf16, bf16)
QUANTIZE(F16, f16)

// Brings rows of blocks (a scale, which is left out, and 128 codes) into tiles, the first of which is tile row `firstTile` of `packed`.
// Launch: grid (tiles of K, row tiles), 256 threads.
extern "C" __global__ void pack_fp8(
    const unsigned char* blocks, i64 rowBytes, unsigned char* packed, int firstTile, int rows, int columns) {
    unsigned char* tile = packed + ((i64)(firstTile + blockIdx.y) * gridDim.x + blockIdx.x) * TILE_BYTES;
    for (int i = threadIdx.x; i < TILE * FP8_COLUMNS / 4; i += blockDim.x) {
        int r = i / 32;
        int word = i % 32;
        int row = blockIdx.y * TILE + r;
        const unsigned char* block = blocks + row * rowBytes + blockIdx.x * (FP8_COLUMNS + 4) + 4;
        u32 codes = row < rows ? ((const u32*)block)[word] : 0;
        ((u32*)(tile + r * 128 + ((word / 4 ^ (r & 7)) << 4)))[word % 4] = codes;
    }
}

// output[r] = (adds ? output[r] : 0) + scale * row index[r] of the weight. Launch: grid (rows, ceil(columns / 256)), 256 threads.
template <class T>
__device__ __forceinline__ void fp8Rows(const unsigned char* packed, const float* tileScales, const float* outputScales,
    int columns, int tableRows, const int* index, float scale, int adds, u16* output, i64 outputStride) {
    int column = blockIdx.y * blockDim.x + threadIdx.x;
    int tiles = columns / FP8_COLUMNS;
    launchNext();
    waitForPrevious();
    if (column < columns) {
        int row = index[blockIdx.x] < tableRows ? index[blockIdx.x] : 0;
        int r = row % TILE;
        int c = column % FP8_COLUMNS;
        i64 tile = (i64)(row / TILE) * tiles + column / FP8_COLUMNS;
        u8 code = packed[tile * TILE_BYTES + r * 128 + ((c / 16 ^ (r & 7)) << 4) + c % 16];
        float x = __fmul_rn(__fmul_rn(e4m3(code), tileScales[tile]), outputScales[row]);
        u16* target = output + blockIdx.x * outputStride + column;
        *target = fromFloat<T>(adds ? toFloat<T>(*target) + scale * x : scale * x);
    }
}

#define FP8_ROWS(T, SUFFIX)                                                                                          \
    extern "C" __global__ void fp8_rows_##SUFFIX(const unsigned char* packed, const float* tileScales,               \
        const float* outputScales, int columns, int tableRows, const int* index, float scale, int adds, u16* output, \
        i64 outputStride) {                                                                                          \
        fp8Rows<T>(packed, tileScales, outputScales, columns, tableRows, index, scale, adds, output, outputStride);  \
    }
FP8_ROWS(Bf16, bf16)
FP8_ROWS(F16, f16)
