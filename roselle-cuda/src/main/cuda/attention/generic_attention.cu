// Rotation, append and attention for every processor, type, head size and page size: right first; the fast kernels are
// rows.cu and attention_*.cu.
//
// output[r][h] = sum over p of softmax(scale * query[r][h] . key[p][h / group])[p] * value[p][h / group], over the positions p
// of the row's sequence up to its own, within the window; a soft cap c makes a score c * tanh(score / c), a sink is the logit
// of one more key without value. Tiles of 64 positions, counted from the sequence's first token, walk an online softmax
// (Milakov and Gimelshein, 2018): a row's bits depend on its query and its sequence alone.
//
// Cache: pages of one layer, `pageElements` numbers each: keys [keyHeads, pageTokens, keySize], then values [keyHeads,
// pageTokens, valueSize]; latent pages have keys alone, whose first valueSize numbers are the value. Of codes, pages of
// `pageElements` bytes, and behind them the scales of keys and of values, in the same order (kv_codes.cuh).
// pageTable: [sequences, maxPages], pages behind the window may be -1. rowSequence, positions: [rows]; a row whose position is
// negative only fills a grid: nothing of it is read, turned or appended, and its output is 0.
// Where a rowStart is given, a row sees its sequence up to the last row of the step instead, and the window counts both ways;
// distances, where there are any, are added to scores before the cap, and slopes times how far a key lies before the row (ALiBi). Where
// queries and keys meet distances (He et al., 2021), what they say is added before the scale.
// Grids, blocks, parameters: tools/cuda-lab/ENTRIES.md.
#include "common/ampere.cuh"
#include "common/elements.cuh"
#include "attention/kv_codes.cuh"
#include "attention/rope.cuh"

constexpr int TILE = 64;
#define NOTHING __int_as_float(0xFF800000)  // minus infinity

struct HeadNorm {
    int kind;  // 0 none, 1 RMS, 2 layer
    const float* weight;
    int step;  // numbers from a head's weight to the next one's; 0 where they share it
    float offset;
    const float* bias;
    float epsilon;
};

struct Rotation {
    const float* inverseFrequencies;
    int pairs;  // 0 where nothing turns
    float factor;
    int interleaved;
};

// Queries are multiplied by 1 + share * ln(1 + floor((position + first) / tokens)).
struct Growth {
    float share;
    int tokens;
    int first;

    __device__ __forceinline__ float at(int position) const {
        int steps = tokens == 0 ? 0 : (int)(((i64)position + first) / tokens);
        return steps == 0 ? 1.0f : 1.0f + share * log1pf((float)steps);
    }
};

struct Pages {
    void* cache;
    int type;
    i64 elements;
    int tokens;
    const int* table;
    int maxPages;
    const int* rowSequence;
    const int* positions;
};

// The first number of a page that has a position of a row's sequence.
__device__ __forceinline__ i64 pageStart(const Pages& pages, int row, int position) {
    return pages.table[(i64)pages.rowSequence[row] * pages.maxPages + position / pages.tokens] * pages.elements;
}

// The keys, or the values, of a layer's pages.
struct Cached {
    i64 first;  // number, or byte, of a page with that of the first head and token
    i64 firstScale;  // byte of a page, where there are codes
    int size;  // numbers of each

    // Key or value `index` of a page, [keyHeads, pageTokens], in float32; all lanes alike.
    struct Row {
        const void* cache;
        int type;
        i64 at;
        int size;
        float scale;
        float least;

        __device__ __forceinline__ float operator[](int d) const {
            return isCoded(type) ? decoded(type, (const u8*)cache + at, size, d, scale, least)
                                 : loadCached(cache, type, at + d);
        }
    };

    // Of keys, and of values; latent pages have no values of their own.
    __device__ __forceinline__ static Cached of(
        const Pages& pages, bool isValue, int keyHeads, int keySize, int valueSize, bool isLatent) {
        i64 heads = (i64)keyHeads * pages.tokens;
        bool behind = isValue && !isLatent;
        if (!isCoded(pages.type)) {
            return {behind ? heads * keySize : 0, 0, behind ? valueSize : keySize};
        }
        int key = codeBytes(pages.type, keySize);
        int value = isLatent ? 0 : codeBytes(pages.type, valueSize);
        i64 scales = heads * (key + value) + (behind ? heads * scaleCount(pages.type) * 4 : 0);
        return {behind ? heads * key : 0, scales, behind ? valueSize : keySize};
    }

