// How the blocks of a row of logits find tokens by order and by mass without sorting: what sample.cu is made of.
//
// A token's place is a 56-bit number, ascending by falling logit and then by id. Places are found by histograms of their digits,
// or of logits in bins of 1/8 below the largest; sums are of integers, exact in any order.
#pragma once
#include "common/ampere.cuh"
#include "common/elements.cuh"

constexpr int THREADS = 512;
constexpr int BINS = 256;
constexpr int LIST = 512;
constexpr double GRID_UNIT = 0x1p44;  // of a weight of 1
constexpr double LIST_UNIT = 0x1p52;
constexpr u32 NO_NUMBER = 0xFFFFFFFFu;  // the rank of NaN
constexpr u32 INFINITE = 0xFF800000u;  // of positive infinity
constexpr u32 IMPOSSIBLE = 0x007FFFFFu;  // of negative infinity

// What the blocks of a row share with each other and with their threads.
struct Team {
    int parts;
    int part;
    int turn;
    u64* exchange;  // [2, parts, BINS]
    u64* lists;  // [2, LIST + 1]
};

struct Range {
    float* numbers;  // of the ids first until first + count
    int first;
    int count;
};

// Calls take(i, number) for this thread's share of a range, AHEAD loads at a time.
template <int AHEAD, class TAKE>
__device__ __forceinline__ void each(const Range& range, TAKE take) {
    for (int first = threadIdx.x; first < range.count; first += THREADS * AHEAD) {
        float x[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; j++) {
            int i = first + j * THREADS;
            x[j] = i < range.count ? range.numbers[i] : 0.0f;
        }
#pragma unroll
        for (int j = 0; j < AHEAD; j++) {
            int i = first + j * THREADS;
            if (i < range.count) {
                take(i, x[j]);
            }
        }
    }
}

__device__ __forceinline__ void teamBarrier(const Team& team) {
#if __CUDA_ARCH__ >= 900
    if (team.parts > 1) {
        asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
        return;
    }
#endif
    __syncthreads();
}

// Unsigned order of ranks is that of floats; -0 ties with 0.
__device__ __forceinline__ u32 rankOf(float x) {
    u32 bits = __float_as_uint(__fadd_rn(x, 0.0f));
    return x != x ? NO_NUMBER : bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ float ofRank(u32 rank) {
    return __uint_as_float(rank & 0x80000000u ? rank & 0x7FFFFFFFu : ~rank);
}

// Ascending where tokens come later: by logit, then by id.
__device__ __forceinline__ u64 place(u32 rank, int id) {
    return (u64)~rank << 24 | (u32)id;
}

// e to the power of x <= 0: the polynomial of roselle.sampling.Exponential, with fused steps, within 1e-12 of it.
__device__ __forceinline__ double exponential(double x) {
    double clamped = x > -700.0 ? x : -700.0;
    double shifted = __fma_rn(clamped, 1.4426950408889634, 0x1.8p52);
    double power = __dsub_rn(shifted, 0x1.8p52);
    double r = __fma_rn(power, -0x1.cf79abc9e3b39p-40, __fma_rn(power, -0x1.62e42fefa0000p-1, clamped));
    double sum = 1.0 / 3628800;
    sum = __fma_rn(sum, r, 1.0 / 362880);
    sum = __fma_rn(sum, r, 1.0 / 40320);
    sum = __fma_rn(sum, r, 1.0 / 5040);
    sum = __fma_rn(sum, r, 1.0 / 720);
    sum = __fma_rn(sum, r, 1.0 / 120);
    sum = __fma_rn(sum, r, 1.0 / 24);
    sum = __fma_rn(sum, r, 1.0 / 6);
    sum = __fma_rn(sum, r, 0.5);
    sum = __fma_rn(sum, r, 1.0);
    sum = __fma_rn(sum, r, 1.0);
    return __dmul_rn(sum, __longlong_as_double((__double_as_longlong(shifted) + 1023) << 52));
}

template <bool TAKES_MOST>
__device__ __forceinline__ u64 joined(u64 a, u64 b) {
    return TAKES_MOST ? (a > b ? a : b) : a + b;
}

// The sum, or the most, over the block; the same in all threads.
template <bool TAKES_MOST>
__device__ __forceinline__ u64 overBlock(u64 x) {
    __shared__ u64 warps[THREADS / 32];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        x = joined<TAKES_MOST>(x, __shfl_xor_sync(~0u, x, distance));
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        warps[threadIdx.x / 32] = x;
    }
    __syncthreads();
    x = warps[threadIdx.x % (THREADS / 32)];
#pragma unroll
    for (int distance = THREADS / 64; distance > 0; distance /= 2) {
        x = joined<TAKES_MOST>(x, __shfl_xor_sync(~0u, x, distance));
    }
    return x;
}

