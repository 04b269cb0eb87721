// What adapters add to the outputs of a product while it is finished, with the bits of low_rank_expand after it: the
// outputs as they would be stored are the first summand.
#pragma once
#include "adapter/added.cuh"
#include "common/hopper.cuh"

constexpr int ADDED_RANKS = 16;  // of a part, at most

#define ADDED_PARAMETERS \
    const u64 *adapters, int weightNumber, float factor, const float *shrunk, int shrunkStride, int shrunkSlices
#define ADDED                                                              \
    AddedArguments {                                                       \
        adapters, weightNumber, factor, shrunk, shrunkStride, shrunkSlices \
    }

// The parameters of what is added, those of low_rank_expand.
struct AddedArguments {
    const u64* adapters;
    int weight;
    float factor;
    const float* shrunk;
    int shrunkStride;
    int slices;
};

// A row's part among the outputs of one weight tile.
struct AddedTile {
    const u16* matrix;  // B turned, from the tile's first output on; null where nothing is added
    int width;
    int rank;
    int outputs;  // of the part from the tile's first on
    int firstRank;
    float scale;
};

// Nothing, for products without adapters.
struct NoAdditions {
    static constexpr bool ADDS = false;
};

// What a block adds: of TILES weight tiles, 64 outputs each that lie in one part of an adapter, to TOKENS rows.
template <class T, int TOKENS, int TILES>
struct Additions {
    static constexpr bool ADDS = true;

    struct Memory {
        AddedTile tiles[TILES][TOKENS];
        float numbers[TILES][TOKENS][ADDED_RANKS];  // of the ranks, with all factors
    };

    Memory& memory;
    const AddedArguments& arguments;
    static constexpr int HELD = ADDED_RANKS / 2;  // as many ranks as there are registers for

    __device__ __forceinline__ Additions(Memory& memory, const AddedArguments& arguments)
        : memory(memory), arguments(arguments) {}

    // Finds the parts of the rows and has the second cache read them, before what came before this kernel has ended; the first
    // outputs of tiles are `step` apart. `thread` counts to 128 * TILES; barrier 1 is theirs.
    __device__ __forceinline__ void open(int thread, int firstToken, int rows, int firstOutput, int step) {
        if (thread < TOKENS * TILES) {
            int token = thread % TOKENS;
            int tile = thread / TOKENS;
            AddedTile found = {};
            if (firstToken + token < rows) {
                Added added(arguments.adapters[firstToken + token], arguments.weight);
                int output = firstOutput + tile * step;
                for (int i = 0; i < added.count; i++) {
                    AddedPart part = added.parts[i];
                    int at = output - part.firstOutput;
                    if (at >= 0 && at < part.outputs) {
                        found = {(const u16*)(added.adapter + part.expand) + at, part.width, part.rank, part.outputs - at,
                            part.firstRank, part.scale};
                    }
                }
            }
            memory.tiles[tile][token] = found;
        }
        namedBarrier(1, 128 * TILES);
        for (int i = thread; i < TILES * TOKENS * ADDED_RANKS; i += 128 * TILES) {
            int rank = i % ADDED_RANKS;
            int token = i / ADDED_RANKS % TOKENS;
            const AddedTile& tile = memory.tiles[i / ADDED_RANKS / TOKENS][token];
            bool isOther = token == 0 || (&tile)[-1].matrix != tile.matrix;
            if (tile.matrix && rank < tile.rank && isOther) {
                asm volatile("prefetch.global.L2 [%0];" ::"l"(tile.matrix + (i64)rank * tile.width));
            }
        }
    }

    // Sums up what the rows were shrunk to; a barrier is to follow.
    __device__ __forceinline__ void sum(int thread, int firstToken, int rows) {
        constexpr int ITEMS = TOKENS * ADDED_RANKS / 128;  // of a thread, whose numbers are all fetched at once
        int rank = thread % ADDED_RANKS;
        i64 stride = (i64)rows * arguments.shrunkStride;
        int from[ITEMS];  // negative where there is none
        float sums[ITEMS];
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            int at = thread / ADDED_RANKS + i * 128 * TILES / ADDED_RANKS;
            const AddedTile& tile = memory.tiles[at / TOKENS][at % TOKENS];
            bool isThere = tile.matrix && rank < tile.rank;
            from[i] = isThere ? (firstToken + at % TOKENS) * arguments.shrunkStride + tile.firstRank + rank : -1;
            sums[i] = isThere ? arguments.shrunk[from[i]] : 0.0f;
        }
#pragma unroll 2
        for (int s = 1; s < arguments.slices; s++) {
            const float* slice = arguments.shrunk + s * stride;
#pragma unroll
            for (int i = 0; i < ITEMS; i++) {
                sums[i] = from[i] >= 0 ? __fadd_rn(sums[i], slice[from[i]]) : 0.0f;
            }
        }
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            int at = thread / ADDED_RANKS + i * 128 * TILES / ADDED_RANKS;
            const AddedTile& tile = memory.tiles[at / TOKENS][at % TOKENS];
            memory.numbers[at / TOKENS][at % TOKENS][rank] = __fmul_rn(tile.scale, __fmul_rn(arguments.factor, sums[i]));
        }
    }

    // Adds to four outputs of a tile, as they would be stored.
    __device__ __forceinline__ uint2 to(uint2 outputs, int tile, int token, int lane) const {
        const AddedTile& part = memory.tiles[tile][token];
        if (part.matrix == nullptr || lane >= part.outputs) {
            return outputs;
        }
        int rank = part.rank;
        float x[4] = {lowHalf<T>(outputs.x), highHalf<T>(outputs.x), lowHalf<T>(outputs.y), highHalf<T>(outputs.y)};
        const float* numbers = memory.numbers[tile][token];
#pragma unroll
        for (int first = 0; first < ADDED_RANKS; first += HELD) {
            uint2 b[HELD];  // four outputs of each rank
#pragma unroll
            for (int j = 0; j < HELD; j++) {
                if (first + j < rank) {
                    b[j] = *(const uint2*)(part.matrix + (i64)(first + j) * part.width + lane);
                }
            }
#pragma unroll
            for (int j = 0; j < HELD; j++) {
                if (first + j < rank) {
                    float number = numbers[first + j];
                    x[0] = __fmaf_rn(lowHalf<T>(b[j].x), number, x[0]);
                    x[1] = __fmaf_rn(highHalf<T>(b[j].x), number, x[1]);
                    x[2] = __fmaf_rn(lowHalf<T>(b[j].y), number, x[2]);
                    x[3] = __fmaf_rn(highHalf<T>(b[j].y), number, x[3]);
                }
            }
        }
        return make_uint2(pack<T>(x[0], x[1]), pack<T>(x[2], x[3]));
    }
};
