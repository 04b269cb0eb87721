// The delta rule of generic_state.cu on tensor cores: keys of 128 numbers, values of a multiple of 64, pages of 16 tokens, rows
// of 16 bits. State in a page: [valueHeads, valueSize, 128].
//
// delta_rule_rows: a block has 64 numbers of a value head of a sequence, and walks its pages. Four warps have the state in
// their registers (delta.cuh) and take a page of 16 rows at a time; four others meanwhile make ready what the next page's rows
// have but for the state: keys and queries of unit length, products among them, values, and the first of them decays. Rows that
// the page has from earlier steps come as they were kept, with weights that leave them as they are. Eight warps are as many as
// can have 255 registers each, which those with the state need.
// delta_rule_decode: a block has some value heads of a key head of a sequence with one row in the step; the bits are the same.
// It is bound by reading states, the next of which is on its way while one is used.
//
// Where sums have an order: products over keys in that of delta.cuh's instructions; then
//     d(i) = beta(i) (v(i) - e^G(i) S^T k(i)) - sum over j < i, ascending, fused; output(i) by two instructions over all j.
// Grids, blocks, parameters: tools/cuda-lab/ENTRIES.md.
#include "state/delta.cuh"

constexpr int WARPS = 4;  // with the state, and as many beside them
constexpr int TILE = WARPS * PIECE;
constexpr int VALUE_STRIDE = TILE + 4;
constexpr int STAGES = 3;
constexpr int DECODE_HEADS = 4;  // that a block has at most

// What is made ready of a page.
struct Prepared {
    float keys[PAGE * KEY];  // rounded
    float queries[PAGE * KEY];
    float values[PAGE * VALUE_STRIDE];
    float correctionWeights[PAGE * PAGE];  // [i, j]
    float outputWeights[PAGE * PAGE];  // [i, tokenAt(j)]
    float decays[PAGE];  // e^G; 0 for rows of earlier steps
    float betas[PAGE];  // 1 for rows of earlier steps
    float sums[PAGE];
    float ages[PAGE];  // [tokenAt(j)], e^(G(last) - G)
};

// Numbers of a page on their way, each thread's for itself.
struct Fetched {
    uint2 keys[PAGE / WARPS][32 * WARPS];
    uint2 queries[PAGE / WARPS][32 * WARPS];
    uint2 values[2][32 * WARPS];
};

// What a block for many rows has in shared memory.
struct RowsShared {
    Prepared ready[2];
    Fetched fetched[STAGES];
    float pieces[TILE * PIECE_STRIDE];
};

// Which tokens of a page a step has.
struct PageRows {
    int row;  // that of the page's first token, if it had one
    int from;
    int until;

    __device__ __forceinline__ PageRows(const StateRows& rows, int index) {
        row = rows.first + index * PAGE - rows.position;
        from = max(0, rows.first - row);
        until = min(PAGE, rows.end - row);
    }

    __device__ __forceinline__ bool has(int token) const {
        return token >= from && token < until;
    }
};

template <class T>
struct DeltaInputs {
    const u16* query;
    i64 queryStride;
    const u16* key;
    i64 keyStride;
    const u16* value;
    i64 valueStride;
    const u16* a;
    i64 aStride;
    const u16* b;
    i64 bStride;
    const float* rate;
    const float* timeBias;

    // Whether queries, keys and values can be read eight bytes at a time.
    __device__ __forceinline__ bool areWhole() const {
        return (((u64)query | (u64)key | (u64)value) & 7) == 0 && ((queryStride | keyStride | valueStride) & 3) == 0;
    }
};

// Four numbers on their way, zeros where there are none.
__device__ __forceinline__ void fetchFour(uint2& target, const u16* from, bool present, bool isWhole) {
    if (isWhole) {
        asm volatile(
            "cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(sharedAddress(&target)), "l"(from), "r"(present ? 8 : 0)
            : "memory");
    } else {
        target = present ? loadFour(from) : make_uint2(0, 0);
    }
}

