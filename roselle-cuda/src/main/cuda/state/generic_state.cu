// Layers that go on from a state, for every processor, type and size: convolutions along sequences, which are bound by memory
// whatever the size, and the delta rule, right first; the fast one is delta_rule.cu.
//
// convolve: y(p) = activation(bias + sum over t of weight[t] * x(p - taps + 1 + t)), taps in ascending order, each fused; x of
// the step's own rows from the input, of earlier ones from the pages. weight: [taps, channels].
//
// delta_rule: with S the state before a row's page, G(i) the sum of g from the page's first token to its i-th,
//     d(i) = beta(i) (v(i) - e^G(i) S^T k(i) - sum over j < i of e^(G(i) - G(j)) (k(i) k(j)) d(j))
//     output(i) = e^G(i) S^T q(i) + sum over j <= i of e^(G(i) - G(j)) (q(i) k(j)) d(j)
// and behind the page S' = e^G(last) S + sum over j of e^(G(last) - G(j)) k(j) d(j)^T. A block has 32 columns of a value head of
// a sequence, and S [keySize, 32] in shared memory, from its first row in the step to its last. A state space (pages.cuh) is the
// same with d(i) = beta(i) v(i). State in a page: [valueHeads, keySize, valueSize]. Every sum has an order that the sizes alone
// decide.
//
// channel_rule: the same with a decay for each number of a key (Kimi Delta Attention; Kimi Team, 2025). The keys of a page's
// earlier tokens are kept as they are by now, each decay multiplied into them as its token comes.
//
// selective_scan: with t = softplus(time + timeBias), h'(n) = e^(rate(n) t) h(n) + (t x) b(n); output = sum of c(n) h'(n) + skip x
// (Mamba 1), token by token. A block has 32 channels of a sequence, four lanes each, which have every fourth number of the state.
// A step that begins within a page goes through the page's earlier tokens again by what they left. A row of a page: t and t x of
// each channel, b; state in a page: [stateSize, channels].
// Grids, blocks, parameters: tools/cuda-lab/ENTRIES.md.
#include "common/ampere.cuh"
#include "gemm/epilogue.cuh"
#include "state/pages.cuh"

constexpr int THREADS = 128;
constexpr int COLUMNS = 32;
constexpr int GROUPS = THREADS / COLUMNS;

// Neighbouring channels of a thread.
template <class T, int COUNT>
__device__ __forceinline__ void loadSome(const Number<T>* numbers, float (&x)[COUNT]) {
    if constexpr (COUNT == 8) {
        loadEight<T>(numbers, x);
    } else {
        x[0] = load<T>(numbers, 0);
    }
}

template <class T, int COUNT>
__device__ __forceinline__ void storeSome(Number<T>* numbers, const float (&x)[COUNT]) {
    if constexpr (COUNT == 1) {
        store<T>(numbers, 0, x[0]);
    } else if (((u64)numbers & 15) == 0) {
        *(uint4*)numbers = make_uint4(pack<T>(x[0], x[1]), pack<T>(x[2], x[3]), pack<T>(x[4], x[5]), pack<T>(x[6], x[7]));
    } else {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            store<T>(numbers, i, x[i]);
        }
    }
}

template <int COUNT>
__device__ __forceinline__ void keep(float* numbers, const float (&x)[COUNT]) {
    if (COUNT == 8 && ((u64)numbers & 15) == 0) {
        *(float4*)numbers = make_float4(x[0], x[1 % COUNT], x[2 % COUNT], x[3 % COUNT]);
        *(float4*)(numbers + 4) = make_float4(x[4 % COUNT], x[5 % COUNT], x[6 % COUNT], x[7 % COUNT]);
        return;
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = x[i];
    }
}

// What a row's sequence had at a position: zeros before its beginning, the step's own rows, pages.
template <class T, int COUNT>
__device__ __forceinline__ void inputAt(float (&x)[COUNT], const Number<T>* input, i64 stride, const StatePages& pages,
    int sequence, int position, int channels, int column) {
    int first = pages.rowStart[sequence];
    int before = pages.positions[first];
    if (position < 0) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            x[i] = 0.0f;
        }
    } else if (position >= before) {
        loadSome<T, COUNT>(input + (first + position - before) * stride + column, x);
    } else {
        const float* page = pages.page(sequence, position / pages.tokens);
        loadSome<F32, COUNT>(page + (i64)(position % pages.tokens) * channels + column, x);
    }
}

