// output[r][n] = scale * activation(sum over k of weight[n][k] * input[r][k] + bias[n])  (+ output[r][n])
//
// For Hopper (sm_90a), BF16 and F16 with float32 sums. Weights stand on the M side of wgmma.m64nNk16, tokens on the N side,
// so that a few rows waste little and the weights stream from memory once.
//
// Order of the sum, the same for every number of rows: K is cut into tiles of 64 and these into `slices` runs, slice s from
// tile s * tiles / slices on. A slice is summed by the tensor cores in steps of 16 numbers; the slices' sums are added in
// order. `slices` depends on the weight's shape alone. The `parallel` kernels give each slice to a block of its own, a cluster
// holds the slices of the same outputs and adds them through distributed shared memory; the `serial` kernel walks the slices
// in one block. Neither the instruction's N nor the token's column in it takes part in the sum.
//
// weight: packed (pack_weight), tiles of 64 rows x 64 columns, 8,192 bytes each in the layout of shared memory that wgmma
//   wants (rows of 128 bytes, 16-byte chunk c of row r at c ^ (r % 8)), [ceil(outputs / 64), ceil(columns / 64)] tiles,
//   missing rows and columns 0;
//   where GROUPS is 2 and the row tiles are odd, one more tile row of memory follows, whatever it holds.
// input: [rows, columns], `inputStride` numbers from row to row; columns, stride and address are multiples of 8 numbers.
// output: [rows, outputs], 16-bit or float32, `outputStride` numbers from row to row.
//
// Launch: blocks of 128 * GROUPS + 32 * PRODUCERS threads; dynamic shared memory of
// STAGES * (GROUPS * 8192 + TOKENS * 128 + 16) + 1024 bytes, and up to 32 tokens (TOKENS + 8) * 256 * GROUPS more.
//   With tiles = ceil(outputs / (64 * GROUPS)) * ceil(rows / TOKENS):
//   parallel: grid (tiles * slices, 1, 1), cluster (slices, 1, 1), slices <= 8.
//   serial: grid (tiles, 1, 1), no cluster.
// linear_normed_8: the input is normalised first, as norm of rows.cu would: up to 8 rows, up to 1,024 columns, multiples of 8;
//   input stride and address are multiples of 8 numbers. Blocks of 160 threads, dynamic shared memory of
//   11 * 8208 + 16 * 1024 + 5,120 bytes.
// linear_gated_TOKENS: the weight has rows of gates, a multiple of 64, and as many of ups after them; the output is what gated of
//   rows.cu makes of the two products with silu, with its bits. `outputs` counts both, `slices` is 1; nothing is added to the
//   output, no activation follows the products, and output stride and address are multiples of 4 numbers. Launched as a parallel
//   kernel of GROUPS 2, without the memory for up to 32 tokens.
// `slices` is the largest of 1, 2, 4, 8 for which slices * ceil(outputs / 64) <= 200 and a slice has two tiles of K or more.
// Each kernel may be launched with programmatic stream serialization: it reads nothing but weights before the end of the
// kernel before it.
#include "gemm/linear_hopper.cuh"

#define PARALLEL(NAME, T, TOKENS, GROUPS, PRODUCERS, STAGES, BLOCKS)                                               \
    extern "C" __global__ void __launch_bounds__(128 * GROUPS + 32 * PRODUCERS, BLOCKS) NAME(PRODUCT_PARAMETERS) { \
        linearParallel<T, Ring<TOKENS, GROUPS, PRODUCERS, STAGES>>(PRODUCT, EPILOGUE, slices, NoAdditions());      \
    }
#define SERIAL(NAME, T, TOKENS, GROUPS, PRODUCERS, STAGES)                                            \
    extern "C" __global__ void __launch_bounds__(128 * GROUPS + 32 * PRODUCERS, TOKENS < 128 ? 2 : 1) \
        NAME(PRODUCT_PARAMETERS) {                                                                    \
        linearSerial<T, Ring<TOKENS, GROUPS, PRODUCERS, STAGES>>(PRODUCT, EPILOGUE, slices);          \
    }
