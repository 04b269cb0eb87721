// Pages of layers that go on from a state, and which rows a sequence has in a step.
//
// A page has a row for each of its tokens, then, where there is one, the state behind its last token; all of it float32. An
// entry of the page table may be -1: what belongs there is not kept. contents: architecture.md, decision 30.
#pragma once
#include "common/elements.cuh"

struct StatePages {
    float* cache;  // of the layer
    i64 elements;  // of a page
    int tokens;
    const int* table;  // [sequences, maxPages]
    int maxPages;
    const int* rowSequence;  // [rows]
    const int* positions;    // [rows]; negative where a row only fills a grid
    const int* rowStart;     // [sequences + 1]

    // The first number of a page of a sequence; null where it is not kept.
    __device__ __forceinline__ float* page(int sequence, int index) const {
        return entry(table[(i64)sequence * maxPages + index]);
    }

    __device__ __forceinline__ float* entry(int at) const {
        return at < 0 ? nullptr : cache + at * elements;
    }
};

// The rows of a sequence in a step, and the position of the first.
struct StateRows {
    int sequence;
    int first;
    int end;  // first where there is nothing to do
    int position;

    // Grids have a place for each sequence, or, where recorded steps have other numbers of them, for each row: then that of a
    // sequence's first row is the sequence's.
    __device__ __forceinline__ StateRows(const StatePages& pages, int place, bool isRow) {
        sequence = isRow ? pages.rowSequence[place] : place;
        first = pages.rowStart[sequence];
        end = pages.rowStart[sequence + 1];
        position = pages.positions[isRow ? place : first];
        if (position < 0 || (isRow && place != first)) {
            end = first;
        }
    }
};

#define STATE_PAGES                                                                                             \
    float *cache, i64 pageElements, int pageTokens, const int *pageTable, int maxPages, const int *rowSequence, \
        const int *positions, const int *rowStart
#define GIVEN_PAGES                                                                            \
    StatePages {                                                                               \
        cache, pageElements, pageTokens, pageTable, maxPages, rowSequence, positions, rowStart \
    }

// Heads of a delta rule. A row of a page: keys [keyHeads, keySize], corrections [valueHeads, valueSize], sums of g [valueHeads]
// or, where channels decay by themselves, their e^g [keyHeads, keySize].
struct DeltaHeads {
    int keyHeads;
    int valueHeads;
    int keySize;
    int valueSize;
    bool takesTurns;
    bool byChannel = false;

    __device__ __forceinline__ int keyHead(int head) const {
        return takesTurns ? head % keyHeads : head / (valueHeads / keyHeads);
    }

    // Whether a value head is the first that goes with its key head.
    __device__ __forceinline__ bool isFirst(int head) const {
        return takesTurns ? head < keyHeads : head % (valueHeads / keyHeads) == 0;
    }

    __device__ __forceinline__ int rowSize() const {
        return keyHeads * keySize + valueHeads * valueSize + (byChannel ? keyHeads * keySize : valueHeads);
    }

    __device__ __forceinline__ int keyAt(int head) const {
        return keyHead(head) * keySize;
    }

    __device__ __forceinline__ int correctionAt(int head) const {
        return keyHeads * keySize + head * valueSize;
    }

    __device__ __forceinline__ int sumAt(int head) const {
        return keyHeads * keySize + valueHeads * valueSize + (byChannel ? head * keySize : head);
    }

    __device__ __forceinline__ i64 stateAt(int head, int pageTokens) const {
        return (i64)pageTokens * rowSize() + (i64)head * keySize * valueSize;
    }
};

// What few rules have. `skip` makes of one a state space (Mamba 2): a token takes t = softplus(a + timeBias) within bounds, g is
// rate * t, d is t v without a correction, skip * v is added to the output, and queries and keys are as they are.
struct DeltaTraits {
    const float* skip;  // [valueHeads]; null for a delta rule
    float shortest;
    float longest;
    float strength;  // of corrections; with 2 they may overshoot
    float least;  // bound of g, which is least * sigmoid(-rate (a + timeBias)) then; 0 for none
};

__device__ __forceinline__ float softplus(float x) {
    return __fadd_rn(fmaxf(x, 0.0f), log1pf(expf(-fabsf(x))));
}

// What a token does to a head's state: g, below 0, and what its value is multiplied with.
struct DeltaGates {
    float g;
    float beta;

    // `b` is not looked at in a state space.
    __device__ __forceinline__ DeltaGates(const DeltaTraits& traits, float rate, float a, float timeBias, float b) {
        float x = __fadd_rn(a, timeBias);
        float time = softplus(x);
        if (traits.skip) {
            time = fminf(fmaxf(time, traits.shortest), traits.longest);
        }
        bool isBounded = traits.least != 0.0f;
        g = isBounded ? __fmul_rn(traits.least, __frcp_rn(__fadd_rn(1.0f, expf(__fmul_rn(rate, x))))) : __fmul_rn(rate, time);
        beta = traits.skip ? time : __fmul_rn(traits.strength, __frcp_rn(__fadd_rn(1.0f, expf(-b))));
    }
};

#define DELTA_TRAITS const float *skip, float shortest, float longest, float strength, float least
#define GIVEN_TRAITS                             \
    DeltaTraits {                                \
        skip, shortest, longest, strength, least \
    }

// What a key is multiplied with to be of unit length, from the sum of its squares; queries with the root of their size besides.
__device__ __forceinline__ float unitFactor(float squares, float scale) {
    return __fdiv_rn(scale, __fsqrt_rn(__fadd_rn(squares, 1e-6f)));
}