// Neighbouring rows of a thread share what they see. Grid (ceil(rows / rowsOfThread), ceil(channels / (128 * COUNT))).
template <class T, int TAPS, int COUNT>
__device__ __forceinline__ void convolve(const Number<T>* input, i64 inputStride, const float* weight, const float* bias,
    int activation, Number<T>* output, i64 outputStride, int channels, const StatePages& pages, int rows, int rowsOfThread) {
    launchNext();
    int column = (blockIdx.y * THREADS + threadIdx.x) * COUNT;
    int first = blockIdx.x * rowsOfThread;
    if (column >= channels) {
        return;
    }
    float weights[TAPS][COUNT];
    float from[COUNT];
#pragma unroll
    for (int t = 0; t < TAPS; t++) {
        loadSome<F32, COUNT>(weight + (i64)t * channels + column, weights[t]);
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        from[i] = bias ? bias[column + i] : 0.0f;
    }
    float seen[TAPS][COUNT];
    auto loadEarlier = [&](int of, int position) {
#pragma unroll
        for (int t = 0; t < TAPS - 1; t++) {
            inputAt<T, COUNT>(seen[t], input, inputStride, pages, of, position - TAPS + 1 + t, channels, column);
        }
    };
    int ahead = pages.positions[first] < 0 ? -1 : pages.rowSequence[first];
    if (ahead >= 0 && pages.rowStart[ahead] == first) {  // what earlier steps left in pages is there
        loadEarlier(ahead, pages.positions[first]);
    } else {
        ahead = -1;
    }
    waitForPrevious();
    int sequence = -1;
    for (int r = first; r < min(first + rowsOfThread, rows); r++) {
        int position = pages.positions[r];
        if (position < 0) {
            sequence = -1;
            continue;
        }
        if (sequence != pages.rowSequence[r]) {
            sequence = pages.rowSequence[r];
            if (r != first || ahead < 0) {
                loadEarlier(sequence, position);
            }
        } else {
#pragma unroll
            for (int t = 0; t < TAPS - 1; t++) {
#pragma unroll
                for (int i = 0; i < COUNT; i++) {
                    seen[t][i] = seen[t + 1][i];
                }
            }
        }
        loadSome<T, COUNT>(input + r * inputStride + column, seen[TAPS - 1]);
        float sum[COUNT];
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            sum[i] = from[i];
#pragma unroll
            for (int t = 0; t < TAPS; t++) {
                sum[i] = __fmaf_rn(weights[t][i], seen[t][i], sum[i]);
            }
            sum[i] = activate(activation, sum[i]);
        }
        storeSome<T, COUNT>(output + r * outputStride + column, sum);
        float* page = pages.page(sequence, position / pages.tokens);
        if (page) {
            keep<COUNT>(page + (i64)(position % pages.tokens) * channels + column, seen[TAPS - 1]);
        }
    }
}

// The same for any number of taps, a channel of a row for a thread: grid (rows, ceil(channels / 128)).
template <class T>
__device__ __forceinline__ void convolveAny(const Number<T>* input, i64 inputStride, const float* weight, const float* bias,
    int activation, Number<T>* output, i64 outputStride, int channels, int taps, const StatePages& pages) {
    launchNext();
    int column = blockIdx.y * THREADS + threadIdx.x;
    int r = blockIdx.x;
    waitForPrevious();
    int position = pages.positions[r];
    if (column >= channels || position < 0) {
        return;
    }
    int sequence = pages.rowSequence[r];
    float sum = bias ? bias[column] : 0.0f;
    float x[1];
    for (int t = 0; t < taps; t++) {
        inputAt<T, 1>(x, input, inputStride, pages, sequence, position - taps + 1 + t, channels, column);
        sum = __fmaf_rn(weight[(i64)t * channels + column], x[0], sum);
    }
    store<T>(output, r * outputStride + column, activate(activation, sum));
    float* page = pages.page(sequence, position / pages.tokens);
    if (page) {
        page[(i64)(position % pages.tokens) * channels + column] = x[0];
    }
}

