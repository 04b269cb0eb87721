// The delta rule of generic_state.cu on tensor cores: keys of 128 numbers, values of a multiple of 64, pages of 16 tokens, rows
// of 16 bits. State in a page: [valueHeads, valueSize, 128].
//
// delta_rule_rows: a block has 64 numbers of a value head of a sequence, and walks its pages. Four warps have the state in
// their registers (delta.cuh) and take a page of 16 rows at a time; four others meanwhile make ready what the next page's rows
// have but for the state: keys and queries of unit length, products among them, values, and the decays of eight pages at once.
// Rows that the page has from earlier steps come as they were kept, with weights that leave them as they are. Eight warps are as
// many as can have 255 registers each, which those with the state need. All of them meet at one place, once a page.
// delta_rule_decode: delta_decode.cuh. Both are there once more for state spaces (pages.cuh), space_rows and space_decode.
//
// Where sums have an order: products over keys in that of delta.cuh's instructions; then
//     d(i) = beta(i) (v(i) - e^G(i) S^T k(i)) - sum over j < i, ascending, fused; output(i) by two instructions over all j.
// Grids, blocks, parameters: tools/cuda-lab/ENTRIES.md.
#include "state/delta.cuh"
#include "state/delta_decode.cuh"

constexpr int WARPS = 4;  // with the state, and as many beside them
constexpr int TILE = WARPS * PIECE;
constexpr int VALUE_STRIDE = TILE + 4;
constexpr int STAGES = 2;
constexpr int AHEAD = 8;  // pages whose decays are made ready at once, by a thread for each token

// What is made ready of a page.
struct Prepared {
    float keys[PAGE * KEY];  // rounded
    float queries[PAGE * KEY];
    float values[PAGE * VALUE_STRIDE];
    float correctionWeights[PAGE * PAGE];  // [i, j]
    float outputWeights[PAGE * PAGE];  // [i, tokenAt(j)]
};

// Decays of a page.
struct Decays {
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
    Decays decays[2 * AHEAD];
    Fetched fetched[STAGES];
    float pieces[TILE * PIECE_STRIDE];
};

// Where a block's numbers are in rows of a step and of pages: divisions, which are not for each page.
struct Place {
    int key;
    int value;
    int rowSize;
    int correction;
    int sum;
    bool keepsKeys;
    bool keepsSums;

    __device__ __forceinline__ Place(const DeltaHeads& heads, int head, int column) {
        key = heads.keyAt(head);
        value = head * heads.valueSize + column;
        rowSize = heads.rowSize();
        correction = heads.correctionAt(head) + column;
        sum = heads.sumAt(head);
        keepsSums = column == 0;
        keepsKeys = column == 0 && heads.isFirst(head);
    }
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

// Where the numbers of a page are that a thread of 128 fetches: each warp has four tokens' keys and queries, each thread eight
// numbers of a token's value.
struct Fetching {
    const u16* keys;
    const u16* queries;
    const u16* values;
    int keyStride;
    int queryStride;
    int valueStride;

    template <class T>
    __device__ __forceinline__ Fetching(
        const DeltaInputs<T>& in, const Place& place, const StateRows& rows, int firstPage, int thread)
        : keyStride((int)in.keyStride), queryStride((int)in.queryStride), valueStride((int)in.valueStride) {
        i64 row = PageRows(rows, firstPage).row;
        i64 first = row + thread / 32 * (PAGE / WARPS);
        keys = in.key + first * in.keyStride + place.key + 4 * (thread % 32);
        queries = in.query + first * in.queryStride + place.key + 4 * (thread % 32);
        values = in.value + (row + thread / 8) * in.valueStride + place.value + thread % 8 * 8;
    }

