// Products for Hopper: their parameters, and the shared memory of linear_hopper.cu: weight tiles and tokens on their way, sums, and barriers.
#pragma once
#include "common/hopper.cuh"

constexpr int TILE = 64;
constexpr u32 TILE_BYTES = TILE * TILE * 2;
constexpr int MOST_SLICES = 8;

struct Product {
    const unsigned char* weight;
    const u16* input;
    i64 inputStride;
    void* output;
    i64 outputStride;
    int rows;
    int outputs;
    int columns;
};

// The parameters of all kernels that compute one, and the product among them; EPILOGUE (epilogue.cuh) is the rest.
#define PRODUCT_PARAMETERS                                                                                               \
    const void *weight, const void *input, i64 inputStride, const float *bias, void *output, i64 outputStride, int rows, \
        int outputs, int columns, int slices, int activation, float scale, int flags
#define PRODUCT                                                                                                    \
    Product {                                                                                                      \
        (const unsigned char*)weight, (const u16*)input, inputStride, output, outputStride, rows, outputs, columns \
    }

// The shared memory of a block: STAGES times (GROUPS weight tiles, then TOKENS rows of 128 bytes), then the inbox, then the
// barriers. Few tokens: blocks of a cluster send each other their sums, into the inbox, [slices][tokens of a block][64].
// Many tokens: the sums of a block, [TOKENS][64 * GROUPS + 4], take the place of the stages when all of them are used up.
// GATES: of two weight tiles one is of gates, the other of the ups that belong to them; then there are no slices.
template <int TOKENS_, int GROUPS_, int PRODUCERS_, int STAGES_, bool GATES_ = false>
struct Ring {
    static constexpr int TOKENS = TOKENS_;
    static constexpr int GROUPS = GROUPS_;
    static constexpr int PRODUCERS = PRODUCERS_;
    static constexpr int STAGES = STAGES_;
    static constexpr bool NORMS = false;
    static constexpr bool GATES = GATES_;
    static constexpr int ARRIVALS = 1 + PRODUCERS * 32;  // at the barrier of a full stage
    static constexpr u32 STAGE_BYTES = GROUPS * TILE_BYTES + TOKENS * 128;
    static constexpr int SUM_STRIDE = TILE * GROUPS + 4;
    static constexpr bool HAS_INBOX = TOKENS <= 32 && !GATES;
    static constexpr u32 INBOX_BYTES = HAS_INBOX ? (TOKENS + MOST_SLICES) * TILE * GROUPS * 4 : 0;
    static_assert(TOKENS * SUM_STRIDE * 4 <= STAGES * STAGE_BYTES, "the sums do not fit");
    u32 base;

    __device__ u32 weight(int stage) const {
        return base + stage * STAGE_BYTES;
    }
    __device__ u32 tokens(int stage, int) const {
        return weight(stage) + GROUPS * TILE_BYTES;
    }
    __device__ u32 inbox() const {
        return base + STAGES * STAGE_BYTES;
    }
    __device__ u32 full(int stage) const {
        return inbox() + INBOX_BYTES + stage * 16;
    }
    __device__ u32 empty(int stage) const {
        return full(stage) + 8;
    }
};

// A place in the ring of stages, and how often it was used.
struct Turn {
    int stage = 0;
    u32 parity = 0;

    template <int STAGES>
    __device__ __forceinline__ void next() {
        stage++;
        if (stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

// Where the block normalises its tokens itself: weight tiles, then all tokens of the slice, then as above.
struct NormRing {
    static constexpr int TOKENS = 8;
    static constexpr int GROUPS = 1;
    static constexpr int PRODUCERS = 1;
    static constexpr int STAGES = 11;
    static constexpr bool NORMS = true;
    static constexpr bool GATES = false;
    static constexpr int ARRIVALS = 1;
    static constexpr int MOST_TILES = 16;
    static constexpr int SUM_STRIDE = TILE + 4;
    static constexpr bool HAS_INBOX = true;
    static constexpr u32 INBOX_BYTES = (TOKENS + MOST_SLICES) * TILE * 4;
    u32 base;

    __device__ u32 weight(int stage) const {
        return base + stage * TILE_BYTES;
    }
    __device__ u32 tokens(int, int tile) const {
        return base + STAGES * TILE_BYTES + tile * TOKENS * 128;
    }
    __device__ u32 inbox() const {
        return base + STAGES * TILE_BYTES + MOST_TILES * TOKENS * 128;
    }
    __device__ u32 full(int stage) const {
        return inbox() + INBOX_BYTES + stage * 16;
    }
    __device__ u32 empty(int stage) const {
        return full(stage) + 8;
    }
};
