// Not used: within a step it is slower than rope_append and attention_few. On an H200 (driver 580.159), alone, BF16, one launch:
// 12 heads of 64, context 300, 128 rows: 39.3 us (3.00 TB/s), 256 rows 67.9 us (3.47 TB/s); 8 key heads of 128, context 1,024,
// 256 rows: 283.8 us (3.78 TB/s); rope_append and attention_few take 42.0, 77.5 and 291.0 us. A whole step of GPT-2 at 128 rows:
// 1,056 us with it, 1,005 without, because its blocks fill the GPU: products on either side cannot begin beside it.
//
// Attention (attention.cuh) of many sequences with one new row each, as in decoding a large batch: a block walks the tiles of
// one (row, key head) after the other in one stream of copies that does not run dry between them. It normalises and rotates
// queries and keys itself and appends keys and values to the pages (fresh.cuh), with the bits of rope_append and attention_few.
//
// Head sizes 64 and 128 on sm_80 and later. Grid (blocks that run at a time), 128 threads, dynamic shared memory
// STAGES * 256 * (SIZE + 8) + 32 * SIZE + 2,640 bytes; STAGES is 2 or 3. The first (row, key head, 16 heads of its group) of a block is
// its own number; then it takes what is next.
// rowSequence: [rows]. counters: [2] zeros, which it leaves as zeros. May be launched with programmatic stream serialization.
#include "fresh.cuh"

// What a block knows of a row and key head.
struct Task {
    int row;
    int keyHead;
    int inGroup;
    int first;  // position that is seen
    int end;
    const int* pages;
};