// `thread` of 128: each warp has four tokens' keys and queries, each thread eight numbers of a token's value.
template <class T>
__device__ __forceinline__ void fetch(Fetched& fetched, const DeltaInputs<T>& in, const DeltaHeads& heads, int head, int column,
    const PageRows& rows, int thread, bool isWhole) {
#pragma unroll
    for (int i = 0; i < PAGE / WARPS; i++) {
        int token = thread / 32 * (PAGE / WARPS) + i;
        bool present = rows.has(token);
        i64 row = present ? rows.row + token : 0;
        int at = heads.keyAt(head) + 4 * (thread % 32);
        fetchFour(fetched.keys[i][thread], in.key + row * in.keyStride + at, present, isWhole);
        fetchFour(fetched.queries[i][thread], in.query + row * in.queryStride + at, present, isWhole);
    }
    bool present = rows.has(thread / 8);
    i64 row = present ? rows.row + thread / 8 : 0;
    const u16* from = in.value + row * in.valueStride + head * heads.valueSize + column + thread % 8 * 8;
    fetchFour(fetched.values[0][thread], from, present, isWhole);
    fetchFour(fetched.values[1][thread], from + 4, present, isWhole);
}

// Where those that make a page ready meet.
__device__ __forceinline__ void together() {
    __syncwarp();
    asm volatile("bar.sync 1, 128;" ::: "memory");
}

// Where they and those with the state meet: a page is ready, and the one before it is done with. They come from different
// places, which __syncthreads() is not for.
__device__ __forceinline__ void handOver() {
    __syncwarp();
    asm volatile("bar.sync 2, 256;" ::: "memory");
}

__device__ __forceinline__ float4 floats(uint2 words, Bf16) {
    return make_float4(lowHalf<Bf16>(words.x), highHalf<Bf16>(words.x), lowHalf<Bf16>(words.y), highHalf<Bf16>(words.y));
}

__device__ __forceinline__ float4 floats(uint2 words, F16) {
    return make_float4(lowHalf<F16>(words.x), highHalf<F16>(words.x), lowHalf<F16>(words.y), highHalf<F16>(words.y));
}

// Keys, queries and values of a page, and products among them; page is null where it is not kept.
template <class T>
__device__ __forceinline__ void prepare(Prepared& ready, const Fetched& fetched, const DeltaHeads& heads, int head, int column,
    const PageRows& rows, float* page, int thread) {
    int lane = thread % 32;
    int warp = thread / 32;
    i64 rowSize = heads.rowSize();
    bool keeps = page && column == 0 && heads.isFirst(head);
    float4 keys[PAGE / WARPS];
    float4 queries[PAGE / WARPS];
#pragma unroll
    for (int i = 0; i < PAGE / WARPS; i++) {
        keys[i] = unit<T>(fetched.keys[i][thread], 1.0f);
        queries[i] = unit<T>(fetched.queries[i][thread], QUERY_SCALE);
    }
    if (rows.from > 0 || keeps) {
#pragma unroll
        for (int i = 0; i < PAGE / WARPS; i++) {
            int token = warp * (PAGE / WARPS) + i;
            float* kept = page + token * rowSize + heads.keyAt(head) + 4 * lane;
            if (token < rows.from) {
                keys[i] = make_float4(kept[0], kept[1], kept[2], kept[3]);
            } else if (token < rows.until && keeps) {
                kept[0] = keys[i].x, kept[1] = keys[i].y, kept[2] = keys[i].z, kept[3] = keys[i].w;
            }
        }
    }
#pragma unroll
    for (int i = 0; i < PAGE / WARPS; i++) {
        int at = groupAt(warp * (PAGE / WARPS) + i, lane);
        *(float4*)(ready.keys + at) = rounded(keys[i]);
        *(float4*)(ready.queries + at) = rounded(queries[i]);
    }
    int token = thread / 8;
    float* values = ready.values + token * VALUE_STRIDE + thread % 8 * 8;
    *(float4*)values = floats(fetched.values[0][thread], T());
    *(float4*)(values + 4) = floats(fetched.values[1][thread], T());
    if (token < rows.from) {
        const float* kept = page + token * rowSize + heads.correctionAt(head) + column + thread % 8 * 8;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            values[i] = kept[i];
        }
    }
    together();
    // products of keys with 8 keys, or queries, a warp: sums [j, i]
    float scores[4] = {};
    bool isQuery = warp >= 2;
    int first = warp % 2 * 8;
    multiplyKeys(scores, ready.keys, (isQuery ? ready.queries : ready.keys) + first * KEY);