// The same over all blocks of the row; `before`: over those of the ranges before this one.
template <bool TAKES_MOST>
__device__ __forceinline__ u64 overTeam(Team& team, u64 x, u64& before) {
    x = overBlock<TAKES_MOST>(x);
    before = 0;
    if (team.parts == 1) {
        return x;
    }
    u64* slots = team.exchange + team.turn * team.parts * BINS;
    team.turn ^= 1;
    if (threadIdx.x == 0) {
        slots[team.part] = x;
    }
    teamBarrier(team);
    u64 all = 0;
    for (int p = 0; p < team.parts; p++) {
        u64 other = __ldcg(slots + p);
        before = p < team.part ? joined<TAKES_MOST>(before, other) : before;
        all = joined<TAKES_MOST>(all, other);
    }
    return all;
}

template <bool TAKES_MOST>
__device__ __forceinline__ u64 overTeam(Team& team, u64 x) {
    u64 before;
    return overTeam<TAKES_MOST>(team, x, before);
}

// The sum over this lane and those before it.
__device__ __forceinline__ u64 upTo(u64 x) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        u64 other = __shfl_up_sync(~0u, x, distance);
        x += (int)threadIdx.x % 32 >= distance ? other : 0;
    }
    return x;
}

__device__ __forceinline__ void clearBins(u64* bins) {
    __syncthreads();
    if (threadIdx.x < BINS) {
        bins[threadIdx.x] = 0;
    }
    __syncthreads();
}

// Adds to a bin in two halves: a 64-bit atomic in shared memory would be a loop.
__device__ __forceinline__ void addTo(u64* bin, u64 mass) {
    u32* halves = (u32*)bin;
    u32 low = (u32)mass;
    u32 carry = atomicAdd(halves, low) + low < low;
    u32 high = (u32)(mass >> 32) + carry;
    if (high != 0) {
        atomicAdd(halves + 1, high);
    }
}

// Adds up the bins of all blocks, and finds the first bin with which the sum reaches `target`. Sums before and with it.
__device__ __forceinline__ int reach(Team& team, u64* bins, u64 target, u64& before, u64& with) {
    __shared__ u64 found[3];
    __syncthreads();
    if (team.parts > 1) {
        u64* slots = team.exchange + team.turn * team.parts * BINS;
        team.turn ^= 1;
        if (threadIdx.x < BINS) {
            slots[team.part * BINS + threadIdx.x] = bins[threadIdx.x];
        }
        teamBarrier(team);
        if (threadIdx.x < BINS) {
            u64 sum = 0;
            for (int p = 0; p < team.parts; p++) {
                sum += __ldcg(slots + p * BINS + threadIdx.x);
            }
            bins[threadIdx.x] = sum;
        }
        __syncthreads();
    }
    if (threadIdx.x < 32) {
        int lane = threadIdx.x;
        u64 mine = 0;
        for (int b = lane * 8; b < lane * 8 + 8; b++) {
            mine += bins[b];
        }
        u64 sum = upTo(mine);
        u32 reached = __ballot_sync(~0u, sum >= target);
        if (lane == (reached ? __ffs(reached) - 1 : 31)) {
            u64 at = sum - mine;
            int b = lane * 8;
            while (b < lane * 8 + 7 && at + bins[b] < target) {
                at += bins[b++];
            }
            found[0] = b;
            found[1] = at;
            found[2] = at + bins[b];
        }
    }
    __syncthreads();
    before = found[1];
    with = found[2];
    return (int)found[0];
}

__device__ __forceinline__ int binOf(float x, float largest) {
    return (int)fminf((largest - x) * 8.0f, BINS - 1.0f);
}

// How the tokens of a row weigh: 1 for the largest, at a temperature of at least 1e-30.
struct Scale {
    double largest;
    double temperature;
    double inverse;

    __device__ __forceinline__ Scale(float largest, double temperature)
        : largest(largest), temperature(temperature > 1e-30 ? temperature : 1e-30), inverse(1.0 / this->temperature) {}

