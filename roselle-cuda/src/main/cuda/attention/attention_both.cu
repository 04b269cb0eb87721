// Attention in both directions, of encoders: whole sequences in a step, rows of a sequence against all of it (attention.cuh).
//
// Row r sees the positions p of its sequence with |p - r| < window, or all of them where the window is 0. What distances add to
// scores (Raffel et al., 2020) is looked up by max(-span, min(span, p - r)); kernels named `meet` add what queries and keys say of
// distances (He et al., 2021). The order of the sums is that of prefill attention, so a row's bits depend on its query and its sequence
// alone.
//
// Head sizes 32, 64, 80, 96, 128 and 256 on sm_80 and later. Grid, rows, HALVES and dynamic shared memory are those of
// attention_prefill.cu; where `tiles` is null, block x has row x alone: so a grid for few rows depends on their number only, and
// a recorded step may come with other sequences.
#include "attention/prefill.cuh"

#define BOTH(T, SUFFIX, SIZE, HALVES)                                                                              \
    extern "C" __global__ void __launch_bounds__(256, 1) attention_both_##SIZE##_##SUFFIX(ATTENTION_PARAMETERS,    \
        const int2* tiles, const int* rowStart, const int* rowSequence, const float* distances, int span) {        \
        attendPrefill<T, Plain, SIZE, HALVES>(ATTENTION, tiles, rowStart, BothWays{rowSequence, distances, span}); \
    }

#define MEET(T, SUFFIX, SIZE, HALVES)                                                                                  \
    extern "C" __global__ void __launch_bounds__(256, 1) attention_meet_##SIZE##_##SUFFIX(ATTENTION_PARAMETERS,        \
        const int2* tiles, const int* rowStart, const int* rowSequence, const u16* ofQueries, i64 queriesStride,       \
        const u16* ofKeys, i64 keysStride, int count, const float* kinds, int farthest) {                              \
        attendPrefill<T, Plain, SIZE, HALVES>(ATTENTION, tiles, rowStart,                                              \
            Meeting{{rowSequence, nullptr, 0}, ofQueries, queriesStride, ofKeys, keysStride, count, kinds, farthest}); \
    }

BOTH_TYPES(MEET, 32, 1)
BOTH_TYPES(MEET, 64, 1)
BOTH_TYPES(BOTH, 32, 1)
BOTH_TYPES(BOTH, 64, 1)
BOTH_TYPES(BOTH, 80, 1)
BOTH_TYPES(BOTH, 96, 1)
#ifdef SMALL_BLOCKS
BOTH_TYPES(BOTH, 128, 2)
#else
BOTH_TYPES(BOTH, 128, 1)
BOTH_TYPES(BOTH, 256, 2)
#endif