// What a block of the delta rule has in shared memory.
struct DeltaBlock {
    float* keys;  // [pageTokens, keySize], of unit length
    float* query;  // [keySize]
    float* state;  // [keySize, COLUMNS]
    float* corrections;  // [pageTokens, COLUMNS]
    float* sums;  // [pageTokens], of g
    float* keyWeights;  // [pageTokens]
    float* queryWeights;  // [pageTokens]
    float* ofKey;  // [GROUPS, COLUMNS]
    float* ofQuery;  // [GROUPS, COLUMNS]
    float* passed;  // [keySize], what channels have decayed since the page began

    __device__ __forceinline__ DeltaBlock(float* shared, int tokens, int keySize) {
        keys = shared;
        query = keys + tokens * keySize;
        state = query + keySize;
        corrections = state + keySize * COLUMNS;
        sums = corrections + tokens * COLUMNS;
        keyWeights = sums + tokens;
        queryWeights = keyWeights + tokens;
        ofKey = queryWeights + tokens;
        ofQuery = ofKey + THREADS;
        passed = ofQuery + THREADS;
    }

    // Lets the decay of a channel at a token pass over what the page's earlier tokens left; a thread's own channel.
    __device__ __forceinline__ void decay(int channel, int size, int token, float by) const {
        for (int j = 0; j < token; j++) {
            keys[j * size + channel] = __fmul_rn(keys[j * size + channel], by);
        }
        passed[channel] = token == 0 ? by : __fmul_rn(passed[channel], by);
    }
};

// A head of a row, divided by its norm, or as it is; one warp.
template <class T>
__device__ __forceinline__ void unit(const Number<T>* head, int size, bool asIs, float scale, float* target, float* kept) {
    int lane = threadIdx.x % 32;
    float squares = 0.0f;
    for (int i = lane; i < size && !asIs; i += 32) {
        float x = load<T>(head, i);
        squares = __fmaf_rn(x, x, squares);
    }
    float factor = asIs ? 1.0f : unitFactor(warpSum(squares), scale);
    for (int i = lane; i < size; i += 32) {
        float x = __fmul_rn(load<T>(head, i), factor);
        target[i] = x;
        if (kept) {
            kept[i] = x;
        }
    }
}

