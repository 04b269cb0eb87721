// The kernel of decode attention (attention_decode.cu, and attention_fp8 … of codes, which appends nothing).
#pragma once
#include "attention/coded.cuh"
#include "attention/fresh.cuh"

#if __CUDA_ARCH__ >= 900
#include "common/hopper.cuh"
// Blocks of a cluster; 1 where there are none.
__device__ __forceinline__ int clusterBlocks() {
    u32 blocks;
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
    return blocks;
}

__device__ __forceinline__ void clusterBarrier() {
    clusterArrive();
    clusterWait();
}

// Whether this block's cluster is the last of `running` to come here, all its threads; what the others wrote before is then visible.
__device__ __forceinline__ bool isLastCluster(unsigned* counter, int running) {
    __shared__ float isLast;
    __threadfence();
    clusterBarrier();
    if (clusterRank() == 0 && threadIdx.x < 32) {
        bool last = false;
        if (threadIdx.x == 0) {
            __threadfence();
            last = atomicAdd(counter, 1) == running - 1;
            if (last) {
                *counter = 0;
            }
            __threadfence();
        }
        last = __shfl_sync(~0u, last, 0);
        if ((int)threadIdx.x < clusterBlocks()) {
            clusterStore(sharedAddress(&isLast), threadIdx.x, last ? 1.0f : 0.0f);
        }
    }
    clusterBarrier();
    return isLast != 0.0f;
}
#else
__device__ __forceinline__ int clusterBlocks() {
    return 1;
}

__device__ __forceinline__ int clusterRank() {
    return 0;
}

__device__ __forceinline__ void clusterBarrier() {}

__device__ __forceinline__ bool isLastCluster(unsigned*, int) {
    return false;
}
#endif

struct Parts {
    const int* rowSequence;
    const int* contextLength;
    float* partials;
    const int* firstEntry;
    unsigned* counters;
};

// Whether this block is the last of `running` to come here; what the others wrote before is then visible.
__device__ __forceinline__ bool isLastPart(unsigned* counter, int running) {
    __shared__ bool isLast;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        isLast = atomicAdd(counter, 1) == running - 1;
        if (isLast) {
            *counter = 0;
        }
    }
    __syncthreads();
    __threadfence();
    return isLast;
}

// A head's numbers in a run of splits, or part of them: exponent and denominator, and two values.
struct Entry {
    float2 sums;
    float2 values;
};

// Adds entries from `from` on, up to AT_ONCE of them, to two values of a head; all are on their way together.
template <int AT_ONCE, class Read>
__device__ __forceinline__ void mergeSome(Entry& all, int from, int splits, Read read) {
    Entry next[AT_ONCE];
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
        next[i] = read(min(from + i, splits - 1));
    }
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
        if (from + i >= splits) {
            next[i] = {{NOTHING, 0.0f}, {-0.0f, -0.0f}};  // changes no bit
        }
        Merge w = merge(all.sums.x, all.sums.y, next[i].sums.x, next[i].sums.y);
        all.values.x = merged(w, all.values.x, next[i].values.x);
        all.values.y = merged(w, all.values.y, next[i].values.y);
    }
}

// Two values of a head, from the entries of its splits, `read(split)`; those before `second` are one.
template <class Read>
__device__ __forceinline__ float2 mergedValues(int second, int splits, Read read) {
    Entry all = read(0);
    int from = second;
    for (; splits - from > 8; from += 16) {
        mergeSome<16>(all, from, splits, read);
    }
    if (splits - from > 4) {
        mergeSome<8>(all, from, splits, read);
    } else if (splits > from) {
        mergeSome<4>(all, from, splits, read);
    }
    float inverse = __frcp_rn(all.sums.y);
    return make_float2(all.values.x * inverse, all.values.y * inverse);
}