    __device__ __forceinline__ Row row(const Pages& pages, i64 page, i64 index) const {
        if (!isCoded(pages.type)) {
            return {pages.cache, pages.type, page + first + index * size, size, 1.0f, 0.0f};
        }
        const u8* scales = (const u8*)pages.cache + page + firstScale + index * scaleCount(pages.type) * 4;
        float least = pages.type == CACHE_INT4 ? floatAt(scales + 4) : 0.0f;
        return {pages.cache, pages.type, page + first + index * codeBytes(pages.type, size), size, floatAt(scales), least};
    }

    // One warp keeps what it has in shared memory, whose numbers its lanes left there themselves: lane, lane + 32, ...
    __device__ __forceinline__ void keep(const Pages& pages, i64 page, i64 index, const float* numbers) const {
        if (isCoded(pages.type)) {
            u8* cache = (u8*)pages.cache + page;
            __syncwarp();
            storeCodes(pages.type, numbers, size, cache + first + index * codeBytes(pages.type, size),
                cache + firstScale + index * scaleCount(pages.type) * 4);
            return;
        }
        for (int d = threadIdx.x; d < size; d += 32) {
            storeCached(pages.cache, pages.type, page + first + index * size + d, numbers[d]);
        }
    }
};

// Number d of a head after rotation, from all its numbers in shared memory.
__device__ __forceinline__ float turned(const float* head, int d, const Rotation& rope, int position) {
    float x = head[d];
    if (d >= 2 * rope.pairs) {
        return x;
    }
    int pair = rope.interleaved ? d / 2 : d % rope.pairs;
    bool isSecond = rope.interleaved ? d & 1 : d >= rope.pairs;
    float other = head[rope.interleaved ? d ^ 1 : isSecond ? d - rope.pairs : d + rope.pairs];
    float sine;
    float cosine;
    turn(position * rope.inverseFrequencies[pair], sine, cosine);
    return x * (cosine * rope.factor) + (isSecond ? other : -other) * (sine * rope.factor);
}

// Normalises the numbers of head `h` in shared memory; one warp. Each number is normalised by the lane that loaded it.
__device__ __forceinline__ void normHead(float* head, int size, int h, const HeadNorm& n) {
    int lane = threadIdx.x;
    float mean = 0.0f;
    if (n.kind == 2) {
        for (int d = lane; d < size; d += 32) {
            mean += head[d];
        }
        mean = warpSum(mean) / size;
    }
    float squares = 0.0f;
    for (int d = lane; d < size; d += 32) {
        float x = head[d] - mean;
        squares = fmaf(x, x, squares);
    }
    float factor = 1.0f / sqrtf(warpSum(squares) / size + n.epsilon);
    for (int d = lane; d < size; d += 32) {
        float y = (head[d] - mean) * factor * (n.weight[h * n.step + d] + n.offset);
        head[d] = n.bias ? y + n.bias[h * n.step + d] : y;
    }
}

// Turns the head that a warp has in shared memory, by way of the row that it came from.
template <class T>
__device__ __forceinline__ void turnHead(Number<T>* from, float* head, int size, const Rotation& rope, int position) {
    __syncwarp();
    for (int d = threadIdx.x; d < size; d += 32) {
        store<T>(from, d, turned(head, d, rope, position));
    }
    __syncwarp();
    for (int d = threadIdx.x; d < size; d += 32) {
        head[d] = load<T>(from, d);
    }
}