    // Of the next page.
    __device__ __forceinline__ void fetch(Fetched& fetched, const PageRows& rows, int thread, bool isWhole) {
        int first = thread / 32 * (PAGE / WARPS);
#pragma unroll
        for (int i = 0; i < PAGE / WARPS; i++) {
            bool present = rows.has(first + i);
            fetchFour(fetched.keys[i][thread], keys + i * keyStride, present, isWhole);
            fetchFour(fetched.queries[i][thread], queries + i * queryStride, present, isWhole);
        }
        bool present = rows.has(thread / 8);
        fetchFour(fetched.values[0][thread], values, present, isWhole);
        fetchFour(fetched.values[1][thread], values + 4, present, isWhole);
        copyCommit();
        keys += (i64)PAGE * keyStride;
        queries += (i64)PAGE * queryStride;
        values += (i64)PAGE * valueStride;
    }
};

// Where those that make a page ready meet.
__device__ __forceinline__ void together() {
    __syncwarp();
    asm volatile("bar.sync 1, 128;" ::: "memory");
}

// Sums over the lanes of eight numbers, that of number i in lanes 4 i to 4 i + 3; the bits are those of warpSum.
__device__ __forceinline__ float eightSums(const float (&x)[8]) {
    int lane = threadIdx.x % 32;
    float four[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float other = __shfl_xor_sync(~0u, lane & 16 ? x[i] : x[4 + i], 16);
        four[i] = __fadd_rn(lane & 16 ? x[4 + i] : x[i], other);
    }
    float two[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        float other = __shfl_xor_sync(~0u, lane & 8 ? four[i] : four[2 + i], 8);
        two[i] = __fadd_rn(lane & 8 ? four[2 + i] : four[i], other);
    }
    float other = __shfl_xor_sync(~0u, lane & 4 ? two[0] : two[1], 4);
    float sum = __fadd_rn(lane & 4 ? two[1] : two[0], other);
    sum = __fadd_rn(sum, __shfl_xor_sync(~0u, sum, 2));
    return __fadd_rn(sum, __shfl_xor_sync(~0u, sum, 1));
}

// Keys, queries and values of a page, and products among them; page is null where it is not kept.
template <class T, bool IS_SPACE>
__device__ __forceinline__ void prepare(Prepared& ready, const Fetched& fetched, const Decays& decays, const Place& place,
    const PageRows& rows, float* page, int thread) {
    int lane = thread % 32;
    int warp = thread / 32;
    bool keeps = page && place.keepsKeys;
    float4 keys[PAGE / WARPS];
    float4 queries[PAGE / WARPS];
    float squares[2 * PAGE / WARPS];
#pragma unroll
    for (int i = 0; i < PAGE / WARPS; i++) {
        keys[i] = four<T>(fetched.keys[i][thread]);
        queries[i] = four<T>(fetched.queries[i][thread]);
        squares[i] = squareSum(keys[i]);
        squares[PAGE / WARPS + i] = squareSum(queries[i]);
    }
    if constexpr (!IS_SPACE) {
        float factor = unitScale(eightSums(squares), lane & 16 ? QUERY_SCALE : 1.0f);
#pragma unroll
        for (int i = 0; i < PAGE / WARPS; i++) {
            keys[i] = scaled(keys[i], __shfl_sync(~0u, factor, 4 * i));
            queries[i] = scaled(queries[i], __shfl_sync(~0u, factor, 16 + 4 * i));
        }
    }
    if (rows.from > 0 || keeps) {
#pragma unroll
        for (int i = 0; i < PAGE / WARPS; i++) {
            int token = warp * (PAGE / WARPS) + i;
            float* kept = page + (i64)token * place.rowSize + place.key + 4 * lane;
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
    *(float4*)values = four<T>(fetched.values[0][thread]);
    *(float4*)(values + 4) = four<T>(fetched.values[1][thread]);
    if (token < rows.from) {
        const float* kept = page + (i64)token * place.rowSize + place.correction + thread % 8 * 8;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            values[i] = kept[i];
        }
    }
    together();
    // products of keys with 8 keys, or queries, a warp: sums [j, i]
    bool isQuery = warp >= 2;
    if (IS_SPACE && !isQuery) {
        return;
    }
    float scores[4] = {};
    int first = warp % 2 * 8;
    multiplyKeys(scores, ready.keys, (isQuery ? ready.queries : ready.keys) + first * KEY);
#pragma unroll
    for (int n = 0; n < 4; n++) {
        int j = lane / 4 + n / 2 * 8;
        int i = first + 2 * (lane % 4) + n % 2;
        float decay = expf(__fsub_rn(decays.sums[i], decays.sums[j]));
        if (isQuery) {
            ready.outputWeights[i * PAGE + tokenAt(j)] = j <= i ? outputWeight(decay, scores[n]) : 0.0f;
        } else {
            ready.correctionWeights[i * PAGE + j] =
                j < i && rows.has(i) ? correctionWeight(decays.betas[i], decay, scores[n]) : 0.0f;
        }
    }
}

// What decays and betas of AHEAD pages come from, on their way: a thread for each token.
template <class T>
struct Gates {
    const DeltaInputs<T>& in;
    int head;
    float rate;
    float timeBias;
    float a = 0.0f;
    float b = 0.0f;
    float* page = nullptr;  // the thread's; null where it is not kept

    __device__ __forceinline__ Gates(const DeltaInputs<T>& in, int head)
        : in(in), head(head), rate(in.rate[head]), timeBias(in.timeBias[head]) {}

    __device__ __forceinline__ void fetch(const StatePages& pages, const StateRows& rows, int index, int lastPage, int token) {
        if (index <= lastPage) {
            PageRows here(rows, index);
            i64 row = here.has(token) ? here.row + token : rows.first;
            a = toFloat<T>(in.a[row * in.aStride + head]);
            b = toFloat<T>(in.b[row * in.bStride + head]);
            page = pages.page(rows.sequence, index);
        }
    }

    // Of the thread's page; all threads of a warp, though there may be no page.
    __device__ __forceinline__ void prepare(Decays& decays, const Place& place, const PageRows& rows, int token) const {
        i64 at = (i64)token * place.rowSize + place.sum;
        bool isNew = rows.has(token);
        DeltaGates given(in.traits, rate, a, timeBias, b);
        float own = isNew ? given.g : 0.0f;
        if (token < rows.from) {
            own = page[at];
        }
        float sum = 0.0f;
        float last = 0.0f;
#pragma unroll
        for (int i = 0; i < PAGE; i++) {
            float ofToken = __shfl_sync(~0u, own, i, PAGE);
            last = i < rows.from || i == 0 ? ofToken : i < rows.until ? __fadd_rn(last, ofToken) : last;
            sum = token == i ? last : sum;
        }
        if (isNew && page && place.keepsSums) {
            page[at] = sum;
        }
        decays.sums[token] = sum;
        decays.ages[tokenAt(token)] = expf(__fsub_rn(last, sum));
        decays.decays[token] = isNew ? expf(sum) : 0.0f;
        decays.betas[token] = isNew ? given.beta : token < rows.from ? 1.0f : 0.0f;
    }
};

// A warp's piece of a page's rows; `skip` is that of a state space.
template <class T, bool IS_SPACE>
__device__ __forceinline__ void advance(DeltaState& state, const Prepared& ready, const Decays& decays, float* piece,
    const Place& place, const PageRows& rows, float* page, float skip, u16* output, i64 outputStride) {
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
                    uncorrected<IS_SPACE>(decays.betas[token], value, decays.decays[token], seen[n][i]);
            } else {
                seen[n][i] = __fmul_rn(decays.decays[token], seen[n][i]);
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
    if constexpr (!IS_SPACE) {
#pragma unroll
        for (int i = 1; i < PAGE; i++) {
            d[i] = corrected(d[i], ready.correctionWeights + i * PAGE, d, i);
        }
    }
    __syncwarp();
    if (lane < 16) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            *(float4*)(piece + own * PIECE_STRIDE + 4 * j) = make_float4(d[j], d[j + 4], d[j + 8], d[j + 12]);
        }
        if (page) {
            float* kept = page + place.correction + inTile + own;
#pragma unroll
            for (int j = 0; j < PAGE; j++) {
                if (rows.has(j)) {
                    kept[(i64)j * place.rowSize] = d[j];
                }
            }
        }
    }
    __syncwarp();
    float4 low = *(const float4*)(piece + lane / 4 * PIECE_STRIDE + 4 * (lane % 4));
    float4 high = *(const float4*)(piece + (lane / 4 + 8) * PIECE_STRIDE + 4 * (lane % 4));
    Corrections corrections({low.x, low.y, low.z, low.w}, {high.x, high.y, high.z, high.w}, decays.ages);
    if (rows.until == PAGE) {
        state.advance(decays.decays[PAGE - 1], corrections.aged, ready.keys);
    }
    __syncwarp();
#pragma unroll
    for (int n = 0; n < 2; n++) {
        corrections.add(seen[2 + n], *(const float4*)(ready.outputWeights + (lane / 4 + 8 * n) * PAGE + 4 * (lane % 4)));
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int token = 8 * n + 2 * (lane % 4) + i % 2;
            int number = lane / 4 + i / 2 * 8;
            float sum = seen[2 + n][i];
            if constexpr (IS_SPACE) {
                sum = __fmaf_rn(skip, ready.values[token * VALUE_STRIDE + inTile + number], sum);
            }
            piece[token * PIECE_STRIDE + number] = sum;
        }
    }
    __syncwarp();
    int token = lane / 2;
    if (rows.has(token)) {
        const float* from = piece + token * PIECE_STRIDE + lane % 2 * 8;
        u16* to = output + (i64)(rows.row + token) * outputStride + place.value + inTile + lane % 2 * 8;
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

template <class T, bool IS_SPACE>
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
    const int* entries = pages.table + (i64)rows.sequence * pages.maxPages;
    int next = entries[firstPage];
    Place place(heads, head, column);
    float skip = IS_SPACE ? in.traits.skip[head] : 0.0f;
    bool hasState = warp < WARPS;
    int thread = threadIdx.x % (32 * WARPS);
    int token = thread % PAGE;
    bool isWhole = in.areWhole();
    Gates<T> gates(in, head);
    Fetching fetching(in, place, rows, firstPage, thread);
    int inTile = warp % WARPS * PIECE;
    i64 stateAt = heads.stateAt(head, PAGE) + (i64)(column + inTile) * KEY;
    DeltaState state;
    state.clear();
    if (hasState) {
        if (firstPage > 0) {
            state.read(pages.page(rows.sequence, firstPage - 1) + stateAt);
        }
    } else {
        gates.fetch(pages, rows, firstPage + thread / PAGE, lastPage, token);
        fetching.fetch(block.fetched[0], PageRows(rows, firstPage), thread, isWhole);
    }
    for (int index = firstPage; index <= lastPage; index++) {
        float* page = pages.entry(next);
        next = index < lastPage ? entries[index + 1] : -1;
        PageRows here(rows, index);
        int number = (index - firstPage) % (2 * AHEAD);
        Prepared& ready = block.ready[index % 2];
        if (!hasState) {
            fetching.fetch(block.fetched[(number + 1) % STAGES], PageRows(rows, index + 1), thread, isWhole);
            if (number % AHEAD == 0) {
                int own = index + thread / PAGE;
                gates.prepare(block.decays[number + thread / PAGE], place, PageRows(rows, own), token);
                gates.fetch(pages, rows, own + AHEAD, lastPage, token);
            }
            copyWait<STAGES - 1>();
            prepare<T, IS_SPACE>(ready, block.fetched[number % STAGES], block.decays[number], place, here, page, thread);
        }
        __syncthreads();  // the page is ready, and the one before it is done with
        if (hasState) {
            advance<T, IS_SPACE>(state, ready, block.decays[number], block.pieces + inTile * PIECE_STRIDE, place, here, page,
                skip, output, outputStride);
            if (page && here.until == PAGE) {
                state.write(page + stateAt);
            }
        }
    }
}

