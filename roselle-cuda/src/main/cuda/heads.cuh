// Heads of queries and keys before attention sees them: normalised, rotated, appended to pages. All kernels that do so get
// the same bits from here.
#pragma once
#include "norms.cuh"
#include "turn.cuh"

struct RopeArguments {
    const float* inverseFrequencies;  // null where nothing turns
    int pairs;
    float factor;
    int interleaved;
};

struct HeadArguments {
    NormArguments queryNorm;  // weight null for none
    int queryNormStride;      // numbers from head to head of its weight, or 0
    NormArguments keyNorm;
    int keyNormStride;
    RopeArguments rope;

    __device__ bool changes(bool isKey) const {
        return (isKey ? keyNorm.weight : queryNorm.weight) || rope.pairs > 0;
    }
};

// Sine and cosine, times the factor, by which a pair turns at a position.
__device__ __forceinline__ float2 turnOf(const RopeArguments& rope, int position, int pair) {
    float sine;
    float cosine;
    turn(__fmul_rn((float)position, rope.inverseFrequencies[pair]), sine, cosine);
    return make_float2(__fmul_rn(sine, rope.factor), __fmul_rn(cosine, rope.factor));
}

// One head, [size] numbers at `head`, by one warp: normalised (weight may be null), rotated; `store(i, bits)` takes the i-th
// number of a lane, number lane + 32 * i of the head. `turns(pair)` is turnOf. `shared` has `size` floats of this warp. SIZE is
// size, or 0 where that is not known before.
template <class T, int SIZE, class Turns, class Store>
__device__ __forceinline__ void turnHeadBy(
    const u16* head, int size, NormArguments n, const RopeArguments& rope, Turns turns, float* shared, Store store) {
    constexpr int UNROLL = SIZE == 0 ? 1 : (SIZE + 31) / 32;
    int lane = threadIdx.x % 32;
    int steps = (size + 31) / 32;
    float sum = 0.0f;
#pragma unroll UNROLL
    for (int i = 0; i < steps; i++) {
        int d = lane + i * 32;
        if (d < size) {
            float x = toFloat<T>(head[d]);
            shared[d] = x;
            sum = n.takesMean ? __fadd_rn(sum, x) : __fmaf_rn(x, x, sum);
        }
    }
    if (n.weight) {
        sum = warpSum(sum);
        float mean = 0.0f;
        if (n.takesMean) {
            mean = __fdiv_rn(sum, (float)size);
            sum = 0.0f;
            for (int d = lane; d < size; d += 32) {
                float x = __fsub_rn(shared[d], mean);
                sum = __fmaf_rn(x, x, sum);
            }
            sum = warpSum(sum);
        }
        float factor = normFactor(sum, size, n.epsilon);
        for (int d = lane; d < size; d += 32) {
            shared[d] = normalised(__fsub_rn(shared[d], mean), factor, n.weight[d], n.weightOffset, n.bias ? n.bias[d] : 0.0f);
        }
    }
    __syncwarp();
#pragma unroll UNROLL
    for (int i = 0; i < steps; i++) {
        int d = lane + i * 32;
        if (d < size) {
            float x = shared[d];
            if (d < 2 * rope.pairs) {
                int pair = rope.interleaved ? d / 2 : d % rope.pairs;
                bool isSecond = rope.interleaved ? d & 1 : d >= rope.pairs;
                float other = shared[rope.interleaved ? d ^ 1 : isSecond ? d - rope.pairs : d + rope.pairs];
                float2 by = turns(pair);
                x = __fmaf_rn(x, by.y, __fmul_rn(isSecond ? other : -other, by.x));
            }
            store(i, fromFloat<T>(x));
        }
    }
    __syncwarp();
}

// The same for one head at a position.
template <class T, int SIZE, class Store>
__device__ __forceinline__ void turnHead(
    const u16* head, int size, NormArguments n, const RopeArguments& rope, int position, float* shared, Store store) {
    turnHeadBy<T, SIZE>(head, size, n, rope, [&](int pair) { return turnOf(rope, position, pair); }, shared, store);
}

// A head's own part of a norm.
__device__ __forceinline__ NormArguments ofHead(NormArguments n, int head, int stride) {
    n.weight = n.weight ? n.weight + head * stride : nullptr;
    n.bias = n.bias ? n.bias + head * stride : nullptr;
    return n;
}
