// Prefill attention (attention.cuh): many rows of a sequence, tiles of queries against tiles of keys.
//
// Head sizes 64, 80, 96, 128, 256 and 512 on sm_80 and later. Grid (tiles, keyHeads), 256 threads; block x has the rows of
// sequence tiles[x].x from row tiles[x].y on, as many as fit into 128 / HALVES rows of (token, head): tokens =
// 128 / HALVES / group; HALVES is 1, but 2 for size 256 and 4 for 512; where a block has no more than 99 KiB of shared memory
// (sm_86, sm_89, sm_120), 2 for size 128, and there is no kernel for more.
// rowStart[sequence + 1] ends them. Dynamic shared memory: (128 / HALVES + 256) * 2 * (SIZE + 8) bytes; of size 512
// (32 + 128) * 2 * (SIZE + 8) + 5,120.
#include "attention/prefill.cuh"
#include "attention/prefill_wide.cuh"

#define PREFILL(T, SUFFIX, SIZE, HALVES)                                                                    \
    extern "C" __global__ void __launch_bounds__(256, 1)                                                    \
        attention_prefill_##SIZE##_##SUFFIX(ATTENTION_PARAMETERS, const int2* tiles, const int* rowStart) { \
        attendPrefill<T, Plain, SIZE, HALVES>(ATTENTION, tiles, rowStart);                                  \
    }

#define PREFILL_WIDE(T, SUFFIX, SIZE)                                                                       \
    extern "C" __global__ void __launch_bounds__(256, 1)                                                    \
        attention_prefill_##SIZE##_##SUFFIX(ATTENTION_PARAMETERS, const int2* tiles, const int* rowStart) { \
        attendWide<T, SIZE>(ATTENTION, tiles, rowStart);                                                    \
    }

BOTH_TYPES(PREFILL, 64, 1)
BOTH_TYPES(PREFILL, 80, 1)
BOTH_TYPES(PREFILL, 96, 1)
#ifdef SMALL_BLOCKS
BOTH_TYPES(PREFILL, 128, 2)
#else
BOTH_TYPES(PREFILL, 128, 1)
BOTH_TYPES(PREFILL, 256, 2)
BOTH_TYPES(PREFILL_WIDE, 512)
#endif
