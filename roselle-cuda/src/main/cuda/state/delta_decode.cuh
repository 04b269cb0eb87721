// The delta rule of sequences with one row in a step: a block has some value heads of a key head of a sequence. The bits are
// those of delta_rule_rows (delta_rule.cu). It is bound by reading states, the next of which is on its way while one is used.
//
// A net is the same for one value head of a block, with what comes before and behind it, and their bits: query, key and value are
// what a convolution of four taps (generic_state.cu) makes of the inputs, and what the head gives is normalised and gated
// (rows/gate_normed.cuh).
#pragma once
#include "rows/gate_normed.cuh"
#include "state/delta.cuh"

constexpr int DECODE_HEADS = 4;  // that a block has at most

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

// The convolution of a net, without biases, and the norm and gates behind it. Channels: queries, keys, values.
struct DeltaNet {
    const float* weight;  // [TAPS, channels]
    int activation;
    int channels;
    StatePages pages;
    NormArguments norm;
    const u16* gate;  // [rows, valueHeads * valueSize]
    i64 gateStride;
    int gating;
    float limit;
    float upLimit;
    float upOffset;
};

constexpr int TAPS = 4;

// COUNT neighbouring channels of a row before they are convolved: 1 or 4.
template <class T, int COUNT>
struct DeltaTaps {
    float weight[TAPS][COUNT];
    float seen[TAPS][COUNT];

    __device__ __forceinline__ static void some(float (&to)[COUNT], const float* from) {
        if constexpr (COUNT == 4) {
            float4 x = *(const float4*)from;
            to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
        } else {
            to[0] = *from;
        }
    }

    __device__ __forceinline__ void weigh(const DeltaNet& net, int channel) {
#pragma unroll
        for (int t = 0; t < TAPS; t++) {
            some(weight[t], net.weight + (i64)t * net.channels + channel);
        }
    }

    // All but the row's own, which earlier steps left.
    __device__ __forceinline__ void fetch(const DeltaNet& net, int sequence, int position, int channel) {
#pragma unroll
        for (int t = 0; t < TAPS - 1; t++) {
            int earlier = position - TAPS + 1 + t;
            if (earlier >= 0) {
                some(seen[t], net.pages.page(sequence, earlier / PAGE) + (i64)(earlier % PAGE) * net.channels + channel);
            } else {
#pragma unroll
                for (int i = 0; i < COUNT; i++) {
                    seen[t][i] = 0.0f;
                }
            }
        }
    }

    // The row's own.
    __device__ __forceinline__ void take(const u16* own) {
        if constexpr (COUNT == 4) {
            float4 x = four<T>(loadFour(own));
            seen[TAPS - 1][0] = x.x, seen[TAPS - 1][1] = x.y, seen[TAPS - 1][2] = x.z, seen[TAPS - 1][3] = x.w;
        } else {
            seen[TAPS - 1][0] = toFloat<T>(*own);
        }
    }

    // Keeps the row's own for later ones.
    __device__ __forceinline__ void keep(const DeltaNet& net, int sequence, int position, int channel) const {
        float* page = net.pages.page(sequence, position / PAGE);
        if (page) {
            float* to = page + (i64)(position % PAGE) * net.channels + channel;
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                to[i] = seen[TAPS - 1][i];
            }
        }
    }

    // What the convolution stores.
    __device__ __forceinline__ float value(int activation, int i) const {
        float sum = 0.0f;
#pragma unroll
        for (int t = 0; t < TAPS; t++) {
            sum = __fmaf_rn(weight[t][i], seen[t][i], sum);
        }
        return toFloat<T>(fromFloat<T>(activate(activation, sum)));
    }
};