#pragma unroll
    for (int n = 0; n < 4; n++) {
        int j = lane / 4 + n / 2 * 8;
        int i = first + 2 * (lane % 4) + n % 2;
        float decay = expf(__fsub_rn(ready.sums[i], ready.sums[j]));
        if (isQuery) {
            ready.outputWeights[i * PAGE + tokenAt(j)] = j <= i ? outputWeight(decay, scores[n]) : 0.0f;
        } else {
            ready.correctionWeights[i * PAGE + j] =
                j < i && rows.has(i) ? correctionWeight(ready.betas[i], decay, scores[n]) : 0.0f;
        }
    }
}

// What decays and betas of a page come from, on their way: a lane for each token.
template <class T>
struct Gates {
    const DeltaInputs<T>& in;
    int head;
    float rate;
    float timeBias;
    float a = 0.0f;
    float b = 0.0f;

    __device__ __forceinline__ Gates(const DeltaInputs<T>& in, int head)
        : in(in), head(head), rate(in.rate[head]), timeBias(in.timeBias[head]) {}

    __device__ __forceinline__ void fetch(const StateRows& rows, const PageRows& page) {
        int lane = threadIdx.x % 32;
        i64 row = page.has(lane) ? page.row + lane : rows.first;
        a = toFloat<T>(in.a[row * in.aStride + head]);
        b = toFloat<T>(in.b[row * in.bStride + head]);
    }

    __device__ __forceinline__ float decay() const {
        return deltaDecay(rate, a, timeBias);
    }

    __device__ __forceinline__ float beta() const {
        return deltaBeta(b);
    }
};

// Decays of a page, by a warp: g and beta of lanes that are tokens of the step.
__device__ __forceinline__ void prepareDecays(
    Prepared& ready, float g, float beta, const DeltaHeads& heads, int head, int column, const PageRows& rows, float* page) {
    int lane = threadIdx.x % 32;
    i64 at = (i64)lane * heads.rowSize() + heads.sumAt(head);
    bool isNew = rows.has(lane);
    float own = isNew ? g : 0.0f;
    float kept = 0.0f;
    if (rows.from > 0) {
        kept = lane < rows.from ? page[at] : 0.0f;
    }
    float sum = 0.0f;
    float last = 0.0f;
#pragma unroll
    for (int i = 0; i < PAGE; i++) {
        float ofToken = __shfl_sync(~0u, i < rows.from ? kept : own, i);
        last = i < rows.from || i == 0 ? ofToken : i < rows.until ? __fadd_rn(last, ofToken) : last;
        sum = lane == i ? last : sum;
    }
    if (lane < PAGE) {
        if (isNew && page && column == 0) {
            page[at] = sum;
        }
        ready.sums[lane] = sum;
        ready.ages[tokenAt(lane)] = expf(__fsub_rn(last, sum));
        ready.decays[lane] = isNew ? expf(sum) : 0.0f;
        ready.betas[lane] = isNew ? beta : lane < rows.from ? 1.0f : 0.0f;
    }
    __syncwarp();
}

// d(i) minus what the weights say of those before it.
__device__ __forceinline__ float corrected(float d, const float* weights, const float (&earlier)[PAGE], int count) {
#pragma unroll
    for (int j = 0; j < PAGE; j += 4) {
        if (j < count) {
            float4 w = *(const float4*)(weights + j);
            d = __fmaf_rn(w.x, earlier[j], d);
            d = j + 1 < count ? __fmaf_rn(w.y, earlier[j + 1], d) : d;
            d = j + 2 < count ? __fmaf_rn(w.z, earlier[j + 2], d) : d;
            d = j + 3 < count ? __fmaf_rn(w.w, earlier[j + 3], d) : d;
        }
    }
    return d;
}