// A warp takes a query head, a key head or a value head of a row.
template <class T>
__device__ __forceinline__ void append(Number<T>* query, i64 queryStride, Number<T>* key, i64 keyStride, const Number<T>* value,
    i64 valueStride, int queryHeads, int keyHeads, int keySize, int valueSize, HeadNorm queryNorm, HeadNorm keyNorm,
    Rotation rope, bool normsTurned, Growth growth, Pages pages) {
    extern __shared__ float head[];
    launchNext();
    waitForPrevious();
    int row = blockIdx.x;
    int h = blockIdx.y;
    int lane = threadIdx.x;
    int position = pages.positions[row];
    if (position < 0) {
        return;
    }
    bool isQuery = h < queryHeads;
    h -= isQuery ? 0 : queryHeads;
    bool isValue = !isQuery && h >= keyHeads;
    h -= isValue ? keyHeads : 0;
    i64 page = isQuery ? 0 : pageStart(pages, row, position);
    i64 index = (i64)h * pages.tokens + position % pages.tokens;
    Cached cached = Cached::of(pages, isValue, keyHeads, keySize, valueSize, false);
    if (isValue) {
        const Number<T>* from = value + row * valueStride + h * valueSize;
        for (int d = lane; d < valueSize; d += 32) {
            head[d] = load<T>(from, d);
        }
        cached.keep(pages, page, index, head);
        return;
    }
    Number<T>* from = isQuery ? query + row * queryStride + h * keySize : key + row * keyStride + h * keySize;
    HeadNorm n = isQuery ? queryNorm : keyNorm;
    for (int d = lane; d < keySize; d += 32) {
        head[d] = load<T>(from, d);
    }
    if (n.kind != 0 && normsTurned) {
        turnHead<T>(from, head, keySize, rope, position);
    }
    if (n.kind != 0) {
        normHead(head, keySize, h, n);
    }
    __syncwarp();
    float factor = isQuery ? growth.at(position) : 1.0f;
    rope.pairs = n.kind != 0 && normsTurned ? 0 : rope.pairs;
    for (int d = lane; d < keySize; d += 32) {
        store<T>(from, d, factor * turned(head, d, rope, position));
    }
    if (isQuery) {
        return;
    }
    __syncwarp();
    for (int d = lane; d < keySize; d += 32) {
        head[d] = load<T>(from, d);
    }
    cached.keep(pages, page, index, head);
}

// A warp turns the last numbers of a query head into those of the absorbed head, or appends the latent row.
template <class T>
__device__ __forceinline__ void appendLatent(const Number<T>* query, i64 queryStride, int querySize, Number<T>* latent,
    i64 latentStride, Number<T>* absorbed, i64 absorbedStride, int queryHeads, int keySize, int valueSize, Rotation rope,
    Growth growth, Pages pages) {
    extern __shared__ float head[];
    launchNext();
    waitForPrevious();
    int row = blockIdx.x;
    int h = blockIdx.y;
    int lane = threadIdx.x;
    int position = pages.positions[row];
    if (position < 0) {
        return;
    }
    int count = keySize - valueSize;
    bool isQuery = h < queryHeads;
    const Number<T>* from =
        isQuery ? query + row * queryStride + (h + 1) * querySize - count : latent + row * latentStride + valueSize;
    Number<T>* to =
        isQuery ? absorbed + row * absorbedStride + (i64)(h + 1) * keySize - count : latent + row * latentStride + valueSize;
    for (int d = lane; d < count; d += 32) {
        head[d] = load<T>(from, d);
    }
    __syncwarp();
    float factor = isQuery ? growth.at(position) : 1.0f;
    for (int d = lane; d < count; d += 32) {
        store<T>(to, d, factor * turned(head, d, rope, position));
    }
    if (isQuery) {
        for (int d = lane; d < valueSize && factor != 1.0f; d += 32) {
            store<T>(to - valueSize, d, factor * load<T>(to - valueSize, d));
        }
        return;
    }
    __syncwarp();
    for (int d = lane; d < keySize; d += 32) {
        head[d] = load<T>(latent, row * latentStride + d);
    }
    Cached cached = Cached::of(pages, false, 1, keySize, valueSize, true);
    cached.keep(pages, pageStart(pages, row, position), position % pages.tokens, head);
}

// How attention goes both ways; all zeros where it does not.
struct BothWays {
    const int* rowStart;  // [sequences + 1]
    const float* distances;  // [queryHeads, 2 * span + 1], or null
    int span;

    // Until where a row sees that would see until `end`.
    __device__ __forceinline__ int end(const Pages& pages, int row, int end, int window) const {
        if (!rowStart || end <= 0) {
            return end;
        }
        int sequenceEnd = end + rowStart[pages.rowSequence[row] + 1] - row - 1;
        return window == 0 ? sequenceEnd : min(sequenceEnd, end - 1 + window);
    }

    __device__ __forceinline__ float added(int head, int distance) const {
        return distances[head * (2 * span + 1) + span + max(-span, min(span, distance))];
    }
};

