// What it costs that 132 blocks hand one another a vector, and go on: for
// hop.py, not for the engine.
#include "common/ampere.cuh"

// A number of 32 bits and the hop that it is of, stored and read as one:
// whoever sees the hop has the number, and nobody counts (NCCL's protocol LL).
struct Word {
    u32 value;
    u32 hop;
};

__device__ __forceinline__ void put(Word* place, u32 value, u32 hop) {
    asm volatile("st.relaxed.gpu.global.v2.b32 [%0], {%1, %2};" ::"l"(place), "r"(value), "r"(hop) : "memory");
}

__device__ __forceinline__ void take2(Word (&words)[2], const Word* place) {
    asm volatile("ld.relaxed.gpu.global.v4.b32 {%0, %1, %2, %3}, [%4];"
        : "=r"(words[0].value), "=r"(words[0].hop), "=r"(words[1].value), "=r"(words[1].hop)
        : "l"(place)
        : "memory");
}

// A sum of all that the threads of a block bring, which each of them gets: what
// a product does with its row, as far as waiting goes.
__device__ __forceinline__ u32 together(u32 value, u32* shared) {
    value = __reduce_add_sync(~0u, value);
    if (threadIdx.x % 32 == 0) {
        shared[threadIdx.x / 32] = value;
    }
    __syncthreads();
    u32 sum = 0;
    for (int warp = 0; warp < (int)blockDim.x / 32; warp++) {
        sum += shared[warp];
    }
    return sum;
}

// hops times: reads the whole vector of `count` words, puts its own part of the
// next. words[2][count] begin as zeros. Each thread meanwhile reads CHUNKS
// times 16 bytes of weights[hop][blocks][CHUNKS][threads], which wait for
// nobody.
template <int CHUNKS>
__device__ __forceinline__ void hopWords(Word* words, int count, int hops, const uint4* weights, u32* out) {
    __shared__ u32 sums[2][32];
    int part = (count + gridDim.x - 1) / gridDim.x, from = blockIdx.x * part, to = min(from + part, count);
    u32 sum = blockIdx.x, read = 0;
    for (int hop = 1; hop <= hops; hop++) {
        uint4 held[CHUNKS + 1];
        const uint4* mine = weights + ((long long)hop * gridDim.x + blockIdx.x) * CHUNKS * blockDim.x + threadIdx.x;
#pragma unroll
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            asm volatile("ld.relaxed.gpu.global.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
                : "=r"(held[chunk].x), "=r"(held[chunk].y), "=r"(held[chunk].z), "=r"(held[chunk].w)
                : "l"(mine + chunk * blockDim.x)
                : "memory");
        }
        Word* to_all = words + (hop & 1) * count;
        for (int i = from + threadIdx.x; i < to; i += blockDim.x) {
            put(to_all + i, sum + i, hop);
        }
        sum = 0;
        for (int i = 2 * threadIdx.x; i < count; i += 2 * blockDim.x) {
            Word two[2];
            do {
                take2(two, to_all + i);
            } while (two[0].hop != (u32)hop || two[1].hop != (u32)hop);
            sum += two[0].value + two[1].value;
        }
#pragma unroll
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            read ^= held[chunk].x ^ held[chunk].y ^ held[chunk].z ^ held[chunk].w;
        }
        sum = together(sum + (read == 1), sums[hop & 1]); // weights are zeros
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = sum;
    }
}

#define HOP_WORDS(CHUNKS)                                                                                             \
    extern "C" __global__ void hop_words_##CHUNKS(Word* words, int count, int hops, const uint4* weights, u32* out) { \
        hopWords<CHUNKS>(words, count, hops, weights, out);                                                           \
    }

HOP_WORDS(0)
HOP_WORDS(4)
HOP_WORDS(8)

// The same by a counter: parts are stored, then counted; one thread waits until
// all have been counted, then all read.
extern "C" __global__ void hop_counted(u32* values, u32* counter, int count, int hops, u32* out) {
    __shared__ u32 sums[2][32];
    int part = (count + gridDim.x - 1) / gridDim.x, from = blockIdx.x * part, to = min(from + part, count);
    u32 sum = blockIdx.x;
    for (int hop = 1; hop <= hops; hop++) {
        u32* to_all = values + (hop & 1) * count;
        for (int i = from + threadIdx.x; i < to; i += blockDim.x) {
            asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(to_all + i), "r"(sum + i) : "memory");
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
            u32 seen;
            do {
                asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
            } while (seen < hop * gridDim.x);
        }
        __syncthreads();
        sum = 0;
        for (int i = 4 * threadIdx.x; i < count; i += 4 * blockDim.x) {
            u32 a, b, c, d;
            asm volatile("ld.relaxed.gpu.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                : "l"(to_all + i)
                : "memory");
            sum += a + b + c + d;
        }
        sum = together(sum, sums[hop & 1]);
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = sum;
    }
}

// One hop of the same as a kernel of a chain, launched programmatically.
extern "C" __global__ void hop_kernel(const u32* values, u32* next, int count) {
    __shared__ u32 sums[32];
    launchNext();
    int part = (count + gridDim.x - 1) / gridDim.x, from = blockIdx.x * part, to = min(from + part, count);
    waitForPrevious();
    u32 sum = 0;
    for (int i = 4 * threadIdx.x; i < count; i += 4 * blockDim.x) {
        uint4 four = __ldcg((const uint4*)(values + i));
        sum += four.x + four.y + four.z + four.w;
    }
    sum = together(sum, sums);
    for (int i = from + threadIdx.x; i < to; i += blockDim.x) {
        next[i] = sum + i;
    }
}