// A warp's piece of a page's rows.
template <class T>
__device__ __forceinline__ void advance(DeltaState& state, const Prepared& ready, float* piece, const DeltaHeads& heads,
    int head, int column, const PageRows& rows, float* page, u16* output, i64 outputStride) {
    int lane = threadIdx.x % 32;
    int inTile = threadIdx.x / 32 * PIECE;
    float seen[4][4] = {};  // of the keys of tokens 0 to 7, 8 to 15, and of the queries
    float odd[4][4] = {};
    Groups groups(lane / 4, lane % 4);
#pragma unroll
    for (int t = 0; t < KEY / 16; t++) {
        int at = groups.at(t);
        float4 b[4] = {*(const float4*)(ready.keys + at), *(const float4*)(ready.keys + 8 * KEY + at),
            *(const float4*)(ready.queries + at), *(const float4*)(ready.queries + 8 * KEY + at)};
        state.add(t, b, seen, odd);
    }
#pragma unroll
    for (int n = 0; n < 4; n++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int token = 8 * (n % 2) + 2 * (lane % 4) + i % 2;
            int number = lane / 4 + i / 2 * 8;
            seen[n][i] = __fadd_rn(seen[n][i], odd[n][i]);
            if (n < 2) {
                float value = ready.values[token * VALUE_STRIDE + inTile + number];
                piece[number * PIECE_STRIDE + tokenAt(token)] =
                    uncorrected(ready.betas[token], value, ready.decays[token], seen[n][i]);
            } else {
                seen[n][i] = __fmul_rn(ready.decays[token], seen[n][i]);
            }
        }
    }
    __syncwarp();
    float d[PAGE];
    int own = lane % 16;  // the other half does the same
#pragma unroll
    for (int j = 0; j < 4; j++) {
        float4 four = *(const float4*)(piece + own * PIECE_STRIDE + 4 * j);
        d[j] = four.x, d[j + 4] = four.y, d[j + 8] = four.z, d[j + 12] = four.w;
    }
#pragma unroll
    for (int i = 1; i < PAGE; i++) {
        d[i] = corrected(d[i], ready.correctionWeights + i * PAGE, d, i);
    }
    __syncwarp();
    if (lane < 16) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            *(float4*)(piece + own * PIECE_STRIDE + 4 * j) = make_float4(d[j], d[j + 4], d[j + 8], d[j + 12]);
        }
        if (page) {
            float* kept = page + heads.correctionAt(head) + column + inTile + own;
#pragma unroll
            for (int j = 0; j < PAGE; j++) {
                if (rows.has(j)) {
                    kept[(i64)j * heads.rowSize()] = d[j];
                }
            }
        }
    }
    __syncwarp();
    float4 low = *(const float4*)(piece + lane / 4 * PIECE_STRIDE + 4 * (lane % 4));
    float4 high = *(const float4*)(piece + (lane / 4 + 8) * PIECE_STRIDE + 4 * (lane % 4));
    Corrections corrections({low.x, low.y, low.z, low.w}, {high.x, high.y, high.z, high.w}, ready.ages);
    if (rows.until == PAGE) {
        state.advance(ready.decays[PAGE - 1], corrections.aged, ready.keys);
    }
    __syncwarp();
#pragma unroll
    for (int n = 0; n < 2; n++) {
        corrections.add(seen[2 + n], *(const float4*)(ready.outputWeights + (lane / 4 + 8 * n) * PAGE + 4 * (lane % 4)));
#pragma unroll
        for (int i = 0; i < 4; i++) {  // [token, number of the value]
            piece[(8 * n + 2 * (lane % 4) + i % 2) * PIECE_STRIDE + lane / 4 + i / 2 * 8] = seen[2 + n][i];
        }
    }
    __syncwarp();
    int token = lane / 2;
    if (rows.has(token)) {
        const float* from = piece + token * PIECE_STRIDE + lane % 2 * 8;
        u16* to = output + (i64)(rows.row + token) * outputStride + head * heads.valueSize + column + inTile + lane % 2 * 8;
        float4 first = *(const float4*)from;
        float4 last = *(const float4*)(from + 4);
        uint4 words =
            make_uint4(pack<T>(first.x, first.y), pack<T>(first.z, first.w), pack<T>(last.x, last.y), pack<T>(last.z, last.w));
        if (((u64)to & 15) == 0) {
            *(uint4*)to = words;
        } else {
            u32 all[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
            for (int i = 0; i < 8; i++) {
                to[i] = (u16)(all[i / 2] >> i % 2 * 16);
            }
        }
    }
    __syncwarp();
}