#define DELTA_INPUTS                                                                                                   \
    const u16 *query, i64 queryStride, const u16 *key, i64 keyStride, const u16 *value, i64 valueStride, const u16 *a, \
        i64 aStride, const u16 *b, i64 bStride, const float *rate, const float *timeBias, DELTA_TRAITS, u16 *output,   \
        i64 outputStride, int keyHeads, int valueHeads, int valueSize, int takesTurns
#define GIVEN_INPUTS(T)                                                                                              \
    DeltaInputs<T> {                                                                                                 \
        query, queryStride, key, keyStride, value, valueStride, a, aStride, b, bStride, rate, timeBias, GIVEN_TRAITS \
    }
#define GIVEN_HEADS DeltaHeads{keyHeads, valueHeads, KEY, valueSize, takesTurns != 0}

#define DELTA_RULES(T, NAME, IS_SPACE, SUFFIX)                                                                                 \
    extern "C" __global__ void __launch_bounds__(256, 1) NAME##_rows_##SUFFIX(DELTA_INPUTS, int byRow, STATE_PAGES) {          \
        deltaRows<T, IS_SPACE>(GIVEN_INPUTS(T), output, outputStride, GIVEN_HEADS, byRow, GIVEN_PAGES);                        \
    }                                                                                                                          \
    extern "C" __global__ void __launch_bounds__(256, 2) NAME##_decode_##SUFFIX(DELTA_INPUTS, int headsOfBlock, STATE_PAGES) { \
        deltaDecode<T, IS_SPACE, false>(                                                                                       \
            GIVEN_INPUTS(T), output, outputStride, GIVEN_HEADS, headsOfBlock, GIVEN_PAGES, DeltaNet{});                        \
    }