template <class T, bool BY_CHANNEL>
__device__ __forceinline__ void deltaRule(const Number<T>* query, i64 queryStride, const Number<T>* key, i64 keyStride,
    const Number<T>* value, i64 valueStride, const Number<T>* a, i64 aStride, const Number<T>* b, i64 bStride,
    const float* rate, const float* timeBias, const DeltaTraits& traits, Number<T>* output, i64 outputStride,
    const DeltaHeads& heads, int byRow, const StatePages& pages) {
    extern __shared__ float shared[];
    launchNext();
    bool isSpace = traits.skip != nullptr;
    int tiles = (heads.valueSize + COLUMNS - 1) / COLUMNS;
    int tile = blockIdx.x % tiles;
    int head = blockIdx.x / tiles % heads.valueHeads;
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;  // in tiles a column
    int column = tile * COLUMNS + lane;
    bool isColumn = column < heads.valueSize;
    int size = heads.keySize;
    int tokens = pages.tokens;
    DeltaBlock block(shared, tokens, size);
    float queryScale = __frcp_rn(__fsqrt_rn((float)size));
    waitForPrevious();
    StateRows rows(pages, blockIdx.x / tiles / heads.valueHeads, byRow != 0);
    i64 stateAt = heads.stateAt(head, tokens) + column;
    bool keepsKeys = tile == 0 && heads.isFirst(head);
    for (int r = rows.first; r < rows.end; r++) {
        int position = rows.position + r - rows.first;
        int token = position % tokens;
        float* page = pages.page(rows.sequence, position / tokens);
        float* row = page ? page + (i64)token * heads.rowSize() : nullptr;
        if (r == rows.first) {
            const float* before = position < tokens ? nullptr : pages.page(rows.sequence, position / tokens - 1);
            for (int i = warp; i < size; i += GROUPS) {
                block.state[i * COLUMNS + lane] = before && isColumn ? before[stateAt + (i64)i * heads.valueSize] : 0.0f;
            }
            for (int j = warp; j < token; j += GROUPS) {
                const float* earlier = page + (i64)j * heads.rowSize();
                for (int i = lane; i < size; i += 32) {
                    block.keys[j * size + i] = earlier[heads.keyAt(head) + i];
                }
                block.corrections[j * COLUMNS + lane] = isColumn ? earlier[heads.correctionAt(head) + column] : 0.0f;
                if (!BY_CHANNEL) {
                    block.sums[j] = earlier[heads.sumAt(head)];
                }
            }
            __syncthreads();
            for (int i = threadIdx.x; BY_CHANNEL && i < size; i += THREADS) {
                for (int j = 0; j < token; j++) {
                    block.decay(i, size, j, page[(i64)j * heads.rowSize() + heads.sumAt(head) + i]);
                }
            }
        }
        if (warp == 0) {
            unit<T>(key + r * keyStride + heads.keyAt(head), size, isSpace, 1.0f, block.keys + token * size,
                keepsKeys && row ? row + heads.keyAt(head) : nullptr);
        } else if (warp == 1) {
            unit<T>(query + r * queryStride + heads.keyAt(head), size, isSpace, queryScale, block.query, nullptr);
        }
        float ofB = load<T>(b, r * bStride + head);
        for (int i = threadIdx.x; BY_CHANNEL && i < size; i += THREADS) {
            int channel = head * size + i;
            DeltaGates own(traits, rate[head], load<T>(a, r * aStride + channel), timeBias[channel], ofB);
            float by = expf(own.g);
            block.decay(i, size, token, by);
            if (tile == 0 && row) {
                row[heads.sumAt(head) + i] = by;
            }
        }
        int first = BY_CHANNEL ? head * size : head;
        DeltaGates gates(traits, rate[head], load<T>(a, r * aStride + first), timeBias[first], ofB);
        float total = BY_CHANNEL || token == 0 ? gates.g : __fadd_rn(block.sums[token - 1], gates.g);
        if (threadIdx.x == 0 && !BY_CHANNEL) {
            block.sums[token] = total;
            if (tile == 0 && row) {
                row[heads.sumAt(head)] = total;
            }
        }
        __syncthreads();
        for (int j = warp; j <= token; j += GROUPS) {
            float ofKey = 0.0f;
            float ofQuery = 0.0f;
            for (int i = lane; i < size; i += 32) {
                ofKey = __fmaf_rn(block.keys[j * size + i], block.keys[token * size + i], ofKey);
                ofQuery = __fmaf_rn(block.keys[j * size + i], block.query[i], ofQuery);
            }
            float decay = BY_CHANNEL ? 1.0f : expf(__fsub_rn(total, block.sums[j]));
            ofKey = __fmul_rn(decay, warpSum(ofKey));
            ofQuery = __fmul_rn(decay, warpSum(ofQuery));
            if (lane == 0) {
                block.keyWeights[j] = ofKey;
                block.queryWeights[j] = ofQuery;
            }
        }
        float ofKey = 0.0f;
        float ofQuery = 0.0f;
        for (int i = warp; i < size; i += GROUPS) {
            float x = block.state[i * COLUMNS + lane];
            x = BY_CHANNEL ? __fmul_rn(block.passed[i], x) : x;
            ofKey = __fmaf_rn(block.keys[token * size + i], x, ofKey);
            ofQuery = __fmaf_rn(block.query[i], x, ofQuery);
        }
        block.ofKey[threadIdx.x] = ofKey;
        block.ofQuery[threadIdx.x] = ofQuery;
        __syncthreads();
        if (warp == 0) {
#pragma unroll
            for (int i = 1; i < GROUPS; i++) {
                ofKey = __fadd_rn(ofKey, block.ofKey[i * COLUMNS + lane]);
                ofQuery = __fadd_rn(ofQuery, block.ofQuery[i * COLUMNS + lane]);
            }
            float decay = BY_CHANNEL ? 1.0f : expf(total);
            ofKey = __fmul_rn(decay, ofKey);
            ofQuery = __fmul_rn(decay, ofQuery);
            for (int j = 0; j < token; j++) {
                float earlier = block.corrections[j * COLUMNS + lane];
                ofKey = __fmaf_rn(block.keyWeights[j], earlier, ofKey);
                ofQuery = __fmaf_rn(block.queryWeights[j], earlier, ofQuery);
            }
            int at = head * heads.valueSize + column;
            float own = isColumn ? load<T>(value, r * valueStride + at) : 0.0f;
            float correction = isColumn ? __fmul_rn(gates.beta, isSpace ? own : __fsub_rn(own, ofKey)) : 0.0f;
            block.corrections[token * COLUMNS + lane] = correction;
            if (isColumn) {
                float sum = __fmaf_rn(block.queryWeights[token], correction, ofQuery);
                store<T>(output, r * outputStride + at, isSpace ? __fmaf_rn(traits.skip[head], own, sum) : sum);
                if (row) {
                    row[heads.correctionAt(head) + column] = correction;
                }
            }
        }
        __syncthreads();
        if (token == tokens - 1) {
            float decay = expf(total);
            for (int i = warp; i < size; i += GROUPS) {
                float x = __fmul_rn(BY_CHANNEL ? block.passed[i] : decay, block.state[i * COLUMNS + lane]);
                for (int j = 0; j < tokens; j++) {
                    float key = block.keys[j * size + i];
                    float weight = BY_CHANNEL ? key : __fmul_rn(expf(__fsub_rn(total, block.sums[j])), key);
                    x = __fmaf_rn(weight, block.corrections[j * COLUMNS + lane], x);
                }
                block.state[i * COLUMNS + lane] = x;
                if (page && isColumn) {
                    page[stateAt + (i64)i * heads.valueSize] = x;
                }
            }
            __syncthreads();
        }
    }
}

