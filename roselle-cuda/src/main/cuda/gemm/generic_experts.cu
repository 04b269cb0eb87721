// Chooses the experts of a row from its router logits, for every type: a warp for each row.
//
// Experts are chosen by score + correction, one after the other; with groups, only from the chosenGroups groups whose two best
// such sums add up to most. Ties go to the lower index. Weights are the scores without correction, divided by their sum where
// asked, times `scale` and, where there are any, the expert's own of `expertScales`. SOFTMAX_OF_CHOSEN: the logits are the
// scores, the softmax is over the chosen ones. SOFTMAX_OF_NEAR: likewise, but each weight is that of a softmax over those that
// were not chosen before and lie no further below it than `nearness` of the larger of their own size and it. With `ofTokens`,
// [tokens, chosen], a row's token has its experts there, and scores only weigh them. With `shares`, expert number `experts` is the
// last choice of every row: it weighs `sharedWeight`, with SHARED_BY_GATE times the sigmoid of the number behind the logits.
#include "common/ampere.cuh"
#include "common/elements.cuh"
#include "gemm/epilogue.cuh"

// In the order of the engine's Router.Scoring constants.
enum Scoring { SOFTMAX, SIGMOID, ROOT_OF_SOFTPLUS, SOFTMAX_OF_CHOSEN, SOFTMAX_OF_NEAR };

enum Shares { UNSHARED, SHARED, SHARED_BY_GATE };

#define NOTHING __int_as_float(0xFF800000)  // minus infinity

// The first of the largest numbers; in all lanes. NaN is never the largest.
__device__ __forceinline__ int best(const float* numbers, int count) {
    int lane = threadIdx.x;
    float largest = NOTHING;
    int at = count;
    for (int i = lane; i < count; i += 32) {
        if (numbers[i] > largest) {
            largest = numbers[i];
            at = i;
        }
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        float other = __shfl_xor_sync(~0u, largest, distance);
        int otherAt = __shfl_xor_sync(~0u, at, distance);
        if (other > largest || (other == largest && otherAt < at)) {
            largest = other;
            at = otherAt;
        }
    }
    return at == count ? 0 : at;
}

__device__ __forceinline__ float rootOfSoftplus(float x) {
    return sqrtf(x > 20.0f ? x : log1pf(expf(x)));  // beyond, e^-x is less than the last digit
}

__device__ __forceinline__ void softmax(float* numbers, int count) {
    int lane = threadIdx.x;
    float largest = NOTHING;
    for (int i = lane; i < count; i += 32) {
        largest = fmaxf(largest, numbers[i]);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, distance));
    }
    float sum = 0.0f;
    for (int i = lane; i < count; i += 32) {
        numbers[i] = expf(numbers[i] - largest);
        sum += numbers[i];
    }
    sum = warpSum(sum);
    for (int i = lane; i < count; i += 32) {
        numbers[i] /= sum;
    }
}

// The weight of the best logit in the softmax over those that are left and near it; in all lanes.
__device__ __forceinline__ float amongNear(const float* scores, const float* ranks, int count, int expert, float nearness) {
    float most = scores[expert];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += 32) {
        bool isNear = !((most - scores[i]) / fmaxf(fabsf(scores[i]), most) > nearness);
        sum += ranks[i] != NOTHING && isNear ? expf(scores[i] - most) : 0.0f;
    }
    return 1.0f / warpSum(sum);
}

// Leaves only the ranks of the chosen groups; groupRanks has room for one number a group.
__device__ __forceinline__ void keepBestGroups(float* ranks, int experts, int groups, int chosenGroups, float* groupRanks) {
    int lane = threadIdx.x;
    int size = experts / groups;
    for (int g = lane; g < groups; g += 32) {
        float first = NOTHING;
        float second = NOTHING;
        for (int e = g * size; e < (g + 1) * size; e++) {
            second = ranks[e] > first ? first : fmaxf(second, ranks[e]);
            first = fmaxf(first, ranks[e]);
        }
        groupRanks[g] = second == NOTHING ? first : first + second;
    }
    __syncwarp();
    for (int i = 0; i < chosenGroups; i++) {
        int group = best(groupRanks, groups);
        __syncwarp();
        if (lane == 0) {
            groupRanks[group] = __int_as_float(0x7FC00000);  // NaN marks it
        }
        __syncwarp();
    }
    for (int e = lane; e < experts; e += 32) {
        float mark = groupRanks[e / size];
        ranks[e] = mark == mark ? NOTHING : ranks[e];
    }
    __syncwarp();
}