// A row of a sequence.
template <class T, bool IS_SPACE>
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

    // Keys of the page that earlier steps left; all threads.
    __device__ __forceinline__ void takeEarlier(DecodeShared& block, int keyHead, int threads) const {
        i64 rowSize = heads.rowSize();
#pragma unroll 4
        for (int at = threadIdx.x; at < PAGE * KEY; at += threads) {
            int j = at / KEY;
            int number = at % KEY;
            float key = j < token ? page[j * rowSize + keyHead * KEY + number] : 0.0f;
            if (j != token) {
                block.keys[groupAt(j, number / 4) + number % 4] = rounded(key);
            }
        }
        for (int at = threadIdx.x; at < 6 * KEY; at += threads) {
            block.both[2 * KEY + at] = 0.0f;
        }
    }

    // The row's own key, and what products of keys are for each head; all threads. `own`: four numbers of the key or the query.
    __device__ __forceinline__ void ready(
        DecodeShared& block, int keyHead, int firstHead, int step, int count, uint2 own) const {
        int lane = threadIdx.x % 32;
        int warp = threadIdx.x / 32;
        i64 rowSize = heads.rowSize();
        int keyAt = keyHead * KEY;
        if (warp == 0) {
            float4 key = unit<T, IS_SPACE>(own, 1.0f);
            if (heads.isFirst(firstHead)) {
                float* kept = page + token * rowSize + keyAt + 4 * lane;
                kept[0] = key.x, kept[1] = key.y, kept[2] = key.z, kept[3] = key.w;
            }
            *(float4*)(block.keys + groupAt(token, lane)) = rounded(key);
            *(float4*)(block.both + groupAt(0, lane)) = rounded(key);
        } else if (warp == 1) {
            float4 query = unit<T, IS_SPACE>(own, QUERY_SCALE);
            *(float4*)(block.both + groupAt(1, lane)) = rounded(query);
        }
        bool isDecays = warp == 2 || warp == 3;
        int index = warp % 2 * 2 + lane / PAGE;
        int j = lane % PAGE;
        float decay = 0.0f;
        float beta = 0.0f;
        if (isDecays) {
            int head = firstHead + min(index, count - 1) * step;
            DeltaGates gates(in.traits, in.rate[head], toFloat<T>(in.a[row * in.aStride + head]), in.timeBias[head],
                toFloat<T>(in.b[row * in.bStride + head]));
            beta = gates.beta;
            float sum = j < token ? page[j * rowSize + heads.sumAt(head)] : 0.0f;
            float last = __shfl_sync(~0u, sum, lane / PAGE * PAGE + max(0, token - 1));
            float total = token == 0 ? gates.g : __fadd_rn(last, gates.g);
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
            block.correctionWeights[index][j] =
                j < token && !IS_SPACE ? correctionWeight(beta, decay, j < 8 ? low[0] : high[0]) : 0.0f;
            block.outputWeights[index][tokenAt(j)] = j <= token ? outputWeight(decay, j < 8 ? low[1] : high[1]) : 0.0f;
        }
    }
};

// What a block of a net has in shared memory behind all else.
struct NetShared {
    float* weight;  // [valueSize], of the norm
    u16* gates;  // likewise
    u16* given;  // likewise

    __device__ __forceinline__ NetShared(void* memory, int valueSize)
        : weight((float*)memory), gates((u16*)(weight + valueSize)), given(gates + valueSize) {}
};

