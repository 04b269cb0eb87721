// Where a block of the products for Hopper works, and what becomes of its sums: added over the blocks of a cluster, finished,
// stored.
#pragma once
#include "gemm/epilogue.cuh"
#include "gemm/rings.cuh"

// Leaves sums in shared memory as [TOKENS][SUM_STRIDE].
template <class R>
__device__ __forceinline__ void stash(R ring, const float (&sums)[R::TOKENS / 2], int group) {
    constexpr int STRIDE = R::SUM_STRIDE;
    int thread = threadIdx.x % 128;
    int row = group * TILE + thread / 32 * 16 + thread % 32 / 4;
    u32 at = ring.base + (thread % 4 * 2 * STRIDE + row) * 4;
#pragma unroll
    for (int j = 0; j < R::TOKENS / 8; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            u32 to = at + ((j * 8 + (i & 1)) * STRIDE + (i >> 1) * 8) * 4;
            asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(sums[4 * j + i]) : "memory");
        }
    }
}

__device__ __forceinline__ void add(float4& sum, float4 next) {
    sum.x += next.x;
    sum.y += next.y;
    sum.z += next.z;
    sum.w += next.w;
}

// What a thread stores: four outputs, `column` the first of them, of each eighth of the tokens that its block finishes. Block
// `rank` of a cluster of `slices` finishes every `slices`-th token.
template <class T, class R>
struct Finish {
    static constexpr int LANES = R::GROUPS * TILE / 4;  // threads of a token
    const Product& p;
    const Epilogue& epilogue;
    int firstToken;
    int rank;
    int slices;
    int lane;
    int column;
    float4 bias;

    __device__ __forceinline__ Finish(
        const Product& p, const Epilogue& epilogue, int rowTile, int firstToken, int rank, int slices)
        : p(p),
          epilogue(epilogue),
          firstToken(firstToken),
          rank(rank),
          slices(slices),
          lane(threadIdx.x % LANES * 4),
          column(rowTile * TILE + lane),
          bias(biasFour(epilogue, column, p.outputs)) {}

    __device__ __forceinline__ int token(int turn) const {
        return rank + slices * (threadIdx.x / LANES + turn * 8);
    }
    __device__ __forceinline__ bool has(int turn) const {
        return token(turn) < min(R::TOKENS, p.rows - firstToken) && column < p.outputs;
    }
    __device__ __forceinline__ i64 at(int turn) const {
        return (i64)(firstToken + token(turn)) * p.outputStride + column;
    }
    __device__ __forceinline__ uint2 old(int turn) const {
        return has(turn) ? oldFour<T>(epilogue, p.output, at(turn), p.outputs - column) : make_uint2(0, 0);
    }
    __device__ __forceinline__ void store(int turn, float4 sum, uint2 before) const {
        if (has(turn)) {
            finishFour<T>(sum, bias, before, epilogue, p.output, at(turn), p.outputs - column);
        }
    }
};

// Adds the sums that the blocks of the cluster from `firstRank` on hold: many tokens, whose sums are fetched all at once. Arrives
// once at the cluster's barrier, when it needs nothing of other blocks any more.
template <int SLICES, class T, class R>
__device__ __forceinline__ void finishThere(R ring, const Finish<T, R>& f, u32 firstRank = 0) {
    constexpr int TURNS = R::TOKENS / 8 / SLICES;
    constexpr int BATCH = SLICES == 1 ? 2 : TURNS < 8 / SLICES ? TURNS : 8 / SLICES;
#pragma unroll 1
    for (int first = 0; first < TURNS; first += BATCH) {
        uint2 old[BATCH];
        float4 part[BATCH][SLICES];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            old[b] = f.old(first + b);
            u32 at = ring.base + (f.token(first + b) * R::SUM_STRIDE + f.lane) * 4;
#pragma unroll
            for (int s = 0; s < SLICES; s++) {
                part[b][s] = clusterLoad(at, firstRank + s);
            }
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
#pragma unroll
            for (int s = 1; s < SLICES; s++) {
                add(part[b][0], part[b][s]);
            }
            asm volatile("" : "+f"(part[b][0].x), "+f"(part[b][0].y), "+f"(part[b][0].z), "+f"(part[b][0].w)::"memory");
        }
        if (first + BATCH >= TURNS) {
            __syncwarp();
            clusterArrive();
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            f.store(first + b, part[b][0], old[b]);
        }
    }
}

// Sends the sums of each token to the block that finishes it: block `token % slices` of the cluster.
template <class R>
__device__ __forceinline__ void send(R ring, const float (&sums)[R::TOKENS / 2], int group, int slice, int slices, int tokens) {
    int thread = threadIdx.x % 128;
    int row = group * TILE + thread / 32 * 16 + thread % 32 / 4;
    int held = (R::TOKENS + slices - 1) / slices;
#pragma unroll
    for (int j = 0; j < R::TOKENS / 8; j++) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int token = j * 8 + thread % 4 * 2 + i;
            if (token < tokens) {
                u32 to = ring.inbox() + ((slice * held + token / slices) * TILE * R::GROUPS + row) * 4;
                clusterStore(to, token % slices, sums[4 * j + i]);
                clusterStore(to + 32, token % slices, sums[4 * j + i + 2]);
            }
        }
    }
}