// What an expert weighs that every row has; `logits` are the row's.
template <class T>
__device__ __forceinline__ float sharedWeightOf(const Number<T>* logits, int experts, int shares, float sharedWeight) {
    return shares == SHARED_BY_GATE ? sigmoid(load<T>(logits, experts)) * sharedWeight : sharedWeight;
}

template <class T>
__device__ __forceinline__ void route(const Number<T>* logits, i64 stride, int scoring, int experts, int chosen, int normalizes,
    int groups, int chosenGroups, const float* correction, float scale, const float* expertScales, float nearness,
    const float* ofTokens, const int* tokens, int shares, float sharedWeight, int* chosenExperts, float* chosenWeights) {
    extern __shared__ float scores[];  // [experts]
    float* ranks = scores + experts;  // [experts]
    float* weights = ranks + experts;  // [chosen]
    float* groupRanks = weights + chosen;  // [groups]
    launchNext();
    waitForPrevious();
    i64 row = blockIdx.x;
    i64 first = row * (shares ? chosen + 1 : chosen);
    int lane = threadIdx.x;
    for (int e = lane; e < experts; e += 32) {
        float x = load<T>(logits, row * stride + e);
        scores[e] = scoring == SIGMOID ? sigmoid(x) : scoring == ROOT_OF_SOFTPLUS ? rootOfSoftplus(x) : x;
    }
    if (scoring == SOFTMAX) {
        softmax(scores, experts);
    }
    for (int e = lane; e < experts; e += 32) {
        ranks[e] = correction ? scores[e] + correction[e] : scores[e];
    }
    __syncwarp();
    if (chosenGroups < groups) {
        keepBestGroups(ranks, experts, groups, chosenGroups, groupRanks);
    }
    float sum = 0.0f;
    for (int j = 0; j < chosen; j++) {
        int expert = ofTokens ? (int)ofTokens[(i64)tokens[row] * chosen + j] : best(ranks, experts);
        float weight = scoring == SOFTMAX_OF_NEAR ? amongNear(scores, ranks, experts, expert, nearness) : scores[expert];
        sum += weight;
        __syncwarp();
        if (lane == 0) {
            ranks[expert] = NOTHING;
            weights[j] = weight;
            chosenExperts[first + j] = expert;
        }
        __syncwarp();
    }
    if (scoring == SOFTMAX_OF_CHOSEN) {
        softmax(weights, chosen);
        sum = 1.0f;
    } else {
        sum = normalizes ? sum + 1e-20f : 1.0f;
    }
    for (int j = lane; j < chosen; j += 32) {
        float ofExpert = expertScales ? expertScales[chosenExperts[first + j]] : 1.0f;
        chosenWeights[first + j] = weights[j] / sum * scale * ofExpert;
    }
    if (shares && lane == 0) {
        chosenExperts[first + chosen] = experts;
        chosenWeights[first + chosen] = sharedWeightOf<T>(logits + row * stride, experts, shares, sharedWeight);
    }
}

// A number that is as large as another one's where this is: unsigned, 0 for minus infinity and NaN.
__device__ __forceinline__ u32 orderOf(float x) {
    u32 bits = __float_as_uint(x + 0.0f);  // one zero
    return x > NOTHING ? (int)bits < 0 ? ~bits : bits | 0x80000000u : 0u;
}