template <class T>
__device__ __forceinline__ void deltaRows(
    const DeltaInputs<T>& in, u16* output, i64 outputStride, const DeltaHeads& heads, int byRow, const StatePages& pages) {
    extern __shared__ __align__(16) float shared[];
    launchNext();
    int tiles = heads.valueSize / TILE;
    int column = blockIdx.x % tiles * TILE;
    int head = blockIdx.x / tiles % heads.valueHeads;
    int warp = threadIdx.x / 32;
    waitForPrevious();
    StateRows rows(pages, blockIdx.x / tiles / heads.valueHeads, byRow != 0);
    if (rows.first == rows.end) {
        return;
    }
    RowsShared& block = *(RowsShared*)shared;
    int firstPage = rows.position / PAGE;
    int lastPage = (rows.position + rows.end - rows.first - 1) / PAGE;
    float* next = pages.page(rows.sequence, firstPage);
    if (warp >= WARPS) {
        int thread = threadIdx.x - 32 * WARPS;
        bool hasDecays = warp == WARPS;
        bool isWhole = in.areWhole();
        Gates<T> gates(in, head);
        if (hasDecays) {
            gates.fetch(rows, PageRows(rows, firstPage));
        }
#pragma unroll
        for (int i = 0; i < STAGES - 1; i++) {
            fetch<T>(block.fetched[i], in, heads, head, column, PageRows(rows, firstPage + i), thread, isWhole);
            copyCommit();
        }
        int stage = 0;
        for (int index = firstPage; index <= lastPage; index++) {
            float* page = next;
            next = index < lastPage ? pages.page(rows.sequence, index + 1) : nullptr;
            int free = stage == 0 ? STAGES - 1 : stage - 1;
            fetch<T>(block.fetched[free], in, heads, head, column, PageRows(rows, index + STAGES - 1), thread, isWhole);
            copyCommit();
            Prepared& ready = block.ready[index % 2];
            PageRows here(rows, index);
            if (hasDecays) {
                prepareDecays(ready, gates.decay(), gates.beta(), heads, head, column, here, page);
                gates.fetch(rows, PageRows(rows, index + 1));
            }
            copyWait<STAGES - 1>();
            prepare<T>(ready, block.fetched[stage], heads, head, column, here, page, thread);
            stage = stage == STAGES - 1 ? 0 : stage + 1;
            handOver();
        }
        return;
    }
    int inTile = warp * PIECE;
    i64 stateAt = heads.stateAt(head, PAGE) + (i64)(column + inTile) * KEY;
    DeltaState state;
    if (firstPage > 0) {
        state.read(pages.page(rows.sequence, firstPage - 1) + stateAt);
    } else {
        state.clear();
    }
    for (int index = firstPage; index <= lastPage; index++) {
        float* page = next;
        next = index < lastPage ? pages.page(rows.sequence, index + 1) : nullptr;
        PageRows here(rows, index);
        handOver();
        advance<T>(state, block.ready[index % 2], block.pieces + inTile * PIECE_STRIDE, heads, head, column, here, page, output,
            outputStride);
        if (page && here.until == PAGE) {
            state.write(page + stateAt);
        }
    }
}

// What a block of one row has in shared memory; then corrections of two heads [PAGE, valueSize + 8], and a state, each
// thread's numbers for itself.
struct DecodeShared {
    float keys[PAGE * KEY];
    float both[8 * KEY];  // key, query, zeros
    float correctionWeights[DECODE_HEADS][PAGE];
    float outputWeights[DECODE_HEADS][PAGE];  // [tokenAt(j)]
    float ages[DECODE_HEADS][PAGE];  // [tokenAt(j)]
    float betas[DECODE_HEADS];
    float decays[DECODE_HEADS];  // e^G
};