template <class T, bool IS_SPACE, bool IS_NET>
__device__ __forceinline__ void deltaDecode(const DeltaInputs<T>& in, u16* output, i64 outputStride, const DeltaHeads& heads,
    int headsOfBlock, const StatePages& pages, const DeltaNet& net) {
    extern __shared__ __align__(16) float shared[];
    launchNext();
    int together = heads.valueHeads / heads.keyHeads;
    int parts = (together + headsOfBlock - 1) / headsOfBlock;
    int part = blockIdx.x % parts * headsOfBlock;
    int keyHead = blockIdx.x / parts % heads.keyHeads;
    int r = blockIdx.x / parts / heads.keyHeads;
    int count = IS_NET ? 1 : min(headsOfBlock, together - part);
    int step = heads.takesTurns ? heads.keyHeads : 1;
    int firstHead = heads.takesTurns ? part * heads.keyHeads + keyHead : keyHead * together + part;
    int lane = threadIdx.x % 32;
    int number = threadIdx.x / 32 * PIECE;
    int threads = 2 * heads.valueSize;
    int stride = heads.valueSize + 8;
    int position = pages.positions[r];
    if (position < 0) {
        return;
    }
    DecodeShared& block = *(DecodeShared*)shared;
    float* corrections = (float*)(&block + 1);
    float4* fetched = (float4*)(corrections + 2 * PAGE * stride) + number / PIECE * (PIECE * KEY / 4) + lane;
    NetShared behind(corrections + 2 * PAGE * stride + heads.valueSize * KEY, heads.valueSize);
    int sequence = pages.rowSequence[r];
    int token = position % PAGE;
    float* page = pages.page(sequence, position / PAGE);
    const float* before = position >= PAGE ? pages.page(sequence, position / PAGE - 1) : nullptr;
    DecodeRow<T, IS_SPACE> row = {in, heads, r, token, page, before};
    row.fetch(firstHead, fetched, corrections, stride);
    if (IS_NET && threadIdx.x < heads.valueSize / 4) {
        copy16(sharedAddress(behind.weight + 4 * threadIdx.x), net.norm.weight + 4 * threadIdx.x, true);
    }
    copyCommit();
    row.takeEarlier(block, keyHead, threads);
    bool isKey = threadIdx.x < 32;  // else the query
    bool hasFour = threadIdx.x < 64;
    int fourAt = keyHead * KEY + 4 * lane;
    int fourChannel = fourAt + (isKey ? heads.keyHeads * KEY : 0);
    int valueAt = firstHead * heads.valueSize + number + lane % PIECE;
    int valueChannel = 2 * heads.keyHeads * KEY + valueAt;
    DeltaTaps<T, 4> fourTaps;
    DeltaTaps<T, 1> valueTaps;
    if constexpr (IS_NET) {
        if (hasFour) {
            fourTaps.weigh(net, fourChannel);
            fourTaps.fetch(net, sequence, position, fourChannel);
        }
        valueTaps.weigh(net, valueChannel);
        valueTaps.fetch(net, sequence, position, valueChannel);
    }
    waitForPrevious();  // before which states and keys of earlier steps are there
    const u16* values = in.value + r * in.valueStride + number + lane / 4;
    float low;
    float high;
    if constexpr (IS_NET) {
        valueTaps.take(in.value + r * in.valueStride + valueAt);
        if (threadIdx.x < heads.valueSize / 8) {
            const u16* from = net.gate + r * net.gateStride + firstHead * heads.valueSize + 8 * threadIdx.x;
            copy16(sharedAddress(behind.gates + 8 * threadIdx.x), from, true);
        }
        copyCommit();
    } else {
        low = toFloat<T>(values[firstHead * heads.valueSize]);
        high = toFloat<T>(values[firstHead * heads.valueSize + 8]);
    }
    uint2 own = make_uint2(0, 0);
    if (hasFour) {
        const u16* from = isKey ? in.key + r * in.keyStride + fourAt : in.query + r * in.queryStride + fourAt;
        if constexpr (IS_NET) {
            fourTaps.take(from);
            if (heads.isFirst(firstHead)) {
                fourTaps.keep(net, sequence, position, fourChannel);
            }
            own = make_uint2(pack<T>(fourTaps.value(net.activation, 0), fourTaps.value(net.activation, 1)),
                pack<T>(fourTaps.value(net.activation, 2), fourTaps.value(net.activation, 3)));
        } else {
            own = loadFour(from);
        }
    }
    for (int at = lane; at < 2 * PAGE * PIECE; at += 32) {  // tokens that are not there yet
        int j = at / PIECE % PAGE;
        if (j > token) {
            corrections[(at / PIECE / PAGE * PAGE + j) * stride + number + at % PIECE] = 0.0f;
        }
    }
    row.ready(block, keyHead, firstHead, step, count, own);
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
        float lowValue;
        float highValue;
        if constexpr (IS_NET) {
            if (lane < PIECE) {
                valueTaps.keep(net, sequence, position, valueChannel);
            }
            float value = valueTaps.value(net.activation, 0);
            lowValue = __shfl_sync(~0u, value, lane / 4);
            highValue = __shfl_sync(~0u, value, lane / 4 + 8);
        } else {
            lowValue = low;
            highValue = high;
        }
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
            own[token * stride + lane / 4] = uncorrected<IS_SPACE>(block.betas[i], lowValue, decay, seen[0][0]);
            own[token * stride + lane / 4 + 8] = uncorrected<IS_SPACE>(block.betas[i], highValue, decay, seen[0][2]);
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
            u16* to = IS_NET ? behind.given : output + r * outputStride + head * heads.valueSize;
            to += number + lane / 4;
            if constexpr (IS_SPACE) {
                sums[0] = __fmaf_rn(in.traits.skip[head], lowValue, sums[0]);
                sums[2] = __fmaf_rn(in.traits.skip[head], highValue, sums[2]);
            }
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
    if constexpr (IS_NET) {
        __syncthreads();
        int column = 8 * lane;
        bool isIn = column < heads.valueSize;
        if (threadIdx.x < 32) {
            NormPiece piece;
            uint4 gates = make_uint4(0, 0, 0, 0);
            float x[8] = {};
            if (isIn) {
                NormArguments held = net.norm;
                held.weight = behind.weight;
                piece.load(held, column);
                gates = *(const uint4*)(behind.gates + column);
                unpack<T>(*(const uint4*)(behind.given + column), x);
            }
            uint4 result = normedAndGated<T>(
                x, isIn, piece, net.norm, heads.valueSize, gates, net.gating, net.limit, net.upLimit, net.upOffset);
            if (isIn) {
                *(uint4*)(output + r * outputStride + firstHead * heads.valueSize + column) = result;
            }
        }
    }
}