// The same choice where groups do not matter and a lane can hold HELD scores: experts lane, lane + 32 and so on. Bits as above.
template <class T, int HELD>
__device__ __forceinline__ void routeHeld(const Number<T>* logits, int scoring, int experts, int chosen, int normalizes,
    const float* correction, float scale, const float* expertScales, int shares, float sharedWeight, i64 first,
    int* chosenExperts, float* chosenWeights, int* choices, int4* tiles) {
    int lane = threadIdx.x;
    float corrections[HELD] = {};
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        if (correction && lane + 32 * i < experts) {  // which never changes
            corrections[i] = correction[lane + 32 * i];
        }
    }
    waitForPrevious();
    float scores[HELD];
    float largest = NOTHING;
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        scores[i] = lane + 32 * i < experts ? load<T>(logits, lane + 32 * i) : NOTHING;
    }
    if (scoring == SIGMOID) {
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            scores[i] = sigmoid(scores[i]);
        }
    } else if (scoring == ROOT_OF_SOFTPLUS) {
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            scores[i] = rootOfSoftplus(scores[i]);
        }
    } else if (scoring == SOFTMAX) {
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            largest = fmaxf(largest, scores[i]);
        }
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, distance));
        }
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            scores[i] = lane + 32 * i < experts ? expf(scores[i] - largest) : 0.0f;
            sum += scores[i];
        }
        sum = warpSum(sum);
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            scores[i] /= sum;
        }
    }
    u32 ranks[HELD];
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        ranks[i] = lane + 32 * i < experts ? orderOf(correction ? scores[i] + corrections[i] : scores[i]) : 0u;
    }
    float sum = 0.0f;
    float ownScore = 0.0f;
    int own = 0;
    for (int j = 0; j < chosen; j++) {
        u32 rank = ranks[0];
        int at = lane;
        float score = scores[0];
#pragma unroll
        for (int i = 1; i < HELD; i++) {
            if (ranks[i] > rank) {
                rank = ranks[i];
                at = lane + 32 * i;
                score = scores[i];
            }
        }
        u32 highest = __reduce_max_sync(~0u, rank);
        int expert = (int)__reduce_min_sync(~0u, rank == highest ? (u32)at : ~0u);
        score = __shfl_sync(~0u, score, expert % 32);
        sum += score;
        if (lane == j) {
            own = expert;
            ownScore = score;
        }
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            ranks[i] = lane + 32 * i == expert ? 0u : ranks[i];
        }
    }
    bool has = lane < chosen;
    bool isShared = shares && lane == chosen;
    if (scoring == SOFTMAX_OF_CHOSEN) {
        largest = has ? ownScore : NOTHING;
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, distance));
        }
        ownScore = has ? expf(ownScore - largest) : 0.0f;
        ownScore /= warpSum(ownScore);
        sum = 1.0f;
    } else {
        sum = normalizes ? sum + 1e-20f : 1.0f;
    }
    if (has || isShared) {
        i64 choice = first + lane;
        own = isShared ? experts : own;
        chosenExperts[choice] = own;
        chosenWeights[choice] = isShared ? sharedWeightOf<T>(logits, experts, shares, sharedWeight)
                                         : ownScore / sum * scale * (expertScales ? expertScales[own] : 1.0f);
        if (tiles) {
            choices[choice] = (int)choice;
            tiles[choice] = make_int4(own, (int)choice, 1, 0);
        }
    }
}