#define DELTA_NET(T, SUFFIX)                                                                                                 \
    extern "C" __global__ void __launch_bounds__(256, 2)                                                                     \
        delta_net_decode_##SUFFIX(DELTA_INPUTS, int headsOfBlock, STATE_PAGES, const float* weight, int activation,          \
            int channels, float* inputs, i64 inputsElements, const int* inputsTable, int inputsMaxPages, int takesMean,      \
            const float* normWeight, float weightOffset, const float* normBias, float epsilon, const u16* gate,              \
            i64 gateStride, int gating, float limit, float upLimit, float upOffset) {                                        \
        StatePages of = {inputs, inputsElements, pageTokens, inputsTable, inputsMaxPages, rowSequence, positions, rowStart}; \
        NormArguments norm = {takesMean != 0, normWeight, weightOffset, normBias, epsilon};                                  \
        DeltaNet net = {weight, activation, channels, of, norm, gate, gateStride, gating, limit, upLimit, upOffset};         \
        deltaDecode<T, false, true>(GIVEN_INPUTS(T), output, outputStride, GIVEN_HEADS, headsOfBlock, GIVEN_PAGES, net);     \
    }

DELTA_RULES(Bf16, delta_rule, false, bf16)
DELTA_RULES(F16, delta_rule, false, f16)
DELTA_RULES(Bf16, space, true, bf16)
DELTA_RULES(F16, space, true, f16)
DELTA_NET(Bf16, bf16)
DELTA_NET(F16, f16)