// Four warps work on one tile at a time: on 16 keys each for the scores, on every fourth run of 16 columns for the values. Kv says
// how pages become tiles (coded.cuh); where it IS_BULK the copy engine brings those behind the first, which costs the warps hardly an
// instruction, but the first, which come while the kernel before this one ends, and sooner so.
template <class T, class Kv, int SIZE, int STAGES, bool IS_FRESH>
__device__ __forceinline__ void attendDecode(
    const Attention& p, const Parts& memories, const Fresh& fresh = Fresh(), const Kv& kv = Kv()) {
    constexpr int THREADS = 128;
    constexpr int WARPS = 4;
    constexpr int RUNS = Quarter<SIZE>::RUNS;
    constexpr bool APART = STAGES == 1;  // one place of keys and one of values, which are fetched in turn
    static_assert(!APART || !IS_FRESH, "heads that need so much memory are appended before");
    constexpr int ENTRY = SIZE + 2;  // a partial result of a head: m, l, o
    extern __shared__ __align__(16) unsigned char memory[];
    constexpr u32 STAGE_BYTES = Kv::template STAGE_BYTES<SIZE>;
    using Layout = typename Kv::template Rows<SIZE>;
    unsigned char* ring = memory + Kv::template DECODED_BYTES<SIZE>;
    if constexpr (Kv::IS_BULK) {
        ring += -sharedAddress(memory) % 1024;
    }
    u32 stages = sharedAddress(ring);
    u16* weightRows = (u16*)(ring + STAGES * STAGE_BYTES);  // [16, 64 + 8]
    float* maxima = (float*)(weightRows + 16 * (TILE + 8));  // [4, 16]
    uint4* query = (uint4*)(maxima + 64);  // [SIZE / 16, 32] fragments
    u32 barriers = sharedAddress(query + SIZE * 2);  // of stages that the copy engine fills
    launchNext();

    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int headTiles = (p.group + 15) / 16;
    int keyHead = blockIdx.y / headTiles;
    int inGroup = blockIdx.y % headTiles * 16;
    int heads = min(16, p.group - inGroup);
    int firstHead = keyHead * p.group + inGroup;
    int row = blockIdx.z;
    int end = p.positions[row] + 1;
    int first = firstSeen(p, end - 1);
    int sequence = IS_FRESH ? row : memories.rowSequence[row];
    int written = memories.contextLength[sequence];
    HeldPages pages = {p.pageTable + (i64)sequence * p.maxPages, first / PAGE, (end + PAGE - 1) / PAGE};
    int firstSplit = first / SPLIT;
    int splits = (end + SPLIT - 1) / SPLIT - firstSplit;
    int perPart = (splits + gridDim.x - 1) / gridDim.x;
    int running = (splits + perPart - 1) / perPart;  // parts that have work
    bool isIdle = (int)blockIdx.x >= running;
    int blocks = clusterBlocks();
    int clusters = (running + blocks - 1) / blocks;  // that have work
    bool meets = running > 1 && blocks > 1 && (int)blockIdx.x < clusters * blocks;
    if (isIdle && !meets) {
        return;
    }
    int partStart = firstSplit + blockIdx.x * perPart;
    int partEnd = min(partStart + perPart, firstSplit + splits);
    int tile = max(partStart * (SPLIT / TILE), first / TILE);
    int tileEnd = min(partEnd * (SPLIT / TILE), (end + TILE - 1) / TILE);
    auto load = [&](int t) {
        if (t < tileEnd) {
            pages.hold(t);
            u32 to = stages + t % STAGES * STAGE_BYTES;
            if constexpr (Kv::IS_CODED) {
                loadCodes<Kv, SIZE, THREADS>(p, pages, keyHead, t, first, end, to);
            } else {
                loadTile<SIZE, THREADS, Layout, IS_FRESH>(p, pages, keyHead, t, first, end, to);
            }
        }
        copyCommit();
    };
    const u16* firstKeys = p.cache + keyHead * PAGE * SIZE;
    auto loadKeys = [&](int t) {
        if (t < tileEnd) {
            pages.hold(t);
            loadHalf<SIZE, THREADS>(p, pages, firstKeys, t, first, end, stages);
        }
        copyCommit();
    };
    auto loadValues = [&](int t) {
        if (t < tileEnd) {
            const u16* firstValues = firstKeys + (i64)p.keyHeads * PAGE * SIZE;
            loadHalf<SIZE, THREADS>(p, pages, firstValues, t, first, end, stages + TILE_BYTES<SIZE> / 2);
        }
        copyCommit();
    };
    bool waited = IS_FRESH;
    if constexpr (APART) {
        if ((tile + 1) * TILE > written) {
            waitForPrevious();
            waited = true;
        }
        loadKeys(tile);
        loadValues(tile);
    }
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++) {
        if (!waited && (tile + i + 1) * TILE > written) {  // what the kernel before this one appends
            waitForPrevious();
            waited = true;
        }
        load(tile + i);
    }
    if constexpr (Kv::IS_BULK) {
        kv.template begin<STAGES, WARPS>(barriers);  // nobody comes to them before the first tile is there
    }
    HeadTurns<SIZE> turns;
    u16* place = IS_FRESH ? cachePlace<SIZE>(p, pages.pages, keyHead, end - 1) : nullptr;
    if (IS_FRESH) {
        turns.load(fresh.heads.rope, end - 1);
        for (int i = threadIdx.x; i < SIZE * 2; i += THREADS) {
            query[i] = make_uint4(0, 0, 0, 0);
        }
        __syncthreads();
    }
    int firstBulk = tile + STAGES - 1;
    auto ask = [&](int t) {
        if constexpr (Kv::IS_BULK) {
            if (t < tileEnd) {
                pages.hold(t);
                kv.template ask<SIZE>(p, pages, keyHead, t, stages + t % STAGES * STAGE_BYTES, barriers + t % STAGES * 8);
            }
        }
    };
    if (IS_FRESH || !waited) {
        waitForPrevious();
    }

    int upper = lane / 4;
    int lastTile = (end - 1) / TILE;
    HeadBits<SIZE> kept;  // of the new key in one warp, of the new value in another
    int which = (warp - heads % WARPS + WARPS) % WARPS;  // 0: this warp has the key, 1: the value
    // Brings them to the last tile once its stage is theirs.
    auto storeLast = [&](int t) {
        if (IS_FRESH && t == lastTile && t < tileEnd && which < 2) {
            unsigned char* half = ring + t % STAGES * STAGE_BYTES + which * Layout::BYTES;
            storeKept<SIZE, Layout>(half, (end - 1) % TILE, kept);
        }
    };
    if constexpr (IS_FRESH) {
        if (!isIdle) {
            float* shared = (float*)(ring + (tile + STAGES - 1) % STAGES * STAGE_BYTES) + warp * SIZE;  // no tile is there yet
            const u16* queries = p.query + row * p.queryStride + (i64)firstHead * SIZE;
            bool stores = lastTile < tileEnd && which < 2;
            HeadBits<SIZE> head;
            head.load(queries + (warp < heads ? warp : 0) * SIZE);
            if (stores) {
                kept.load(
                    (which == 0 ? fresh.key + row * fresh.keyStride : fresh.value + row * fresh.valueStride) + keyHead * SIZE);
            }
            for (int h = warp; h < heads; h += WARPS) {
                freshQuery<T>(fresh, head, turns, firstHead + h, h, shared, query);
                if (h + WARPS < heads) {
                    head.load(queries + (h + WARPS) * SIZE);
                }
            }
            if (stores) {
                if (which == 0) {
                    freshKey<T>(fresh, kept, turns, keyHead, shared, place, inGroup == 0);
                } else {
                    freshValue(kept, place + (i64)p.keyHeads * PAGE * SIZE, inGroup == 0);
                }
            }
            if (lastTile < tile + STAGES - 1) {
                storeLast(lastTile);
            }
        }
    } else {
        const u16* q = p.query + row * p.queryStride + (i64)firstHead * SIZE + lane % 4 * 2;
        for (int k = warp; k < SIZE / 16; k += 4) {
            u32 part[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int head = upper + i % 2 * 8;
                part[i] = head < heads ? *(const u32*)(q + head * SIZE + k * 16 + i / 2 * 8) : 0;
            }
            query[k * 32 + lane] = make_uint4(part[0], part[1], part[2], part[3]);
        }
    }

    float totalMax[2];
    float totalSum[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int head = upper + i * 8;
        bool sinks = p.sinks && head < heads && blockIdx.x == 0;
        totalMax[i] = sinks ? firstLargest(p, firstHead + head) : NOTHING;
        totalSum[i] = sinks ? 1.0f : 0.0f;
    }
    float total[RUNS][2][4] = {};
    Quarter<SIZE> part;
    part.clear();
    int rowFirst[2] = {first, first};
    int rowEnd[2] = {end, end};
    float exponents = exponentScale(p);
    float* entries = memories.partials + ((i64)memories.firstEntry[row] * p.keyHeads * p.group + firstHead) * ENTRY;
    i64 entryStride = (i64)p.keyHeads * p.group * ENTRY;
    auto store = [&](int split, const float(&m)[2], const float(&l)[2], const float(&values)[RUNS][2][4]) {
        float* mine = entries + (split - firstSplit) * entryStride;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int head = upper + i * 8;
            if (head < heads) {
                float* entry = mine + head * ENTRY;
                if (warp == 0 && lane % 4 == 0) {
                    *(float2*)(entry + SIZE) = make_float2(m[i], l[i]);
                }
#pragma unroll
                for (int run = 0; run < RUNS; run++) {
                    int column = (run * 4 + warp) * 16 + lane % 4 * 2;
                    if (column < SIZE) {
                        *(float2*)(entry + column) = make_float2(values[run][0][i * 2], values[run][0][i * 2 + 1]);
                        *(float2*)(entry + column + 8) = make_float2(values[run][1][i * 2], values[run][1][i * 2 + 1]);
                    }
                }
            }
        }
    };

    for (; tile < tileEnd; tile++) {
        copyWait<APART ? 1 : STAGES - 2>();
        if constexpr (Kv::IS_BULK) {
            if (tile < firstBulk) {
                kv.settle(firstBulk < tileEnd);
            } else {
                kv.await(barriers + tile % STAGES * 8, (tile - firstBulk) / STAGES % 2);
                if (tile == lastTile) {
                    storeLast(tile);
                    kv.template clear<SIZE, THREADS>(ring + tile % STAGES * STAGE_BYTES + Layout::BYTES, end);
                }
            }
        }
        __syncthreads();
        int next = tile + STAGES - 1;
        if constexpr (Kv::IS_BULK) {
            ask(next);
            copyCommit();
        } else if constexpr (!APART) {
            load(next);
            storeLast(next);
        }
        unsigned char* stage = ring + tile % STAGES * STAGE_BYTES;
        if constexpr (Kv::IS_CODED) {
            decodeTile<T, Kv, SIZE, THREADS>(stage, memory, tile, first, end);
            __syncthreads();
        }
        u32 keys = sharedAddress(Kv::IS_CODED ? memory : stage);
        float s[2][4] = {};
#pragma unroll
        for (int k = 0; k < SIZE / 16; k++) {
            uint4 fragment = query[k * 32 + lane];
            multiplyKeys<T, Layout>(s, {fragment.x, fragment.y, fragment.z, fragment.w}, keys, warp * 16, k);
        }
        if constexpr (Kv::IS_CODED) {
            scaleProducts<T, Kv, SIZE, 8>(stage, warp * 16, s[0]);
        }
        addTile<T, SIZE, Layout>(
            p, part, s, tile, warp, rowFirst, rowEnd, exponents, maxima, weightRows, keys + Layout::BYTES,
            [&] {
                if constexpr (APART) {
                    loadKeys(tile + 1);
                }
            },
            [] {
                if constexpr (APART) {
                    copyWait<1>();
                }
            });
        if constexpr (APART) {
            __syncthreads();
            loadValues(tile + 1);
        }
        if ((tile + 1) % (SPLIT / TILE) == 0 || tile + 1 == tileEnd) {
            float sums[2] = {part.denominator[0], part.denominator[2]};
            if (blockIdx.x > 0) {
                store(tile / (SPLIT / TILE), part.largest, sums, part.o);
            } else {
                Merge w[2];
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    w[i] = merge(totalMax[i], totalSum[i], part.largest[i], sums[i]);
                }
#pragma unroll
                for (int i = 0; i < RUNS * 8; i++) {
                    float& sum = total[i / 8][i / 4 % 2][i % 4];
                    sum = merged(w[i / 2 % 2], sum, part.o[i / 8][i / 4 % 2][i % 4]);
                }
            }
            part.clear();
        }
    }

    u16* out = p.output + row * p.outputStride + (i64)firstHead * SIZE;
    if (running == 1) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int head = upper + i * 8;
            float inverse = __frcp_rn(totalSum[i]);