    __device__ __forceinline__ double weight(float x) const {
        double below = x > -3.0e38f ? (double)x - largest : -1e300;
        double quotient = __dmul_rn(below, inverse);
        quotient = __fma_rn(__fma_rn(-quotient, temperature, below), inverse, quotient);
        return exponential(quotient > -700.0 ? quotient : -700.0);
    }

    // In multiples of 2^-44: adding 2^52 leaves them in the low bits.
    __device__ __forceinline__ u64 mass(float x) const {
        return massOf(weight(x));
    }

    static __device__ __forceinline__ u64 massOf(double weight) {
        return (u64)__double_as_longlong(__fma_rn(weight, GRID_UNIT, 0x1p52)) & 0xFFFFFFFFFFFFFull;
    }
};

// The mass of a token where tokens are counted.
struct One {
    __device__ __forceinline__ u64 mass(float) const {
        return 1;
    }
};

// The least place up to which the tokens that `isIn` have `target` of mass.
template <class MASS, class TEST>
__device__ __noinline__ u64 searchPlace(Team team, Range range, u64* bins, u64 target, MASS masses, TEST isIn) {
    u64 prefix = 0;
#pragma unroll 1
    for (int shift = 48; shift >= 0; shift -= 8) {
        clearBins(bins);
        each<4>(range, [&](int i, float x) {
            u64 at = place(rankOf(x), range.first + i);
            if (isIn(x, at) && at >> (shift + 8) == prefix >> (shift + 8)) {
                addTo(&bins[at >> shift & 255], masses.mass(x));
            }
        });
        u64 before;
        u64 with;
        prefix |= (u64)reach(team, bins, target, before, with) << shift;
        target -= before;
    }
    return prefix;
}

template <class MASS, class TEST>
__device__ __forceinline__ u64 placeOf(Team& team, const Range& range, u64* bins, u64 target, MASS masses, TEST isIn) {
    u64 found = searchPlace(team, range, bins, target, masses, isIn);
    team.turn ^= team.parts > 1;  // seven exchanges
    return found;
}

// The first block gets the tokens that `isIn`, in any order; returns their number, in that block.
template <class TEST>
__device__ __forceinline__ int gather(Team& team, const Range& range, u64* list, u64* tokens, TEST isIn) {
    each<8>(range, [&](int i, float x) {
        u64 at = place(rankOf(x), range.first + i);
        if (isIn(x, at)) {
            u64 slot = atomicAdd(list, 1ull);
            if (slot < LIST) {
                list[1 + slot] = at;
            }
        }
    });
    teamBarrier(team);
    if (team.part != 0) {
        return 0;
    }
    int count = min(LIST, (int)__ldcg(list));
    __syncthreads();
    if ((int)threadIdx.x < count) {
        tokens[threadIdx.x] = __ldcg(list + 1 + threadIdx.x);
    }
    if (threadIdx.x == 0) {
        *list = 0;
    }
    __syncthreads();
    return count;
}

__device__ __forceinline__ bool isPossible(float x) {
    return rankOf(x) > IMPOSSIBLE;
}

// The bin in which `most` possible tokens are reached: how many are before it, and with it.
__device__ __forceinline__ int binOfMost(
    Team& team, const Range& range, u64* bins, float largest, int most, u64& before, u64& with) {
    clearBins(bins);
    each<8>(range, [&](int, float x) {
        if (isPossible(x)) {
            atomicAdd((u32*)&bins[binOf(x, largest)], 1u);
        }
    });
    return reach(team, bins, most, before, with);
}

// Gathers at least the first `most` of the possible tokens, in any order: all of their bins, or, if these are too many, just them.
__device__ __forceinline__ int gatherMost(
    Team& team, const Range& range, u64* bins, float largest, int most, u64* list, u64* tokens) {
    u64 before;
    u64 with;
    int last = binOfMost(team, range, bins, largest, most, before, with);
    u64 limit = ~0ull;
    if (with > LIST) {
        limit = placeOf(
            team, range, bins, most - before, One{}, [=](float x, u64) { return isPossible(x) && binOf(x, largest) == last; });
    }
    return gather(
        team, range, list, tokens, [=](float x, u64 at) { return isPossible(x) && binOf(x, largest) <= last && at <= limit; });
}

__device__ __forceinline__ u32 rankAt(u64 place) {
    return ~(u32)(place >> 24);
}

__device__ __forceinline__ int idAt(u64 place) {
    return (int)(place & 0xFFFFFF);
}
