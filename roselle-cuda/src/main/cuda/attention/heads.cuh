// Heads of queries and keys before attention sees them: normalised, rotated, appended to pages. All kernels that do so get
// the same bits from here.
#pragma once
#include "common/norms.cuh"
#include "attention/rope.cuh"

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

// Where a head's number turns: its pair, with which other number, and whether it is the second of the two.
struct Pairing {
    int pair;
    int other;
    bool isSecond;

    __device__ __forceinline__ Pairing(const RopeArguments& rope, int d)
        : pair(rope.interleaved ? d / 2 : d % rope.pairs), isSecond(rope.interleaved ? d & 1 : d >= rope.pairs) {
        other = rope.interleaved ? d ^ 1 : isSecond ? d - rope.pairs : d + rope.pairs;
    }

    // `by` is turnOf(pair).
    __device__ __forceinline__ float turned(float x, float otherNumber, float2 by) const {
        return __fmaf_rn(x, by.y, __fmul_rn(isSecond ? otherNumber : -otherNumber, by.x));
    }
};

// Normalises the head that one warp left in `shared`; `sum` is a lane's part of its numbers, or of their squares.
__device__ __forceinline__ void normaliseHead(float* shared, int size, float sum, const NormArguments& n) {
    int lane = threadIdx.x % 32;
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

// One head, [size] numbers at `head`, by one warp: normalised (weight may be null), rotated; `store(i, bits)` takes the i-th
// number of a lane, number lane + 32 * i of the head. `turns(pair)` is turnOf. `shared` has `size` floats of this warp.
template <class T, class Turns, class Store>
__device__ __forceinline__ void turnHead(
    const u16* head, int size, const NormArguments& n, const RopeArguments& rope, Turns turns, float* shared, Store store) {
    int lane = threadIdx.x % 32;
    float sum = 0.0f;
#pragma unroll 1
    for (int d = lane; d < size; d += 32) {
        float x = toFloat<T>(head[d]);
        shared[d] = x;
        sum = n.takesMean ? __fadd_rn(sum, x) : __fmaf_rn(x, x, sum);
    }
    if (n.weight) {
        normaliseHead(shared, size, sum, n);
    }
    __syncwarp();
#pragma unroll 1
    for (int i = 0, d = lane; d < size; i++, d += 32) {
        float x = shared[d];
        if (d < 2 * rope.pairs) {
            Pairing pairing(rope, d);
            x = pairing.turned(x, shared[pairing.other], turns(pairing.pair));
        }
        store(i, fromFloat<T>(x));
    }
    __syncwarp();
}

template <int SIZE>
constexpr int NUMBERS = (SIZE + 31) / 32;  // of a head in a lane: lane, lane + 32, ...

// With what a lane's numbers turn, and by how much, in all heads of a row alike.
template <int SIZE>
struct HeadTurns {
    float2 each[NUMBERS<SIZE>];  // the sine is negative where the number is the first of its pair
    int other[NUMBERS<SIZE>];

    __device__ __forceinline__ void load(const RopeArguments& rope, int position) {
#pragma unroll
        for (int i = 0; i < NUMBERS<SIZE>; i++) {
            int d = threadIdx.x % 32 + i * 32;
            if (d < 2 * rope.pairs) {
                Pairing pairing(rope, d);
                float2 by = turnOf(rope, position, pairing.pair);
                each[i] = make_float2(pairing.isSecond ? by.x : -by.x, by.y);
                other[i] = pairing.other;
            }
        }
    }
};

// A lane's numbers of a head.
template <int SIZE>
struct HeadBits {
    u16 each[NUMBERS<SIZE>];

    __device__ __forceinline__ void load(const u16* head) {
#pragma unroll
        for (int i = 0; i < NUMBERS<SIZE>; i++) {
            int d = threadIdx.x % 32 + i * 32;
            each[i] = SIZE % 32 == 0 || d < SIZE ? head[d] : 0;
        }
    }
};

// turnHead of a head that is there already, by turns that are known.
template <class T, int SIZE, class Store>
__device__ __forceinline__ void turnBits(const HeadBits<SIZE>& bits, const NormArguments& n, const RopeArguments& rope,
    const HeadTurns<SIZE>& turns, float* shared, Store store) {
    int lane = threadIdx.x % 32;
    if (!n.weight && rope.pairs == 0) {
#pragma unroll
        for (int i = 0; i < NUMBERS<SIZE>; i++) {
            if (SIZE % 32 == 0 || lane + i * 32 < SIZE) {
                store(i, bits.each[i]);
            }
        }
        return;
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < NUMBERS<SIZE>; i++) {
        int d = lane + i * 32;
        if (SIZE % 32 == 0 || d < SIZE) {
            float x = toFloat<T>(bits.each[i]);
            shared[d] = x;
            sum = n.takesMean ? __fadd_rn(sum, x) : __fmaf_rn(x, x, sum);
        }
    }
    if (n.weight) {
        normaliseHead(shared, SIZE, sum, n);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < NUMBERS<SIZE>; i++) {
        int d = lane + i * 32;
        if (SIZE % 32 == 0 || d < SIZE) {
            float x = shared[d];
            if (d < 2 * rope.pairs) {
                x = __fmaf_rn(x, turns.each[i].y, __fmul_rn(shared[turns.other[i]], turns.each[i].x));  // as Pairing has it
            }
            store(i, fromFloat<T>(x));
        }
    }
    __syncwarp();
}

// A head's own part of a norm.
__device__ __forceinline__ NormArguments ofHead(NormArguments n, int head, int stride) {
    n.weight = n.weight ? n.weight + head * stride : nullptr;
    n.bias = n.bias ? n.bias + head * stride : nullptr;
    return n;
}
