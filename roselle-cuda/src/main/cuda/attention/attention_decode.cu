// Decode attention (attention.cuh): few rows, each on its own; the heads of a key head share its keys.
//
// attention_decode_append is the same where each sequence has one row: it normalises and rotates queries and keys itself and
// appends keys and values to the pages (fresh.cuh), with the bits of rope_append (rows.cu).
//
// Head sizes 64, 80, 96, 128, 256 and 512 on sm_80 and later, of 512 without the kernel that appends; on sm_90a those of 64, 128 and
// 256 are in attention_decode_hopper.cu. Grid (parts, keyHeads * ceil(group / 16), rows), 128 threads, dynamic shared
// memory STAGES * 256 * (SIZE + 8) + 32 * SIZE + 2,560 bytes. Part x of a row walks its x-th run of splits, and how many parts there
// are changes no bits. STAGES is 3, but 4 for size 80, 2 for 256 and 1 for 512; where a block has no more than 99 KiB (sm_86,
// sm_89, sm_120), 2 for size 128, and there is no kernel for more. Up to 8 parts may be launched as a cluster (parts, 1, 1), a
// multiple of 8 as clusters (8, 1, 1), the last of which merges all runs (sm_90 and later); else the last part to finish does. May be
// launched with programmatic stream serialization.
// rowSequence: [rows]. contextLength: [sequences], positions whose keys were written in earlier steps.
// partials: float32 [entries, keyHeads * group, SIZE + 2] where row r owns the entries from firstEntry[r] on, one for each
// split up to its position. counters: [rows * keyHeads * ceil(group / 16)] zeros, which it leaves as zeros.
#include "attention/decode.cuh"

#define DECODE_ALONE(T, SUFFIX, SIZE, STAGES)                                                                           \
    extern "C" __global__ void __launch_bounds__(128, 1) attention_decode_##SIZE##_##SUFFIX(ATTENTION_PARAMETERS,       \
        const int* rowSequence, const int* contextLength, float* partials, const int* firstEntry, unsigned* counters) { \
        attendDecode<T, Plain, SIZE, STAGES, false>(                                                                    \
            ATTENTION, Parts{rowSequence, contextLength, partials, firstEntry, counters});                              \
    }
#define DECODE(T, SUFFIX, SIZE, STAGES, BLOCKS)                                                                           \
    DECODE_ALONE(T, SUFFIX, SIZE, STAGES)                                                                                 \
    extern "C" __global__ void __launch_bounds__(128, BLOCKS)                                                             \
        attention_decode_append_##SIZE##_##SUFFIX(ATTENTION_PARAMETERS, const int* rowSequence, const int* contextLength, \
            float* partials, const int* firstEntry, unsigned* counters, FRESH_PARAMETERS) {                               \
        attendDecode<T, Plain, SIZE, STAGES, true>(                                                                       \
            ATTENTION, Parts{rowSequence, contextLength, partials, firstEntry, counters}, FRESH);                         \
    }

BOTH_TYPES(DECODE, 80, 4, 2)
BOTH_TYPES(DECODE, 96, 3, 2)
#ifdef SMALL_BLOCKS
BOTH_TYPES(DECODE, 64, 3, 3)
BOTH_TYPES(DECODE, 128, 2, 1)
#else
BOTH_TYPES(DECODE_ALONE, 512, 1)
#if __CUDA_ARCH__ != 900
BOTH_TYPES(DECODE, 64, 3, 3)
BOTH_TYPES(DECODE, 128, 3, 2)
BOTH_TYPES(DECODE, 256, 2, 1)
#endif
#endif