template <class T, int SIZE, int STAGES>
__device__ __forceinline__ void attendStream(
    const Attention& p, const Fresh& fresh, const int* rowSequence, int rows, unsigned* counters) {
    constexpr int RUNS = (SIZE / 16 + 3) / 4;  // runs of 16 columns of a warp
    constexpr int CHUNKS = SIZE / 8;
    constexpr int AHEAD = 4;  // tasks that are known: more than stages
    constexpr int UNKNOWN = 0x7FFFFFFF;
    extern __shared__ __align__(16) unsigned char memory[];
    u32 stages = sharedAddress(memory);
    u16* weightRows = (u16*)(memory + STAGES * TILE_BYTES<SIZE>);  // [16, 64 + 8]
    float* maxima = (float*)(weightRows + 16 * (TILE + 8));  // [4, 16]
    uint4* query = (uint4*)(maxima + 64);  // [SIZE / 16, 32] fragments
    int4* known = (int4*)(query + SIZE * 2);  // [AHEAD]: task, end, sequence
    int* published = (int*)(known + AHEAD);
    launchNext();

    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int upper = lane / 4;
    int headTiles = (p.group + 15) / 16;
    int perRow = p.keyHeads * headTiles;
    int tasks = rows * perRow;
    float exponents = exponentScale(p);
    auto taskOf = [&](int id, int end, int sequence) {
        int row = id / perRow;
        int inRow = id % perRow;
        return Task{row, inRow / headTiles, inRow % headTiles * 16, p.window == 0 ? 0 : max(0, end - p.window), end,
            p.pageTable + (i64)sequence * p.maxPages};
    };

    // The cursor of the copies: it runs STAGES - 1 tiles ahead, over the ends of tasks. Warp w copies page w of a tile.
    Task loading = {};
    int tile = 0;
    int tileEnd = 0;
    int page = 0;
    int issued = 0;
    int entered = 0;
    int nextId = blockIdx.x;
    int nextEnd = 0;
    int nextSequence = 0;
    unsigned ticket = 0;
    bool took = false;
    auto look = [&]() {
        if (nextId < tasks) {
            nextEnd = p.positions[nextId / perRow] + 1;
            nextSequence = rowSequence[nextId / perRow];
        }
    };
    auto find = [&]() {
        int at = tile * (TILE / PAGE) + warp;
        page = at * PAGE < loading.end - 1 && (at + 1) * PAGE > loading.first ? loading.pages[at] : 0;
    };
    auto enter = [&]() {
        loading = taskOf(nextId, nextEnd, nextSequence);
        if (threadIdx.x == 0) {
            known[entered % AHEAD] = make_int4(nextId, nextEnd, nextSequence, 0);
        }
        entered++;
        nextId = UNKNOWN;
        tile = loading.first / TILE;
        tileEnd = (loading.end + TILE - 1) / TILE;
        find();
    };
    auto load = [&]() {
        const u16* keys = p.cache + (i64)page * p.pageElements + loading.keyHead * PAGE * SIZE + lane * 8;
        i64 toValues = (i64)p.keyHeads * PAGE * SIZE;
        int row = warp * PAGE + lane / CHUNKS;
        u32 to = stages + issued % STAGES * TILE_BYTES<SIZE> + (row * STRIDE<SIZE> + lane % CHUNKS * 8) * 2;
        bool isWhole = tile * TILE >= loading.first && (tile + 1) * TILE < loading.end;
#pragma unroll
        for (int i = 0; i < CHUNKS / 2; i++) {
            int at = tile * TILE + row + i * (32 / CHUNKS);
            bool present = isWhole || (at >= loading.first && at < loading.end);
            if (isWhole || at != loading.end - 1) {  // the new one is not there yet
                u32 target = to + i * (32 / CHUNKS) * STRIDE<SIZE> * 2;
                copy16(target, keys + i * 256, present);
                copy16(target + TILE * STRIDE<SIZE> * 2, keys + toValues + i * 256, present);
            }
        }
        issued++;
        tile++;
        if (tile < tileEnd) {
            find();
        }
    };
    auto take = [&]() {
        took = true;
        if (threadIdx.x == 0) {
            ticket = atomicAdd(counters, 1);
        }
    };
    auto publish = [&]() {  // before a barrier
        if (took && threadIdx.x == 0) {
            *published = gridDim.x + ticket;
        }
    };
    auto learn = [&]() {  // behind it
        if (took) {
            nextId = *published;
            took = false;
            look();
        }
    };
    auto issue = [&]() {
        if (tile == tileEnd && nextId < tasks) {
            enter();
            take();
        }
        if (tile < tileEnd) {
            load();
        }
        copyCommit();
    };

    look();
    if (nextId < tasks) {
        enter();
    }
    for (int i = 0; i < STAGES - 1; i++) {  // what was written in earlier steps
        if (tile < tileEnd) {
            load();
        }
        copyCommit();
    }
    for (int i = threadIdx.x; i < SIZE * 2; i += 128) {
        query[i] = make_uint4(0, 0, 0, 0);
    }
    waitForPrevious();
    if (entered > 0) {
        take();
    }

    int read = 0;
    int done = 0;
    while (true) {
        publish();
        __syncthreads();  // the last task's queries and weights are used, and what is known is written
        learn();
        if (done == entered) {
            if (nextId >= tasks) {
                break;
            }
            issue();
            continue;
        }
        int4 packed = known[done % AHEAD];
        Task task = taskOf(packed.x, packed.y, packed.z);
        int heads = min(16, p.group - task.inGroup);
        int firstHead = task.keyHead * p.group + task.inGroup;
        int position = task.end - 1;
        int lastTile = position / TILE;
        float* scratch = (float*)weightRows + warp * SIZE;
        for (int head = warp; head < heads; head += 4) {
            freshQuery<T, SIZE>(p, fresh, task.row, firstHead + head, head, position, scratch, query);
        }
        u16 kept[SIZE / 32];  // of the new key in one warp, of the new value in another
        int which = (warp - heads % 4 + 4) % 4;
        if (which < 2) {
            u16* place = cachePlace<SIZE>(p, task.pages, task.keyHead, position);
            if (which == 0) {
                freshKey<T, SIZE>(fresh, task.row, task.keyHead, position, scratch, place, task.inGroup == 0, kept);
            } else {
                place += (i64)p.keyHeads * PAGE * SIZE;
                freshValue<SIZE>(fresh, task.row, task.keyHead, place, task.inGroup == 0, kept);
            }
        }
        float totalMax[2];
        float totalSum[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int head = upper + i * 8;
            bool sinks = p.sinks && head < heads;
            totalMax[i] = sinks ? firstLargest(p, firstHead + head) : NOTHING;
            totalSum[i] = sinks ? 1.0f : 0.0f;
        }
        float total[RUNS][2][4] = {};
        float o[RUNS][2][4] = {};
        float largest[2] = {NOTHING, NOTHING};
        float denominator[4] = {};
        for (int t = task.first / TILE; t <= lastTile; t++) {
            if (issued - read >= STAGES - 1) {
                copyWait<STAGES - 2>();
            } else {
                copyWait<0>();
            }
            if (t == lastTile && which < 2) {
                u16* stage = (u16*)(memory + read % STAGES * TILE_BYTES<SIZE>);
                bring<SIZE>(stage + (which * TILE + position % TILE) * STRIDE<SIZE>, kept);
            }
            __syncthreads();
            learn();
            issue();
            u32 keys = stages + read % STAGES * TILE_BYTES<SIZE>;
            read++;
            float s[2][4] = {};
#pragma unroll
            for (int k = 0; k < SIZE / 16; k++) {
                uint4 fragment = query[k * 32 + lane];
                multiplyKeys<T, SIZE>(s, {fragment.x, fragment.y, fragment.z, fragment.w}, keys, warp * 16, k);
            }
            cap<8>(p, s[0]);
            float most[2] = {NOTHING, NOTHING};
#pragma unroll
            for (int i = 0; i < 8; i++) {
                int at = t * TILE + warp * 16 + i / 4 * 8 + lane % 4 * 2 + i % 2;
                float& score = s[i / 4][i % 4];
                score = at >= task.first && at < task.end ? score : NOTHING;
                most[i / 2 % 2] = fmaxf(most[i / 2 % 2], score);
            }
#pragma unroll
            for (int i = 0; i < 2; i++) {
                most[i] = __fmul_rn(quadMax(most[i]), exponents);
                if (lane % 4 == 0) {
                    maxima[warp * 16 + upper + i * 8] = most[i];
                }
            }
            __syncthreads();
            float shrink[2];
            float against[2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                float next = maxima[upper + i * 8];
#pragma unroll
                for (int w = 1; w < 4; w++) {
                    next = fmaxf(next, maxima[w * 16 + upper + i * 8]);
                }
                next = follow(largest[i], next);
                against[i] = reference(next);
                shrink[i] = shrinkage(largest[i], against[i]);
                largest[i] = next;
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int half = i % 2;
                float* pair = s[i / 2] + half * 2;
                u32 both = pack<T>(weight(pair[0], exponents, against[half]), weight(pair[1], exponents, against[half]));
                *(u32*)(weightRows + (upper + half * 8) * (TILE + 8) + warp * 16 + i / 2 * 8 + lane % 4 * 2) = both;
            }
            __syncthreads();
            u32 weights[4][4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                loadMatrices(weights[k], sharedAddress(weightRows + lane % 16 * (TILE + 8) + k * 16 + lane / 16 * 8));
            }
            bool shrinks = anyShrinks(shrink[0], shrink[1]);
            if (shrinks) {
                denominator[0] = __fmul_rn(denominator[0], shrink[0]);
                denominator[2] = __fmul_rn(denominator[2], shrink[1]);
            }
            addWeights<T>(denominator, weights);
#pragma unroll
            for (int run = 0; run < RUNS; run++) {
                if (shrinks) {
                    scale(o[run], shrink[0], shrink[1]);
                }
                multiplyValues<T, SIZE>(o[run], weights, keys + TILE_BYTES<SIZE> / 2, (run * 4 + warp) * 16);
            }
            if ((t + 1) % (SPLIT / TILE) == 0 || t == lastTile) {
                Merge w[2];
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    w[i] = merge(totalMax[i], totalSum[i], largest[i], denominator[i * 2]);
                    largest[i] = NOTHING;
                    denominator[i * 2] = 0.0f;
                }
#pragma unroll
                for (int i = 0; i < RUNS * 8; i++) {
                    float& sum = total[i / 8][i / 4 % 2][i % 4];
                    sum = merged(w[i / 2 % 2], sum, o[i / 8][i / 4 % 2][i % 4]);
                    o[i / 8][i / 4 % 2][i % 4] = 0.0f;
                }
            }
            publish();
        }
        u16* out = p.output + task.row * p.outputStride + (i64)firstHead * SIZE + warp * 16 + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int head = upper + i * 8;
            float inverse = __frcp_rn(totalSum[i]);
#pragma unroll
            for (int run = 0; run < RUNS; run++) {
                if (head < heads) {
                    u16* to = out + head * SIZE + run * 64;
                    *(u32*)to = pack<T>(total[run][0][i * 2] * inverse, total[run][0][i * 2 + 1] * inverse);
                    *(u32*)(to + 8) = pack<T>(total[run][1][i * 2] * inverse, total[run][1][i * 2 + 1] * inverse);
                }
            }
        }
        done++;
    }
    if (threadIdx.x == 0 && atomicAdd(counters + 1, 1) == gridDim.x - 1) {
        counters[0] = 0;
        counters[1] = 0;
    }
}

#define STREAM(T, SUFFIX, SIZE, STAGES, BLOCKS)                                                              \
    extern "C" __global__ void __launch_bounds__(128, BLOCKS) attention_stream_##STAGES##_##SIZE##_##SUFFIX( \
        ATTENTION_PARAMETERS, const int* rowSequence, int rows, unsigned* counters, FRESH_PARAMETERS) {      \
        attendStream<T, SIZE, STAGES>(ATTENTION, FRESH, rowSequence, rows, counters);                        \
    }

BOTH_TYPES(STREAM, 64, 2, 5)
BOTH_TYPES(STREAM, 64, 3, 3)
BOTH_TYPES(STREAM, 128, 2, 3)
BOTH_TYPES(STREAM, 128, 3, 2)