// What queries and keys say of the distance between them; all zeros where they do not.
template <class T>
struct Meeting {
    const Number<T>* ofQueries;  // [rows, queryHeads, count]
    i64 queriesStride;
    const Number<T>* ofKeys;  // the same
    i64 keysStride;
    int count;  // kinds of distances
    const float* kinds;  // [2 * farthest + 1], or null
    int farthest;

    __device__ __forceinline__ float added(int row, int head, int distance) const {
        int kind = head * count + (int)kinds[farthest + max(-farthest, min(farthest, distance))];
        return load<T>(ofQueries, row * queriesStride + kind) + load<T>(ofKeys, (row + distance) * keysStride + kind);
    }
};

// The first position that a row sees; a window below 0 does not slide, but begins at the last multiple of it (Llama 4).
__device__ __forceinline__ int firstSeen(int window, int position) {
    if (window < 0) {
        return position / -window * -window;
    }
    return window == 0 ? 0 : max(0, position + 1 - window);
}

// A block of 4 warps takes a query head of a row.
template <class T>
__device__ __forceinline__ void attention(const Number<T>* query, i64 queryStride, Pages pages, int queryHeads, int keyHeads,
    int keySize, int valueSize, int latent, float scale, float softCap, int window, const float* sinks, const float* slopes,
    BothWays sight, Meeting<T> meeting, Number<T>* output, i64 outputStride) {
    extern __shared__ float shared[];
    float* asked = shared;  // [keySize]
    float* scores = asked + keySize;  // [TILE]
    float* sums = scores + TILE;  // [valueSize]
    launchNext();
    waitForPrevious();
    int row = blockIdx.x;
    int h = blockIdx.y;
    int keyHead = h / (queryHeads / keyHeads);
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    const int* table = pages.table + (i64)pages.rowSequence[row] * pages.maxPages;
    for (int d = threadIdx.x; d < keySize; d += 128) {
        asked[d] = load<T>(query, row * queryStride + h * keySize + d);
    }
    for (int d = threadIdx.x; d < valueSize; d += 128) {
        sums[d] = 0.0f;
    }
    Cached keys = Cached::of(pages, false, keyHeads, keySize, valueSize, latent);
    Cached values = Cached::of(pages, true, keyHeads, keySize, valueSize, latent);
    i64 headRows = (i64)keyHead * pages.tokens;
    float largest = sinks ? sinks[h] : NOTHING;
    float denominator = sinks ? 1.0f : 0.0f;
    float slope = slopes ? slopes[h] : 0.0f;
    int own = pages.positions[row];
    int first = firstSeen(window, own);
    int end = sight.end(pages, row, own + 1, window);
    for (int tile = first / TILE * TILE; tile < end; tile += TILE) {
        int from = max(tile, first);
        int to = min(tile + TILE, end);
        __syncthreads();
        for (int p = from + warp; p < to; p += 4) {
            Cached::Row key = keys.row(pages, table[p / pages.tokens] * pages.elements, headRows + p % pages.tokens);
            float product = 0.0f;
            for (int d = lane; d < keySize; d += 32) {
                product = fmaf(asked[d], key[d], product);
            }
            product = warpSum(product);
            if (meeting.kinds) {
                product += meeting.added(row, h, p - own);
            }
            product = fmaf(slope, (float)(own - p), product * scale);
            if (sight.distances) {
                product += sight.added(h, p - own);
            }
            if (lane == 0) {
                scores[p - tile] = softCap == 0.0f ? product : softCap * tanhf(product / softCap);
            }
        }
        __syncthreads();
        float one = tile + lane >= from && tile + lane < to ? scores[lane] : NOTHING;
        float other = tile + lane + 32 >= from && tile + lane + 32 < to ? scores[lane + 32] : NOTHING;
        float next = fmaxf(one, other);
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            next = fmaxf(next, __shfl_xor_sync(~0u, next, distance));
        }
        next = fmaxf(largest, next);
        one = expf(one - next);
        other = expf(other - next);
        float shrink = expf(largest - next);
        denominator = denominator * shrink + warpSum(one + other);
        largest = next;
        __syncthreads();
        if (warp == 0) {
            scores[lane] = one;
            scores[lane + 32] = other;
        }
        __syncthreads();
        for (int d = threadIdx.x; d < valueSize; d += 128) {
            float sum = sums[d] * shrink;
            for (int p = from; p < to; p++) {
                i64 page = table[p / pages.tokens] * pages.elements;
                sum = fmaf(scores[p - tile], values.row(pages, page, headRows + p % pages.tokens)[d], sum);
            }
            sums[d] = sum;
        }
    }
    for (int d = threadIdx.x; d < valueSize; d += 128) {
        store<T>(output, row * outputStride + h * valueSize + d, end > 0 ? sums[d] / denominator : 0.0f);
    }
}

