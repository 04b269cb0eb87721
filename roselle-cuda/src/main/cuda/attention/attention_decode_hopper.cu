// Decode attention (attention_decode.cu) whose later pages the copy engine brings (sm_90a), head sizes 64, 128 and 256: the same grid, rows,
// bits and parameters but for one more: `pages`, the tensor map of the layer's pages as rows of SIZE numbers, in boxes of a page's
// 16 rows of 64 columns, swizzled by 128 bytes. Dynamic shared memory 1,024 + STAGES * (256 * SIZE + 8) + 32 * SIZE + 2,560 bytes;
// STAGES is 3, but 2 for size 256.
#include "attention/decode.cuh"

constexpr int NO_ROW = 0x7FFFFF00;  // past the end of any cache: zeros come

// Pages of numbers that the copy engine brings, a quarter of a tile for each warp.
struct Bulk {
    static constexpr bool IS_CODED = false;
    static constexpr bool IS_BULK = true;
    template <int SIZE>
    using Rows = SwizzledRows<SIZE>;
    template <int SIZE>
    static constexpr u32 STAGE_BYTES = 2 * SwizzledRows<SIZE>::BYTES;
    template <int SIZE>
    static constexpr u32 DECODED_BYTES = 0;

    const TensorMap* map;

    template <int STAGES, int WARPS>
    __device__ __forceinline__ void begin(u32 barriers) const {
        if (threadIdx.x == 0) {
            for (int i = 0; i < STAGES; i++) {
                barrierInit(barriers + i * 8, WARPS);
            }
            barrierInitDone();
            asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
        }
    }

    // Asks for a tile: each warp for its page, of keys and of values.
    template <int SIZE>
    __device__ __forceinline__ void ask(
        const Attention& p, const HeldPages& pages, int keyHead, int tile, u32 to, u32 barrier) const {
        int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);  // which tells the compiler that it is the warp's
        int page = tile * (TILE / PAGE) + warp;
        int row = pages.at(page) * ((int)p.pageElements / SIZE) + keyHead * PAGE;
        row = page >= pages.first && page < pages.end ? row : NO_ROW;
        to += warp * PAGE * 128;
        if (threadIdx.x % 32 == 0) {
            barrierExpect(barrier, STAGE_BYTES<SIZE> / (TILE / PAGE));
#pragma unroll
            for (int i = 0; i < SIZE / 64; i++) {
                tensorCopy(to + i * TILE * 128, map, i * 64, row, barrier);
                tensorCopy(to + SwizzledRows<SIZE>::BYTES + i * TILE * 128, map, i * 64, row + p.keyHeads * PAGE, barrier);
            }
        }
    }

    __device__ __forceinline__ void await(u32 barrier, int parity) const {
        barrierWait(barrier, parity);
    }

    // Orders what this thread has written to shared memory before what the copy engine writes there, if it does.
    __device__ __forceinline__ void settle(bool isNeeded) const {
        if (isNeeded) {
            proxyFence();
        }
    }

    // Makes zeros of the values behind the last position in its page, whatever they are: a weight of 0 times infinity would be no
    // number.
    template <int SIZE, int THREADS>
    __device__ __forceinline__ void clear(unsigned char* values, int end) const {
        int rows = -end & (PAGE - 1);
        for (int i = threadIdx.x; i < rows * (SIZE / 8); i += THREADS) {
            u32 at = SwizzledRows<SIZE>::place(end % TILE + i / (SIZE / 8), i % (SIZE / 8));
            *(uint4*)(values + at) = make_uint4(0, 0, 0, 0);
        }
    }
};

#define DECODE(T, SUFFIX, SIZE, STAGES, BLOCKS)                                                                           \
    extern "C" __global__ void __launch_bounds__(128, BLOCKS)                                                             \
        attention_decode_hopper_##SIZE##_##SUFFIX(ATTENTION_PARAMETERS, const int* rowSequence, const int* contextLength, \
            float* partials, const int* firstEntry, unsigned* counters, const __grid_constant__ TensorMap pages) {        \
        attendDecode<T, Bulk, SIZE, STAGES, false>(                                                                       \
            ATTENTION, Parts{rowSequence, contextLength, partials, firstEntry, counters}, Fresh(), Bulk{&pages});         \
    }                                                                                                                     \
    extern "C" __global__ void __launch_bounds__(128, BLOCKS) attention_decode_hopper_append_##SIZE##_##SUFFIX(           \
        ATTENTION_PARAMETERS, const int* rowSequence, const int* contextLength, float* partials, const int* firstEntry,   \
        unsigned* counters, FRESH_PARAMETERS, const __grid_constant__ TensorMap pages) {                                  \
        attendDecode<T, Bulk, SIZE, STAGES, true>(                                                                        \
            ATTENTION, Parts{rowSequence, contextLength, partials, firstEntry, counters}, FRESH, Bulk{&pages});           \
    }

BOTH_TYPES(DECODE, 64, 3, 3)
BOTH_TYPES(DECODE, 128, 3, 2)
BOTH_TYPES(DECODE, 256, 2, 1)
