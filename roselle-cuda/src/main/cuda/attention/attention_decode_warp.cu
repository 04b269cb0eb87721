// Decode attention (attention.cuh) of a large batch: a warp for each row and key head, which waits for no other. Keys
// and values come in halves of a tile, through a ring of HALVES of them.
//
// Head sizes 64 and 128, up to 8 heads of queries to a key head, sm_80 and later. Grid (1, keyHeads, rows), 32 threads, dynamic
// shared memory HALVES * 128 * SIZE bytes; HALVES is 4, but 3 for size 128. May be launched with programmatic stream
// serialization.
// rowSequence: [rows]. contextLength: [sequences], positions whose keys were written in earlier steps.
// attention_decode_warp_append: each sequence has one row, and its queries, keys and values are as a product left them
// (fresh.cuh).
#include "attention/fresh.cuh"

// Where 16-byte chunk `chunk` of row `row` of half a tile lies: the rows' chunks change places, so that banks keep apart.
template <int SIZE>
__device__ __forceinline__ u32 chunkPlace(int row, int chunk) {
    return row * SIZE * 2 + ((chunk ^ (row & 7)) << 4);
}

// Copies the keys, or values, of a tile to `to`; `from` is this lane's chunk of the first page. Where the row's own position is
// fresh, its place is left to the caller.
template <int SIZE, bool IS_FRESH>
__device__ __forceinline__ void loadHalf(
    const Attention& p, const u16* from, const HeldPages& pages, int tile, int first, int end, u32 to) {
    constexpr int CHUNKS = SIZE / 8;
    constexpr int AT_ONCE = 32 / CHUNKS;  // rows
    int chunk = threadIdx.x % CHUNKS;
    int row = threadIdx.x / CHUNKS;
    bool whole = tile * TILE >= first && (tile + 1) * TILE <= end - IS_FRESH;
#pragma unroll
    for (int i = 0; i < TILE / PAGE; i++) {
        const u16* page = from + pages.at(tile * (TILE / PAGE) + i) * p.pageElements;
#pragma unroll
        for (int r = 0; r < PAGE; r += AT_ONCE) {
            int position = tile * TILE + i * PAGE + r + row;
            bool present = whole || (position >= first && position < end);
            if (!IS_FRESH || position != end - 1) {
                copy16(to + chunkPlace<SIZE>(i * PAGE + r + row, chunk), page + r * SIZE, present);
            }
        }
    }
}

// One warp leaves a kept key or value in its row of half a tile.
template <int SIZE>
__device__ __forceinline__ void storeHalf(unsigned char* half, int row, const HeadBits<SIZE>& kept) {
#pragma unroll
    for (int i = 0; i < SIZE / 32; i++) {
        int d = threadIdx.x % 32 + i * 32;
        *(u16*)(half + chunkPlace<SIZE>(row, d / 8) + d % 8 * 2) = kept.each[i];
    }
}