#define PAGES                                                                                                                 \
    void *cache, int cacheType, i64 pageElements, int pageTokens, const int *pageTable, int maxPages, const int *rowSequence, \
        const int *positions
#define PAGES_GIVEN                                                                             \
    Pages {                                                                                     \
        cache, cacheType, pageElements, pageTokens, pageTable, maxPages, rowSequence, positions \
    }
#define ROTATION const float *inverseFrequencies, int pairs, float factor, int interleaved
#define GROWTH float growthShare, int growthTokens, int growthFirst
#define GROWTH_GIVEN                           \
    Growth {                                   \
        growthShare, growthTokens, growthFirst \
    }
#define ROTATION_GIVEN                                 \
    Rotation {                                         \
        inverseFrequencies, pairs, factor, interleaved \
    }

#define ATTENTION(T, SUFFIX)                                                                                                  \
    extern "C" __global__ void __launch_bounds__(32) append_##SUFFIX(Number<T>* query, i64 queryStride, Number<T>* key,       \
        i64 keyStride, const Number<T>* value, i64 valueStride, int queryHeads, int keyHeads, int keySize, int valueSize,     \
        int queryNorm, const float* queryWeight, int queryWeightStep, float queryOffset, const float* queryBias,              \
        float queryEpsilon, int keyNorm, const float* keyWeight, int keyWeightStep, float keyOffset, const float* keyBias,    \
        float keyEpsilon, ROTATION, int normsTurned, GROWTH, PAGES) {                                                         \
        HeadNorm ofQuery = {queryNorm, queryWeight, queryWeightStep, queryOffset, queryBias, queryEpsilon};                   \
        HeadNorm ofKey = {keyNorm, keyWeight, keyWeightStep, keyOffset, keyBias, keyEpsilon};                                 \
        append<T>(query, queryStride, key, keyStride, value, valueStride, queryHeads, keyHeads, keySize, valueSize, ofQuery,  \
            ofKey, ROTATION_GIVEN, normsTurned != 0, GROWTH_GIVEN, PAGES_GIVEN);                                              \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(32)                                                                          \
        append_latent_##SUFFIX(const Number<T>* query, i64 queryStride, int querySize, Number<T>* latent, i64 latentStride,   \
            Number<T>* absorbed, i64 absorbedStride, int queryHeads, int keySize, int valueSize, ROTATION, GROWTH, PAGES) {   \
        appendLatent<T>(query, queryStride, querySize, latent, latentStride, absorbed, absorbedStride, queryHeads, keySize,   \
            valueSize, ROTATION_GIVEN, GROWTH_GIVEN, PAGES_GIVEN);                                                            \
    }                                                                                                                         \
    extern "C" __global__ void __launch_bounds__(128)                                                                         \
        attention_##SUFFIX(const Number<T>* query, i64 queryStride, int queryHeads, int keyHeads, int keySize, int valueSize, \
            int latent, float scale, float softCap, int window, const float* sinks, const float* slopes, const int* rowStart, \
            const float* distances, int span, const Number<T>* ofQueries, i64 queriesStride, const Number<T>* ofKeys,         \
            i64 keysStride, int kindCount, const float* kinds, int farthest, Number<T>* output, i64 outputStride, PAGES) {    \
        attention<T>(query, queryStride, PAGES_GIVEN, queryHeads, keyHeads, keySize, valueSize, latent, scale, softCap,       \
            window, sinks, slopes, BothWays{rowStart, distances, span},                                                       \
            Meeting<T>{ofQueries, queriesStride, ofKeys, keysStride, kindCount, kinds, farthest}, output, outputStride);      \
    }

ATTENTION(F32, f32)
ATTENTION(Bf16, bf16)
ATTENTION(F16, f16)