// A channel's state, as a lane has its numbers n = part + 4 k: in shared memory, each thread's numbers for itself.
struct ChannelState {
    float* numbers;  // [k][THREADS]
    float* rates;  // the same
    int size;
    int part;
    int count;

    __device__ __forceinline__ ChannelState(float* shared, int size, int part)
        : numbers(shared + threadIdx.x),
          rates(numbers + (size + 3) / 4 * THREADS),
          size(size),
          part(part),
          count((size - part + 3) / 4) {}

    // Of a state in a page, or of rates; zeros where there are none.
    __device__ __forceinline__ void take(float* target, const float* from, int channels) const {
        for (int k = 0; k < count; k++) {
            target[k * THREADS] = from ? from[(i64)(part + 4 * k) * channels] : 0.0f;
        }
    }

    __device__ __forceinline__ void advance(int k, float time, float timed, float b) const {
        float decay = expf(__fmul_rn(rates[k * THREADS], time));
        numbers[k * THREADS] = __fmaf_rn(decay, numbers[k * THREADS], __fmul_rn(timed, b));
    }
};

template <class T>
__device__ __forceinline__ void selectiveScan(const Number<T>* x, i64 xStride, const Number<T>* times, i64 timeStride,
    const Number<T>* b, i64 bStride, const Number<T>* c, i64 cStride, const float* rate, const float* timeBias,
    const float* skip, Number<T>* output, i64 outputStride, int channels, int size, int byRow, const StatePages& pages) {
    extern __shared__ float shared[];
    launchNext();
    int blocks = (channels + COLUMNS - 1) / COLUMNS;
    int lane = threadIdx.x % 32;
    int channel = blockIdx.x % blocks * COLUMNS + threadIdx.x / 32 * 8 + lane % 8;
    bool isChannel = channel < channels;
    int own = isChannel ? channel : 0;
    ChannelState state(shared, size, lane / 8);
    state.take(state.rates, rate + own, channels);
    float bias = timeBias[own];
    float skipped = skip[own];
    waitForPrevious();
    StateRows rows(pages, blockIdx.x / blocks, byRow != 0);
    i64 rowSize = 2 * (i64)channels + size;
    i64 stateAt = pages.tokens * rowSize + own;
    bool keeps = isChannel && state.part == 0;
    for (int r = rows.first; r < rows.end; r++) {
        int position = rows.position + r - rows.first;
        int token = position % pages.tokens;
        float* page = pages.page(rows.sequence, position / pages.tokens);
        if (r == rows.first) {
            const float* before = position < pages.tokens ? nullptr : pages.page(rows.sequence, position / pages.tokens - 1);
            state.take(state.numbers, before ? before + stateAt : nullptr, channels);
            for (int j = 0; j < token; j++) {
                const float* row = page + j * rowSize;
#pragma unroll 1
                for (int k = 0; k < state.count; k++) {
                    state.advance(k, row[own], row[channels + own], row[2 * (i64)channels + state.part + 4 * k]);
                }
            }
        }
        float of = load<T>(x, r * xStride + own);
        float time = softplus(__fadd_rn(load<T>(times, r * timeStride + own), bias));
        float timed = __fmul_rn(time, of);
        float* row = page ? page + token * rowSize : nullptr;
        float sum = 0.0f;
        for (int k = 0; k < state.count; k++) {
            int n = state.part + 4 * k;
            float written = load<T>(b, r * bStride + n);
            state.advance(k, time, timed, written);
            sum = __fmaf_rn(load<T>(c, r * cStride + n), state.numbers[k * THREADS], sum);
            if (row && channel == 0) {
                row[2 * (i64)channels + n] = written;
            }
        }
        sum = __fadd_rn(sum, __shfl_xor_sync(~0u, sum, 8));
        sum = __fadd_rn(sum, __shfl_xor_sync(~0u, sum, 16));
        if (keeps) {
            store<T>(output, r * outputStride + channel, __fmaf_rn(skipped, of, sum));
        }
        if (keeps && row) {
            row[channel] = time;
            row[channels + channel] = timed;
        }
        for (int k = 0; page && isChannel && token == pages.tokens - 1 && k < state.count; k++) {
            page[stateAt + (i64)(state.part + 4 * k) * channels] = state.numbers[k * THREADS];
        }
    }
}