#define NORMED(T, SUFFIX)                                                                                                   \
    extern "C" __global__ void __launch_bounds__(160, 2) linear_normed_8_##SUFFIX(PRODUCT_PARAMETERS, NormArguments norm) { \
        linearParallel<T, NormRing>(PRODUCT, EPILOGUE, slices, NoAdditions(), norm);                                        \
    }
#define GATED(T, SUFFIX, TOKENS, PRODUCERS, STAGES)                                         \
    extern "C" __global__ void __launch_bounds__(256 + 32 * PRODUCERS, 2)                   \
        linear_gated_##TOKENS##_##SUFFIX(PRODUCT_PARAMETERS, float limit, float upOffset) { \
        Gating gating = {limit, upOffset};                                                  \
        linearParallel<T, Ring<TOKENS, 2, PRODUCERS, STAGES, true>>(                        \
            PRODUCT, EPILOGUE, 1, NoAdditions(), NormArguments(), gating);                  \
    }
#define BOTH_TYPES(KIND, TOKENS, ...)                       \
    KIND(linear_##TOKENS##_bf16, Bf16, TOKENS, __VA_ARGS__) \
    KIND(linear_##TOKENS##_f16, F16, TOKENS, __VA_ARGS__)

BOTH_TYPES(PARALLEL, 8, 1, 1, 11, 2)
BOTH_TYPES(PARALLEL, 16, 1, 1, 10, 2)
BOTH_TYPES(PARALLEL, 32, 1, 2, 8, 2)
BOTH_TYPES(PARALLEL, 64, 1, 4, 6, 2)
PARALLEL(linear_wide_64_bf16, Bf16, 64, 2, 4, 4, 2)
PARALLEL(linear_wide_64_f16, F16, 64, 2, 4, 4, 2)
PARALLEL(linear_deep_64_bf16, Bf16, 64, 1, 4, 12, 1)
PARALLEL(linear_deep_64_f16, F16, 64, 1, 4, 12, 1)
BOTH_TYPES(PARALLEL, 128, 2, 4, 6, 1)
BOTH_TYPES(PARALLEL, 256, 2, 4, 4, 1)
NORMED(Bf16, bf16)
NORMED(F16, f16)
GATED(Bf16, bf16, 8, 1, 6)
GATED(F16, f16, 8, 1, 6)
GATED(Bf16, bf16, 16, 1, 6)
GATED(F16, f16, 16, 1, 6)
GATED(Bf16, bf16, 32, 2, 5)
GATED(F16, f16, 32, 2, 5)
GATED(Bf16, bf16, 64, 4, 4)
GATED(F16, f16, 64, 4, 4)
SERIAL(linear_serial_32_bf16, Bf16, 32, 1, 2, 4)
SERIAL(linear_serial_32_f16, F16, 32, 1, 2, 4)
SERIAL(linear_serial_64_bf16, Bf16, 64, 1, 4, 6)
SERIAL(linear_serial_64_f16, F16, 64, 1, 4, 6)
SERIAL(linear_serial_128_bf16, Bf16, 128, 2, 4, 6)
SERIAL(linear_serial_128_f16, F16, 128, 2, 4, 6)
SERIAL(linear_serial_192_bf16, Bf16, 192, 2, 4, 5)
SERIAL(linear_serial_192_f16, F16, 192, 2, 4, 5)

// Brings a row-major matrix [rows, columns] of 16-bit numbers, `stride` numbers from row to row, into the tiles described
// above, the first of which is tile row `firstTile` of `packed`. Launch: grid (column tiles, row tiles), 256 threads.
extern "C" __global__ void pack_weight(const u16* matrix, i64 stride, u16* packed, int firstTile, int rows, int columns) {
    u16* tile = packed + ((i64)(firstTile + blockIdx.y) * gridDim.x + blockIdx.x) * (TILE * TILE);
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x) {
        int r = i / TILE;
        int c = i % TILE;
        int row = blockIdx.y * TILE + r;
        int column = blockIdx.x * TILE + c;
        u16 value = row < rows && column < columns ? matrix[row * stride + column] : 0;
        tile[r * TILE + ((c / 8) ^ (r & 7)) * 8 + c % 8] = value;
    }
}
