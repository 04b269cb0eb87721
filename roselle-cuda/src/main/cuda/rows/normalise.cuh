// Norms of whole rows, one of a block.
#pragma once
#include "common/ampere.cuh"
#include "common/norms.cuh"

// Sum over the block, in the order of its warps; `shared` has 32 floats.
__device__ __forceinline__ float blockSum(float x, float* shared) {
    x = warpSum(x);
    if (threadIdx.x % 32 == 0) {
        shared[threadIdx.x / 32] = x;
    }
    __syncthreads();
    float sum = shared[0];
    for (int w = 1; w < (int)blockDim.x / 32; w++) {
        sum = __fadd_rn(sum, shared[w]);
    }
    return sum;
}

// Normalises a row: `store(column, x)` has eight numbers at a time. MOST: pieces of 8 numbers that a thread holds.
template <class T, int MOST, class STORE>
__device__ __forceinline__ void normaliseRow(const u16* input, const NormArguments& n, int columns, STORE store) {
    __shared__ float sums[2][32];
    launchNext();
    int step = blockDim.x * 8;
    NormPiece piece;  // the first one comes before the input is there: it never changes
    if ((int)threadIdx.x * 8 < columns) {
        piece.load(n, threadIdx.x * 8);
    }
    waitForPrevious();
    float x[MOST][8];
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < MOST; i++) {
        int column = threadIdx.x * 8 + i * step;
        if (column < columns) {
            unpack<T>(*(const uint4*)(input + column), x[i]);
            sum = addEight(sum, x[i], !n.takesMean);
        }
    }
    sum = blockSum(sum, sums[0]);
    if (n.takesMean) {
        float mean = __fdiv_rn(sum, (float)columns);
        sum = 0.0f;
#pragma unroll
        for (int i = 0; i < MOST; i++) {
            if ((int)threadIdx.x * 8 + i * step < columns) {
                subtract(x[i], mean);
                sum = addEight(sum, x[i], true);
            }
        }
        sum = blockSum(sum, sums[1]);
    }
    float factor = normFactor(sum, columns, n.epsilon);
#pragma unroll
    for (int i = 0; i < MOST; i++) {
        int column = threadIdx.x * 8 + i * step;
        if (column < columns) {
            if (i > 0) {
                piece.load(n, column);
            }
            piece.apply(x[i], factor, n.weightOffset);
            store(column, x[i]);
        }
    }
}