template <class T, int SIZE, int HALVES, bool IS_FRESH>
__device__ __forceinline__ void attendAlone(
    const Attention& p, const int* rowSequence, const int* contextLength, const Fresh& fresh = Fresh()) {
    constexpr int STEPS = SIZE / 16;
    constexpr int AT_ONCE = 4;  // heads of queries on their way
    constexpr u32 HALF_BYTES = TILE * SIZE * 2;
    extern __shared__ __align__(128) unsigned char memory[];
    u32 ring = sharedAddress(memory);
    launchNext();

    int lane = threadIdx.x;
    int keyHead = blockIdx.y;
    int row = blockIdx.z;
    int firstHead = keyHead * p.group;
    int end = p.positions[row] + 1;
    int first = firstSeen(p, end - 1);
    int sequence = rowSequence[row];
    int written = contextLength[sequence];
    HeldPages pages = {p.pageTable + (i64)sequence * p.maxPages, first / PAGE, (end + PAGE - 1) / PAGE};
    int tile = first / TILE;
    int lastTile = (end - 1) / TILE;
    const u16* keys = p.cache + keyHead * PAGE * SIZE + lane * 8;
    i64 toValues = (i64)p.keyHeads * PAGE * SIZE;
    u16* place = IS_FRESH ? cachePlace<SIZE>(p, pages.pages, keyHead, end - 1) : nullptr;  // of the new key in its page

    int nextTile = tile;  // of the next half
    bool isValue = false;
    u32 to = 0;
    // Asks for the next half and stores the new position in it.
    auto load = [&](bool stores) {
        if (nextTile <= lastTile) {
            if (!isValue) {
                pages.hold(nextTile);
            }
            loadHalf<SIZE, IS_FRESH>(p, isValue ? keys + toValues : keys, pages, nextTile, first, end, ring + to);
            if (IS_FRESH && stores && nextTile == lastTile) {
                HeadBits<SIZE> kept;  // a lane reads what it wrote itself
                kept.load(isValue ? place + toValues : place);
                storeHalf<SIZE>(memory + to, (end - 1) % TILE, kept);
            }
            nextTile += isValue;
            isValue = !isValue;
            to = to + HALF_BYTES == HALVES * HALF_BYTES ? 0 : to + HALF_BYTES;
        }
        copyCommit();
    };
    bool waited = IS_FRESH;
#pragma unroll
    for (int i = 0; i < HALVES - 1; i++) {
        if (!waited && (nextTile + 1) * TILE > written) {  // what the kernel before this one appends
            waitForPrevious();
            waited = true;
        }
        load(false);
    }
    uint4* fragments = (uint4*)(memory + (HALVES - 1) * HALF_BYTES);  // [STEPS, 32], where the last half comes later
    HeadTurns<SIZE> turns;
    if (IS_FRESH) {
        turns.load(fresh.heads.rope, end - 1);
        for (int i = lane; i < SIZE * 2; i += 32) {
            fragments[i] = make_uint4(0, 0, 0, 0);
        }
        __syncwarp();
    }
    if (IS_FRESH || !waited) {
        waitForPrevious();
    }

    int head = lane / 4;
    u32 query[STEPS][4];
    if constexpr (IS_FRESH) {
        float* shared = (float*)(fragments + SIZE * 2);
        HeadBits<SIZE> kept[2];  // of the new key and value
        const u16* queries = p.query + row * p.queryStride + (i64)firstHead * SIZE;
        kept[0].load(fresh.key + row * fresh.keyStride + keyHead * SIZE);
        kept[1].load(fresh.value + row * fresh.valueStride + keyHead * SIZE);
        for (int h = 0; h < p.group; h += AT_ONCE) {
            HeadBits<SIZE> heads[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                heads[i].load(queries + (h + i < p.group ? h + i : 0) * SIZE);
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                if (h + i < p.group) {
                    freshQuery<T>(fresh, heads[i], turns, firstHead + h + i, h + i, shared, fragments);
                }
            }
        }
        freshKey<T>(fresh, kept[0], turns, keyHead, shared, place, true);
        freshValue(kept[1], place + toValues, true);
        __syncwarp();
#pragma unroll
        for (int k = 0; k < STEPS; k++) {
            uint4 part = fragments[k * 32 + lane];
            query[k][0] = part.x, query[k][1] = part.y, query[k][2] = part.z, query[k][3] = part.w;
        }
#pragma unroll
        for (int i = 0; i < HALVES - 1; i++) {
            if (tile + i / 2 == lastTile) {
                storeHalf<SIZE>(memory + i * HALF_BYTES, (end - 1) % TILE, kept[i % 2]);
            }
        }
        __syncwarp();
    } else {
        const u16* q = p.query + row * p.queryStride + (i64)(firstHead + head) * SIZE + lane % 4 * 2;
#pragma unroll
        for (int k = 0; k < STEPS; k++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                query[k][i] = i % 2 == 0 && head < p.group ? *(const u32*)(q + k * 16 + i / 2 * 8) : 0;
            }
        }
    }

    float totalMax = p.sinks && head < p.group ? firstLargest(p, firstHead + head) : NOTHING;
    float totalSum = p.sinks && head < p.group ? 1.0f : 0.0f;
    float total[SIZE / 8][2] = {};
    float o[SIZE / 8][4] = {};
    float largest = NOTHING;
    float denominator[4] = {};
    float exponents = exponentScale(p);
    u32 from = 0;
    auto half = [&]() {  // the next one to be used
        copyWait<HALVES - 2>();
        __syncwarp();
        u32 at = ring + from;
        from = from + HALF_BYTES == HALVES * HALF_BYTES ? 0 : from + HALF_BYTES;
        load(true);
        return at;
    };
    for (; tile <= lastTile; tile++) {
        u32 at = half();
        float s[TILE / 8][4] = {};
#pragma unroll
        for (int k = 0; k < STEPS; k++) {
#pragma unroll
            for (int g = 0; g < TILE / 16; g++) {
                u32 b[4];
                loadMatrices(b, at + chunkPlace<SIZE>(g * 16 + lane % 8 + lane / 16 * 8, k * 2 + lane / 8 % 2));
                mma<T>(s[2 * g], query[k], b[0], b[1]);
                mma<T>(s[2 * g + 1], query[k], b[2], b[3]);
            }
        }
        float most = NOTHING;
        bool whole = tile * TILE >= first && (tile + 1) * TILE <= end;
#pragma unroll
        for (int n = 0; n < TILE / 8; n++) {
            cap<2>(p, s[n]);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                int position = tile * TILE + n * 8 + lane % 4 * 2 + i;
                s[n][i] = whole || (position >= first && position < end) ? s[n][i] : NOTHING;
                most = fmaxf(most, s[n][i]);
            }
        }
        float next = follow(largest, __fmul_rn(quadMax(most), exponents));
        float against = reference(next);
        float shrink = shrinkage(largest, against);
        largest = next;
        u32 weights[TILE / 16][4];