#define STATES(T, SUFFIX)                                                                                                    \
    extern "C" __global__ void __launch_bounds__(128)                                                                        \
        convolve_##SUFFIX(const Number<T>* input, i64 inputStride, const float* weight, const float* bias, int activation,   \
            Number<T>* output, i64 outputStride, int channels, int taps, STATE_PAGES) {                                      \
        convolveAny<T>(input, inputStride, weight, bias, activation, output, outputStride, channels, taps, GIVEN_PAGES);     \
    }                                                                                                                        \
    extern "C" __global__ void __launch_bounds__(128)                                                                        \
        selective_scan_##SUFFIX(const Number<T>* x, i64 xStride, const Number<T>* times, i64 timeStride, const Number<T>* b, \
            i64 bStride, const Number<T>* c, i64 cStride, const float* rate, const float* timeBias, const float* skip,       \
            Number<T>* output, i64 outputStride, int channels, int stateSize, int byRow, STATE_PAGES) {                      \
        selectiveScan<T>(x, xStride, times, timeStride, b, bStride, c, cStride, rate, timeBias, skip, output, outputStride,  \
            channels, stateSize, byRow, GIVEN_PAGES);                                                                        \
    }                                                                                                                        \
    DELTA_RULE(T, SUFFIX, delta_rule, false)                                                                                 \
    DELTA_RULE(T, SUFFIX, channel_rule, true)

#define DELTA_RULE(T, SUFFIX, NAME, BY_CHANNEL)                                                                               \
    extern "C" __global__ void __launch_bounds__(128, 4) NAME##_##SUFFIX(const Number<T>* query, i64 queryStride,             \
        const Number<T>* key, i64 keyStride, const Number<T>* value, i64 valueStride, const Number<T>* a, i64 aStride,        \
        const Number<T>* b, i64 bStride, const float* rate, const float* timeBias, DELTA_TRAITS, Number<T>* output,           \
        i64 outputStride, int keyHeads, int valueHeads, int keySize, int valueSize, int takesTurns, int byRow, STATE_PAGES) { \
        deltaRule<T, BY_CHANNEL>(query, queryStride, key, keyStride, value, valueStride, a, aStride, b, bStride, rate,        \
            timeBias, GIVEN_TRAITS, output, outputStride,                                                                     \
            DeltaHeads{keyHeads, valueHeads, keySize, valueSize, takesTurns != 0, BY_CHANNEL}, byRow, GIVEN_PAGES);           \
    }

// Of the numbers of taps that models have, eight channels for a thread.
#define CONVOLUTIONS(T, TAPS, NAME)                                                                                         \
    extern "C" __global__ void __launch_bounds__(128)                                                                       \
        convolve_rows_##NAME(const u16* input, i64 inputStride, const float* weight, const float* bias, int activation,     \
            u16* output, i64 outputStride, int channels, STATE_PAGES, int rows, int rowsOfThread) {                         \
        convolve<T, TAPS, 8>(                                                                                               \
            input, inputStride, weight, bias, activation, output, outputStride, channels, GIVEN_PAGES, rows, rowsOfThread); \
    }

STATES(F32, f32)
STATES(Bf16, bf16)
STATES(F16, f16)
CONVOLUTIONS(Bf16, 3, three_bf16)
CONVOLUTIONS(F16, 3, three_f16)
CONVOLUTIONS(Bf16, 4, four_bf16)
CONVOLUTIONS(F16, 4, four_f16)