// Adds what the inbox or, without a cluster, the stash holds.
template <class T, class R>
__device__ __forceinline__ void finishHere(R ring, const Finish<T, R>& f, const uint2 (&old)[R::TOKENS / 8], int slices) {
    int held = (R::TOKENS + slices - 1) / slices;
#pragma unroll
    for (int turn = 0; turn < R::TOKENS / 8; turn++) {
        if (f.has(turn)) {
            bool sent = slices > 1 && R::HAS_INBOX;
            u32 at = sent ? ring.inbox() + (f.token(turn) / slices * TILE * R::GROUPS + f.lane) * 4
                          : ring.base + (f.token(turn) * R::SUM_STRIDE + f.lane) * 4;
            float4 sum = localLoad(at);
            for (int s = 1; sent && s < slices; s++) {
                add(sum, localLoad(at + s * held * TILE * R::GROUPS * 4));
            }
            f.store(turn, sum, old[turn]);
        }
    }
}

// Which outputs and tokens a block works on. Neighbouring blocks share tokens and weights in the L2 cache: bands of some
// token tiles, row tiles within a band.
struct Place {
    int rowTile;
    int firstToken;
};

template <int TOKENS, int GROUPS>
__device__ __forceinline__ Place place(const Product& p, int block) {
    constexpr int BAND = 2048 / TOKENS;
    int rowTiles = (p.outputs + TILE * GROUPS - 1) / (TILE * GROUPS);
    int tokenTiles = (p.rows + TOKENS - 1) / TOKENS;
    int band = block / (BAND * rowTiles);
    int inBand = min(BAND, tokenTiles - band * BAND);
    int rest = block - band * BAND * rowTiles;
    return {rest / inBand * GROUPS, (band * BAND + rest % inBand) * TOKENS};
}

template <class R>
__device__ __forceinline__ R openRing() {
    extern __shared__ unsigned char memory[];
    R ring = {(sharedAddress(memory) + 1023) & ~1023u};
    if (threadIdx.x == 0) {
        for (int s = 0; s < R::STAGES; s++) {
            barrierInit(ring.full(s), R::ARRIVALS);
            barrierInit(ring.empty(s), R::GROUPS * 4);
        }
        barrierInitDone();
    }
    __syncthreads();
    return ring;
}

// A product of which each slice of K has a block of its own; the blocks of a cluster add their sums. GROUPS warpgroups sum the tiles
// of K from the first until the end, `consume(ring, place, sums, group, first, end)`, which the other threads bring into the ring,
// `produce(ring, place, first, end)`.
template <class T, class R, class PRODUCE, class CONSUME>
__device__ __forceinline__ void multiplyParallel(
    const Product& p, const Epilogue& epilogue, int slices, int tiles, PRODUCE produce, CONSUME consume) {
    launchNext();
    R ring = openRing<R>();
    int slice = blockIdx.x % slices;
    Place at = place<R::TOKENS, R::GROUPS>(p, blockIdx.x / slices);
    int first = slice * tiles / slices;
    int end = (slice + 1) * tiles / slices;
    int group = threadIdx.x / 128;
    if (slices > 1 && R::HAS_INBOX) {
        clusterArrive();  // all blocks of the cluster run before one writes to another
    }
    if (group >= R::GROUPS) {
        produce(ring, at, first, end);
        __syncwarp();
        if (slices > 1) {
            if (R::HAS_INBOX) {
                clusterWait();
            }
            clusterArrive();
            clusterWait();
            if (!R::HAS_INBOX) {
                clusterArrive();  // no block leaves while others read its sums
                clusterWait();
            }
        }
        return;
    }
    Finish<T, R> f(p, epilogue, at.rowTile, at.firstToken, slice, slices);
    float sums[R::TOKENS / 2];
    if constexpr (R::HAS_INBOX) {
        waitForPrevious();
        uint2 old[R::TOKENS / 8];
        auto readOld = [&] {
#pragma unroll
            for (int turn = 0; turn < R::TOKENS / 8; turn++) {
                old[turn] = f.old(turn);
            }
        };
        if (R::TOKENS < 32) {
            readOld();
        }
        consume(ring, at, sums, group, first, end);
        if (R::TOKENS >= 32) {  // for want of registers not before
            readOld();
        }
        if (slices > 1) {
            clusterWait();
            send(ring, sums, group, slice, slices, p.rows - at.firstToken);
            clusterArrive();
            clusterWait();
        } else {
            namedBarrier(1, R::GROUPS * 128);  // the stages give way to the sums
            stash(ring, sums, group);
            namedBarrier(1, R::GROUPS * 128);
        }
        finishHere<T>(ring, f, old, slices);
    } else {
        consume(ring, at, sums, group, first, end);
        waitForPrevious();
        namedBarrier(1, R::GROUPS * 128);
        stash(ring, sums, group);
        if (slices == 1) {
            namedBarrier(1, R::GROUPS * 128);
            finishThere<1>(ring, f);
            return;
        }
        clusterArrive();
        clusterWait();
        switch (slices) {
            case 2:
                finishThere<2>(ring, f);
                break;
            case 4:
                finishThere<4>(ring, f);
                break;
            default:
                finishThere<8>(ring, f);
        }
        __syncwarp();
        clusterWait();
    }
}
