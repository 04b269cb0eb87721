// Products of FP8 numbers (E4M3): how factors and weights lie in memory.
//
// What is multiplied has a scale for each 128 numbers. A row's are its own; a weight's are those of its tile of 64 outputs and 128
// columns, times that of each output. So
//   sum[r][n] = factor[n] * sum over tiles k of (rowScale[k][r] * tileScale[n / 64][k]) * (sum over a tile of codes)
// where tensor cores add the products of a tile, 32 at a time, and float32 numbers all else.
#pragma once
#include "gemm/rings.cuh"

constexpr int FP8_COLUMNS = 128;  // of a tile, whose rows have 128 bytes

// The scales of a product.
struct Fp8Scales {
    const float* rows;  // [tiles of K, stride]
    int stride;  // a multiple of 128, at least the rows
    const float* tiles;  // [row tiles, tiles of K]
    const float* outputs;  // [64 * row tiles]
};

#define SCALED_PARAMETERS                                                                                          \
    PRODUCT_PARAMETERS, const float *rowScales, int rowStride, const float *tileScales, const float *outputScales, \
        const __grid_constant__ TensorMap tokens
#define SCALES                                         \
    Fp8Scales {                                        \
        rowScales, rowStride, tileScales, outputScales \
    }

// The scales of a row of tiles, 32 of them in the lanes of a warp at a time.
struct TileScales {
    const float* scales;
    int end;
    float held = 0.0f;

    __device__ __forceinline__ TileScales(const Fp8Scales& all, int rowTile, int first, int end, int tiles)
        : scales(all.tiles + (i64)rowTile * tiles + first), end(end - first) {}

    // Of the `i`-th tile; each is asked for in turn.
    __device__ __forceinline__ float next(int i) {
        int lane = threadIdx.x % 32;
        if (i % 32 == 0) {
            held = i + lane < end ? scales[i + lane] : 0.0f;
        }
        return __shfl_sync(~0u, held, i % 32);
    }
};