// The choices of a step by expert, for the grouped products of linear_mma.cuh: `order` has those of expert 0, then those of
// expert 1 and so on, in any order within an expert; each tile is up to `tokens` of one expert's: {expert, first in `order`,
// how many, 0}; those beyond the last have none. Experts are numbers from 0 until `count`. Grid (1), 1024 threads, dynamic
// shared memory of 8 * count bytes.
extern "C" __global__ void __launch_bounds__(1024)
    group_choices(const int* experts, int choices, int count, int tokens, int* order, int4* tiles, int mostTiles) {
    extern __shared__ int sizes[];  // [count]
    int* next = sizes + count;  // [count], where the next choice of an expert goes
    __shared__ int tileCount;
    launchNext();
    waitForPrevious();
    for (int e = threadIdx.x; e < count; e += 1024) {
        sizes[e] = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < choices; i += 1024) {
        atomicAdd(&sizes[experts[i]], 1);
    }
    __syncthreads();
    if (threadIdx.x < 32) {  // sums of sizes and of tiles up to each expert
        int choicesBefore = 0;
        int tilesBefore = 0;
        for (int base = 0; base < count; base += 32) {
            int e = base + threadIdx.x;
            int size = e < count ? sizes[e] : 0;
            int own = (size + tokens - 1) / tokens;
            int sizeSum = size;
            int tileSum = own;
#pragma unroll
            for (int distance = 1; distance < 32; distance *= 2) {
                int otherSize = __shfl_up_sync(~0u, sizeSum, distance);
                int otherTiles = __shfl_up_sync(~0u, tileSum, distance);
                sizeSum += (int)threadIdx.x >= distance ? otherSize : 0;
                tileSum += (int)threadIdx.x >= distance ? otherTiles : 0;
            }
            if (e < count) {
                next[e] = choicesBefore + sizeSum - size;
                int tile = tilesBefore + tileSum - own;
                for (int t = 0; t < own; t++) {
                    tiles[tile + t] = make_int4(e, next[e] + t * tokens, min(tokens, size - t * tokens), 0);
                }
            }
            choicesBefore += __shfl_sync(~0u, sizeSum, 31);
            tilesBefore += __shfl_sync(~0u, tileSum, 31);
        }
        if (threadIdx.x == 0) {
            tileCount = tilesBefore;
        }
    }
    __syncthreads();
    for (int t = tileCount + threadIdx.x; t < mostTiles; t += 1024) {
        tiles[t] = make_int4(0, 0, 0, 0);
    }
    for (int i = threadIdx.x; i < choices; i += 1024) {
        order[atomicAdd(&next[experts[i]], 1)] = i;
    }
}

#define ROUTE(T, SUFFIX)                                                                                                      \
    extern "C" __global__ void __launch_bounds__(32) route_experts_##SUFFIX(const Number<T>* logits, i64 stride, int scoring, \
        int experts, int chosen, int normalizes, int groups, int chosenGroups, const float* correction, float scale,          \
        const float* expertScales, float nearness, const float* ofTokens, const int* tokens, int shares, float sharedWeight,  \
        int* chosenExperts, float* chosenWeights) {                                                                           \
        route<T>(logits, stride, scoring, experts, chosen, normalizes, groups, chosenGroups, correction, scale, expertScales, \
            nearness, ofTokens, tokens, shares, sharedWeight, chosenExperts, chosenWeights);                                  \
    }

// Routers without groups, of up to 512 experts of which, with a shared one, a row has up to 32; grid and block as above. Where
// `tiles` is not null, each choice is a tile of its own for the grouped products, `order` their numbers: what group_choices leaves,
// but for experts that several rows chose.
#define ROUTE_HELD(T, SUFFIX)                                                                                                 \
    extern "C" __global__ void __launch_bounds__(32) route_held_##SUFFIX(const Number<T>* logits, i64 stride, int scoring,    \
        int experts, int chosen, int normalizes, const float* correction, float scale, const float* expertScales, int shares, \
        float sharedWeight, int* chosenExperts, float* chosenWeights, int* order, int4* tiles) {                              \
        launchNext();                                                                                                         \
        i64 first = (i64)blockIdx.x * (shares ? chosen + 1 : chosen);                                                         \
        logits += blockIdx.x * stride;                                                                                        \
        if (experts <= 256) {                                                                                                 \
            routeHeld<T, 8>(logits, scoring, experts, chosen, normalizes, correction, scale, expertScales, shares,            \
                sharedWeight, first, chosenExperts, chosenWeights, order, tiles);                                             \
        } else {                                                                                                              \
            routeHeld<T, 16>(logits, scoring, experts, chosen, normalizes, correction, scale, expertScales, shares,           \
                sharedWeight, first, chosenExperts, chosenWeights, order, tiles);                                             \
        }                                                                                                                     \
    }

ROUTE(F32, f32)
ROUTE(Bf16, bf16)
ROUTE(F16, f16)
ROUTE_HELD(F32, f32)
ROUTE_HELD(Bf16, bf16)
ROUTE_HELD(F16, f16)