// A row of a sequence.
template <class T>
struct DecodeRow {
    const DeltaInputs<T>& in;
    const DeltaHeads& heads;
    int row;
    int token;
    float* page;
    const float* before;  // null where nothing came before

    // A state's piece and the corrections of the page's earlier tokens on their way; the warp's own.
    __device__ __forceinline__ void fetch(int head, float4* state, float* corrections, int stride) const {
        int lane = threadIdx.x % 32;
        int number = threadIdx.x / 32 * PIECE;
        if (before) {
            const float* from = before + heads.stateAt(head, PAGE) + (i64)(number + lane / 4) * KEY + 4 * (lane % 4);
#pragma unroll
            for (int t = 0; t < KEY / 16; t++) {
                copy16(sharedAddress(state + 64 * t), from + 16 * t, true);
                copy16(sharedAddress(state + 64 * t + 32), from + 8 * KEY + 16 * t, true);
            }
        }
        const float* earlier = page + heads.correctionAt(head) + number + lane % 16;
        for (int j = lane / 16; j < token; j += 2) {
            asm volatile(
                "cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(sharedAddress(corrections + j * stride + number + lane % 16)),
                "l"(earlier + (i64)j * heads.rowSize())
                : "memory");
        }
    }

    // Keys of the page, and what their products are for each head; all threads.
    __device__ __forceinline__ void ready(
        DecodeShared& block, int keyHead, int firstHead, int step, int count, int threads) const {
        int lane = threadIdx.x % 32;
        int warp = threadIdx.x / 32;
        i64 rowSize = heads.rowSize();
        int keyAt = keyHead * KEY;
#pragma unroll 4
        for (int at = threadIdx.x; at < PAGE * KEY; at += threads) {
            int j = at / KEY;
            int number = at % KEY;
            float key = j < token ? page[j * rowSize + keyAt + number] : 0.0f;
            if (j != token) {
                block.keys[groupAt(j, number / 4) + number % 4] = rounded(key);
            }
        }
        for (int at = threadIdx.x; at < 6 * KEY; at += threads) {
            block.both[2 * KEY + at] = 0.0f;
        }
        if (warp == 0) {
            float4 key = unit<T>(loadFour(in.key + row * in.keyStride + keyAt + 4 * lane), 1.0f);
            if (heads.isFirst(firstHead)) {
                float* kept = page + token * rowSize + keyAt + 4 * lane;
                kept[0] = key.x, kept[1] = key.y, kept[2] = key.z, kept[3] = key.w;
            }
            *(float4*)(block.keys + groupAt(token, lane)) = rounded(key);
            *(float4*)(block.both + groupAt(0, lane)) = rounded(key);
        } else if (warp == 1) {
            float4 query = unit<T>(loadFour(in.query + row * in.queryStride + keyAt + 4 * lane), QUERY_SCALE);
            *(float4*)(block.both + groupAt(1, lane)) = rounded(query);
        }
        bool isDecays = warp == 2 || warp == 3;
        int index = warp % 2 * 2 + lane / PAGE;
        int j = lane % PAGE;
        float decay = 0.0f;
        float beta = 0.0f;
        if (isDecays) {
            int head = firstHead + min(index, count - 1) * step;
            float g = deltaDecay(in.rate[head], toFloat<T>(in.a[row * in.aStride + head]), in.timeBias[head]);
            beta = deltaBeta(toFloat<T>(in.b[row * in.bStride + head]));
            float sum = j < token ? page[j * rowSize + heads.sumAt(head)] : 0.0f;
            float last = __shfl_sync(~0u, sum, lane / PAGE * PAGE + max(0, token - 1));
            float total = token == 0 ? g : __fadd_rn(last, g);
            decay = expf(__fsub_rn(total, j < token ? sum : total));
            block.ages[index][tokenAt(j)] = decay;
            if (j == 0) {
                block.betas[index] = beta;
                block.decays[index] = expf(total);
            }
            if (j == token && index < count) {
                page[j * rowSize + heads.sumAt(head)] = total;
            }
        }
        __syncthreads();
        if (isDecays) {
            float scores[4] = {};
            multiplyKeys(scores, block.keys, block.both);
            float low[2];
            float high[2];
#pragma unroll
            for (int n = 0; n < 2; n++) {
                low[n] = __shfl_sync(~0u, scores[n], 4 * (j % 8));
                high[n] = __shfl_sync(~0u, scores[2 + n], 4 * (j % 8));
            }
            block.correctionWeights[index][j] = j < token ? correctionWeight(beta, decay, j < 8 ? low[0] : high[0]) : 0.0f;
            block.outputWeights[index][tokenAt(j)] = j <= token ? outputWeight(decay, j < 8 ? low[1] : high[1]) : 0.0f;
        }
    }
};