#pragma unroll
            for (int run = 0; run < RUNS; run++) {
                int column = (run * 4 + warp) * 16 + lane % 4 * 2;
                if (head < heads && column < SIZE) {
                    u16* to = out + head * SIZE + column;
                    *(u32*)to = pack<T>(total[run][0][i * 2] * inverse, total[run][0][i * 2 + 1] * inverse);
                    *(u32*)(to + 8) = pack<T>(total[run][1][i * 2] * inverse, total[run][1][i * 2 + 1] * inverse);
                }
            }
        }
        return;
    }
    if (blockIdx.x == 0) {
        store(firstSplit, totalMax, totalSum, total);
    }
    int begin = threadIdx.x;
    int step = THREADS;
    if (meets) {
        if (clusters == 1) {
            clusterBarrier();
        } else if (!isLastCluster(memories.counters + row * gridDim.y + blockIdx.y, clusters)) {
            return;
        }
        begin += clusterRank() * THREADS;
        step *= blocks;
    } else if (!isLastPart(memories.counters + row * gridDim.y + blockIdx.y, running)) {
        return;
    }
    for (int i = begin; i < heads * (SIZE / 2); i += step) {
        int head = i / (SIZE / 2);
        int column = i % (SIZE / 2) * 2;
        float2 values = mergedValues(perPart, splits, [&](int split) {
            const float* entry = entries + split * entryStride + head * ENTRY;
            return Entry{__ldcg((const float2*)(entry + SIZE)), __ldcg((const float2*)(entry + column))};
        });
        *(u32*)(out + head * SIZE + column) = pack<T>(values.x, values.y);
    }
}
