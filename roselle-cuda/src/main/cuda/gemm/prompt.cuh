// Products of many rows for Hopper whose blocks stay and take one tile after the other, two of them a cluster with the same rows of the
// input: which tiles there are, and what the two tell each other.
#pragma once
#include "gemm/epilogue.cuh"
#include "gemm/rings.cuh"

constexpr int CLUSTER = 2;  // blocks
constexpr unsigned short BOTH = 3;
constexpr int GROUPS = 2;  // warpgroups that multiply
constexpr int BAND = 2048;  // rows whose products with all weights come before those of other rows

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

// Tells both blocks that a warp needs a stage no more.
template <class M>
__device__ __forceinline__ void release(M memory, int stage) {
    int lane = threadIdx.x % 32;
    if (lane < CLUSTER) {
        clusterBarrierArrive(memory.empty(stage), lane);
    }
}

// The bias of an output, zero for one that is not there.
__device__ __forceinline__ float biasOf(const Epilogue& epilogue, int column, int outputs) {
    return epilogue.bias && column < outputs ? epilogue.bias[column] : 0.0f;
}