template <class T>
__device__ __forceinline__ void deltaDecode(const DeltaInputs<T>& in, u16* output, i64 outputStride, const DeltaHeads& heads,
    int headsOfBlock, const StatePages& pages) {
    extern __shared__ __align__(16) float shared[];
    launchNext();
    int together = heads.valueHeads / heads.keyHeads;
    int parts = (together + headsOfBlock - 1) / headsOfBlock;
    int part = blockIdx.x % parts * headsOfBlock;
    int keyHead = blockIdx.x / parts % heads.keyHeads;
    int r = blockIdx.x / parts / heads.keyHeads;
    int count = min(headsOfBlock, together - part);
    int step = heads.takesTurns ? heads.keyHeads : 1;
    int firstHead = heads.takesTurns ? part * heads.keyHeads + keyHead : keyHead * together + part;
    int lane = threadIdx.x % 32;
    int number = threadIdx.x / 32 * PIECE;
    int threads = 2 * heads.valueSize;
    int stride = heads.valueSize + 8;
    waitForPrevious();
    int position = pages.positions[r];
    if (position < 0) {
        return;
    }
    DecodeShared& block = *(DecodeShared*)shared;
    float* corrections = (float*)(&block + 1);
    float4* fetched = (float4*)(corrections + 2 * PAGE * stride) + number / PIECE * (PIECE * KEY / 4) + lane;
    int sequence = pages.rowSequence[r];
    int token = position % PAGE;
    float* page = pages.page(sequence, position / PAGE);
    const float* before = position >= PAGE ? pages.page(sequence, position / PAGE - 1) : nullptr;
    DecodeRow<T> row = {in, heads, r, token, page, before};
    row.fetch(firstHead, fetched, corrections, stride);
    copyCommit();
    const u16* values = in.value + r * in.valueStride + number + lane / 4;
    float low = toFloat<T>(values[firstHead * heads.valueSize]);
    float high = toFloat<T>(values[firstHead * heads.valueSize + 8]);
    for (int at = lane; at < 2 * PAGE * PIECE; at += 32) {  // tokens that are not there yet
        int j = at / PIECE % PAGE;
        if (j > token) {
            corrections[(at / PIECE / PAGE * PAGE + j) * stride + number + at % PIECE] = 0.0f;
        }
    }
    row.ready(block, keyHead, firstHead, step, count, threads);
    DeltaState state;
    state.clear();
    Groups groups(lane / 4, lane % 4);
    for (int i = 0; i < count; i++) {
        int head = firstHead + i * step;
        float* own = corrections + i % 2 * PAGE * stride + number;
        copyWait<0>();
        __syncwarp();
        if (before) {
#pragma unroll
            for (int t = 0; t < KEY / 16; t++) {
                state.take(t, fetched[64 * t], fetched[64 * t + 32]);
            }
        }
        float lowValue = low;
        float highValue = high;
        if (i + 1 < count) {
            row.fetch(head + step, fetched, corrections + (i + 1) % 2 * PAGE * stride, stride);
            copyCommit();
            low = toFloat<T>(values[(head + step) * heads.valueSize]);
            high = toFloat<T>(values[(head + step) * heads.valueSize + 8]);
        }
        float seen[1][4] = {};
        float odd[1][4] = {};
#pragma unroll
        for (int t = 0; t < KEY / 16; t++) {
            float4 b[1] = {*(const float4*)(block.both + groups.at(t))};
            state.add(t, b, seen, odd);
        }
#pragma unroll
        for (int n = 0; n < 4; n++) {
            seen[0][n] = __fadd_rn(seen[0][n], odd[0][n]);
        }
        if (i == 0) {
            __syncthreads();
        }
        float decay = block.decays[i];
        if (lane % 4 == 0) {
            own[token * stride + lane / 4] = uncorrected(block.betas[i], lowValue, decay, seen[0][0]);
            own[token * stride + lane / 4 + 8] = uncorrected(block.betas[i], highValue, decay, seen[0][2]);
        }
        __syncwarp();
        float earlier[PAGE];
#pragma unroll
        for (int j = 0; j < PAGE; j++) {
            earlier[j] = own[j * stride + lane % 16];
        }
        float d = corrected(own[token * stride + lane % 16], block.correctionWeights[i], earlier, token);
        __syncwarp();
        if (lane < 16) {
            own[token * stride + lane] = d;
            page[token * (i64)heads.rowSize() + heads.correctionAt(head) + number + lane] = d;
        }
        __syncwarp();
        float ofLow[4];
        float ofHigh[4];
#pragma unroll
        for (int m = 0; m < 4; m++) {
            ofLow[m] = own[(lane % 4 + 4 * m) * stride + lane / 4];
            ofHigh[m] = own[(lane % 4 + 4 * m) * stride + lane / 4 + 8];
        }
        Corrections factors(ofLow, ofHigh, block.ages[i]);
        float sums[4] = {__fmul_rn(decay, seen[0][1]), 0.0f, __fmul_rn(decay, seen[0][3]), 0.0f};  // the first column
        float4 w = *(const float4*)(block.outputWeights[i] + 4 * (lane % 4));
        factors.add(sums, lane < 4 ? w : make_float4(0.0f, 0.0f, 0.0f, 0.0f));
        if (lane % 4 == 0) {
            u16* to = output + r * outputStride + head * heads.valueSize + number + lane / 4;
            to[0] = fromFloat<T>(sums[0]);
            to[8] = fromFloat<T>(sums[2]);
        }
        if (token == PAGE - 1) {
            state.advance(decay, factors.aged, block.keys);
            state.write(page + heads.stateAt(head, PAGE) + (i64)number * KEY);
            if (!before) {
                state.clear();
            }
        }
    }
}