#pragma unroll
        for (int k = 0; k < TILE / 16; k++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float* pair = s[2 * k + i / 2];
                weights[k][i] =
                    i % 2 == 0 ? pack<T>(weight(pair[0], exponents, against), weight(pair[1], exponents, against)) : 0;
            }
        }
        if (anyShrinks(shrink, 1.0f)) {
            denominator[0] = __fmul_rn(denominator[0], shrink);
#pragma unroll
            for (int c = 0; c < SIZE / 8; c++) {
                o[c][0] = __fmul_rn(o[c][0], shrink);
                o[c][1] = __fmul_rn(o[c][1], shrink);
            }
        }
        addWeights<T>(denominator, weights);
        at = half();
#pragma unroll
        for (int k = 0; k < TILE / 16; k++) {
#pragma unroll
            for (int c = 0; c < STEPS; c++) {
                u32 b[4];
                loadTransposed(b, at + chunkPlace<SIZE>(k * 16 + lane % 16, c * 2 + lane / 16));
                mma<T>(o[2 * c], weights[k], b[0], b[1]);
                mma<T>(o[2 * c + 1], weights[k], b[2], b[3]);
            }
        }
        if ((tile + 1) % (SPLIT / TILE) == 0 || tile == lastTile) {
            Merge w = merge(totalMax, totalSum, largest, denominator[0]);
#pragma unroll
            for (int c = 0; c < SIZE / 8; c++) {
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    if (i < 2) {
                        total[c][i] = merged(w, total[c][i], o[c][i]);
                    }
                    o[c][i] = 0.0f;
                }
            }
            largest = NOTHING;
            denominator[0] = 0.0f;
        }
    }

    float inverse = __frcp_rn(totalSum);
    u16* out = p.output + row * p.outputStride + (i64)(firstHead + head) * SIZE + lane % 4 * 2;
    if (head < p.group) {
#pragma unroll
        for (int c = 0; c < SIZE / 8; c++) {
            *(u32*)(out + c * 8) = pack<T>(total[c][0] * inverse, total[c][1] * inverse);
        }
    }
}

#define DECODE_WARP(T, SUFFIX, SIZE, HALVES)                                                                                   \
    extern "C" __global__ void __launch_bounds__(32) attention_decode_warp_##SIZE##_##SUFFIX(ATTENTION_PARAMETERS,             \
        const int* rowSequence, const int* contextLength, float* partials, const int* firstEntry, unsigned* counters) {        \
        attendAlone<T, SIZE, HALVES, false>(ATTENTION, rowSequence, contextLength);                                            \
    }                                                                                                                          \
    extern "C" __global__ void __launch_bounds__(32)                                                                           \
        attention_decode_warp_append_##SIZE##_##SUFFIX(ATTENTION_PARAMETERS, const int* rowSequence, const int* contextLength, \
            float* partials, const int* firstEntry, unsigned* counters, FRESH_PARAMETERS) {                                    \
        attendAlone<T, SIZE, HALVES, true>(ATTENTION, rowSequence, contextLength, FRESH);                                      \
    }

BOTH_TYPES(DECODE_WARP, 64, 4)
BOTH_TYPES(DECODE_WARP, 128, 3)
