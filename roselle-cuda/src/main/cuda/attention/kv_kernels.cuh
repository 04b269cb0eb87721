// Attention to pages of codes: decode (attention_decode.cu) and prefill (attention_prefill.cu) of the same sizes, grids and bits
// alone, in a batch and in chunks, for one type of codes (coded.cuh).
//
// Dynamic shared memory: of decode, with S bytes of a stage, 128 * (SIZE + 8) * 2 + STAGES * S + 32 * SIZE + 2,560, where STAGES is
// 3, but 2 for size 256; of prefill (128 / HALVES + 128) * 2 * (SIZE + 8) + 2 * S; S is 128 times the bytes of a key with its scales.
#pragma once
#include "attention/decode.cuh"
#include "attention/prefill.cuh"

#define CODED_SIZE(T, SUFFIX, CODES, LABEL, SIZE, STAGES, HALVES)                                                           \
    extern "C" __global__ void __launch_bounds__(128, 2) attention_decode_##LABEL##_##SIZE##_##SUFFIX(ATTENTION_PARAMETERS, \
        const int* rowSequence, const int* contextLength, float* partials, const int* firstEntry, unsigned* counters) {     \
        attendDecode<T, CODES, SIZE, STAGES, false>(                                                                        \
            ATTENTION, Parts{rowSequence, contextLength, partials, firstEntry, counters});                                  \
    }                                                                                                                       \
    extern "C" __global__ void __launch_bounds__(256, 1)                                                                    \
        attention_prefill_##LABEL##_##SIZE##_##SUFFIX(ATTENTION_PARAMETERS, const int2* tiles, const int* rowStart) {       \
        attendPrefill<T, CODES, SIZE, HALVES>(ATTENTION, tiles, rowStart);                                                  \
    }

#ifdef SMALL_BLOCKS
#define CODED_LARGE(CODES, LABEL) BOTH_TYPES(CODED_SIZE, CODES, LABEL, 128, 3, 2)
#else
#define CODED_LARGE(CODES, LABEL)                   \
    BOTH_TYPES(CODED_SIZE, CODES, LABEL, 128, 3, 1) \
    BOTH_TYPES(CODED_SIZE, CODES, LABEL, 256, 2, 2)
#endif
#define CODED_KERNELS(CODES, LABEL)                \
    BOTH_TYPES(CODED_SIZE, CODES, LABEL, 64, 3, 1) \
    BOTH_TYPES(CODED_SIZE, CODES, LABEL, 80, 3, 1) \
    BOTH_TYPES(CODED_SIZE, CODES, LABEL, 96, 3, 1) \
    CODED_LARGE(CODES, LABEL)