#define DELTA_INPUTS                                                                                                     \
    const u16 *query, i64 queryStride, const u16 *key, i64 keyStride, const u16 *value, i64 valueStride, const u16 *a,   \
        i64 aStride, const u16 *b, i64 bStride, const float *rate, const float *timeBias, u16 *output, i64 outputStride, \
        int keyHeads, int valueHeads, int valueSize, int takesTurns
#define GIVEN_INPUTS(T)                                                                                \
    DeltaInputs<T> {                                                                                   \
        query, queryStride, key, keyStride, value, valueStride, a, aStride, b, bStride, rate, timeBias \
    }
#define GIVEN_HEADS DeltaHeads{keyHeads, valueHeads, KEY, valueSize, takesTurns != 0}

#define DELTA_RULES(T, SUFFIX)                                                                                            \
    extern "C" __global__ void __launch_bounds__(256, 1) delta_rule_rows_##SUFFIX(DELTA_INPUTS, int byRow, STATE_PAGES) { \
        deltaRows<T>(GIVEN_INPUTS(T), output, outputStride, GIVEN_HEADS, byRow, GIVEN_PAGES);                             \
    }                                                                                                                     \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                                  \
        delta_rule_decode_##SUFFIX(DELTA_INPUTS, int headsOfBlock, STATE_PAGES) {                                         \
        deltaDecode<T>(GIVEN_INPUTS(T), output, outputStride, GIVEN_HEADS, headsOfBlock, GIVEN_PAGES);                    \
    }

DELTA_RULES(Bf16, bf16)
DELTA_RULES(F16, f16)
