// Products for Hopper, of which linear_hopper.cu tells: how blocks bring, sum and finish them.
#pragma once
#include "common/norms.cuh"
#include "common/wgmma.cuh"
#include "gemm/additions.cuh"
#include "gemm/gating.cuh"
#include "gemm/rings.cuh"
#include "gemm/sums.cuh"

// Loads weight tiles, and tokens where they need no norm, of the K tiles `first` until `end`. `thread` counts the producers.
template <class R>
__device__ __forceinline__ void produce(R ring, const Product& p, int rowTile, int firstToken, int first, int end, int thread) {
    constexpr int CHUNKS = R::TOKENS * 8 / (R::PRODUCERS * 32);  // 16-byte pieces of a stage that a thread copies
    constexpr int ROW_STEP = R::PRODUCERS * 4;
    static_assert(CHUNKS * R::PRODUCERS * 32 == R::TOKENS * 8, "the producers do not divide the tokens");
    int count = end - first;
    int tiles = (p.columns + TILE - 1) / TILE;
    const unsigned char* weight = p.weight + ((i64)(R::GATES ? rowTile / 2 : rowTile) * tiles + first) * TILE_BYTES;
    i64 tileStep =
        (i64)tiles * TILE_BYTES * (R::GATES ? p.outputs / 2 / TILE : 1);  // from a weight tile of a stage to the next
    u64 policy = p.rows > R::TOKENS ? READ_AGAIN : READ_ONCE;
    auto loadWeight = [&](int i) {
        int stage = i % R::STAGES;
        u32 full = ring.full(stage);
        barrierExpect(full, R::GROUPS * TILE_BYTES);
#pragma unroll
        for (int g = 0; g < R::GROUPS; g++) {
            bulkCopy(
                ring.weight(stage) + g * TILE_BYTES, weight + g * tileStep + (i64)i * TILE_BYTES, TILE_BYTES, full, policy);
        }
    };
    if (thread == 0) {
        for (int i = 0; i < min(R::STAGES, count); i++) {
            loadWeight(i);
        }
        for (int i = R::STAGES; count <= 2 * R::STAGES && i < count;
            i++) {  // short ones: the rest comes later, but from nearer
#pragma unroll
            for (int g = 0; g < R::GROUPS; g++) {
                bulkPrefetch(weight + g * tileStep + (i64)i * TILE_BYTES, TILE_BYTES);
            }
        }
    }
    if (R::NORMS) {
        for (int i = R::STAGES; i < count && thread == 0; i++) {
            barrierWait(ring.empty(i % R::STAGES), (i / R::STAGES - 1) & 1);
            loadWeight(i);
        }
        return;
    }
    waitForPrevious();  // weights never change; the input does
    int row = thread / 8;
    int chunk = thread % 8;
    int present = (p.rows - firstToken - row + ROW_STEP - 1) / ROW_STEP;  // pieces that are not past the last row
    u32 target = row * 128 + ((chunk ^ (row & 7)) << 4);  // ROW_STEP is a multiple of 8, or CHUNKS is 1 or 2
    const u16* source = p.input + (i64)(firstToken + row) * p.inputStride + first * TILE + chunk * 8;
    i64 step = ROW_STEP * p.inputStride;
    int left = p.columns - first * TILE - chunk * 8;
    for (int i = 0; i < count; i++) {
        int stage = i % R::STAGES;
        if (i >= R::STAGES) {
            barrierWait(ring.empty(stage), (i / R::STAGES - 1) & 1);
            if (thread == 0) {
                loadWeight(i);
            }
        }
        const u16* from = source;
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            u32 swizzled = ROW_STEP % 8 == 0 ? target : target ^ ((c & 1) << 6);
            copy16(ring.tokens(stage, i) + swizzled + c * ROW_STEP * 128, from, c < present && left > 0);
            from += c + 1 < present ? step : 0;
        }
        barrierArriveAfterCopies(ring.full(stage));
        source += TILE;
        left -= TILE;
    }
}

// Normalises the tokens and leaves those columns of them that belong to the K tiles `first` until `end`. A warp takes every
// fourth row; its lanes stand for up to four warps of norm (rows.cu).
template <class T>
__device__ __forceinline__ void normalise(
    NormRing ring, const Product& p, const NormArguments& n, int first, int end, const NormPiece (&pieces)[4]) {
    constexpr int WARPS = 4;
    int lane = threadIdx.x % 32;
    for (int row = threadIdx.x / 32; row < p.rows; row += 4) {
        const u16* in = p.input + row * p.inputStride;
        float x[WARPS][8];
        float sum = 0.0f;
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            int column = w * 256 + lane * 8;
            if (column < p.columns) {
                unpack<T>(*(const uint4*)(in + column), x[w]);
            }
        }
        auto total = [&](bool squares) {
            float all = 0.0f;
#pragma unroll
            for (int w = 0; w < WARPS; w++) {
                float part = w * 256 + lane * 8 < p.columns ? addEight(0.0f, x[w], squares) : 0.0f;
                part = warpSum(part);
                all = w == 0 ? part : w * 256 < p.columns ? __fadd_rn(all, part) : all;
            }
            return all;
        };
        if (n.takesMean) {
            float mean = __fdiv_rn(total(false), (float)p.columns);
#pragma unroll
            for (int w = 0; w < WARPS; w++) {
                subtract(x[w], mean);
            }
        }
        sum = total(true);
        float factor = normFactor(sum, p.columns, n.epsilon);
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            int column = w * 256 + lane * 8;
            int tile = column / TILE - first;
            if (column < p.columns) {
                pieces[w].apply(x[w], factor, n.weightOffset);
            } else {
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    x[w][i] = 0.0f;
                }
            }
            if (tile >= 0 && tile < end - first) {
                uint4 bits = packed<T>(x[w]);
                u32 to = ring.tokens(0, tile) + row * 128 + ((lane % 8 ^ (row & 7)) << 4);
                asm volatile(
                    "st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(bits.x), "r"(bits.y), "r"(bits.z), "r"(bits.w)
                    : "memory");
            }
        }
    }
    proxyFence();
    namedBarrier(1, 128);
}

// Sums the K tiles of one slice; `done` counts the tiles before them. On return nothing is in flight.
template <class T, class R>
__device__ __forceinline__ void consume(R ring, float (&sums)[R::TOKENS / 2], int group, int done, int count) {
    bool releases = threadIdx.x % 32 == 0;
    for (int i = done; i < done + count; i++) {
        int stage = i % R::STAGES;
        barrierWait(ring.full(stage), (i / R::STAGES) & 1);
        if (!R::NORMS) {
            proxyFence();  // the tokens came by ordinary writes
        }
        u64 a = operand(ring.weight(stage) + group * TILE_BYTES);
        u64 b = operand(ring.tokens(stage, i));
        wgmmaBegin();
#pragma unroll
        for (int k = 0; k < TILE / 16; k++) {
            wgmma<T, R::TOKENS>(sums, a + 2 * k, b + 2 * k, i > done || k > 0);
        }
        wgmmaCommit();
        wgmmaWait<1>();
        if (i > done && releases) {
            barrierArrive(ring.empty((i - 1) % R::STAGES));
        }
    }
    wgmmaWait<0>();
    if (count > 0 && releases) {
        barrierArrive(ring.empty((done + count - 1) % R::STAGES));
    }
}

// Stores silu(gate) * up of the sums that lie in shared memory, gates first.
template <class T, class R, class ADDITIONS>
__device__ __forceinline__ void finishGates(R ring, const Product& p, const Epilogue& epilogue, const Gating& gating,
    ADDITIONS& additions, int firstColumn, int firstToken) {
    constexpr int LANES = TILE / 4;  // threads of a token
    int lane = threadIdx.x % LANES * 4;
    int column = firstColumn + lane;
    float4 gateBias = biasFour(epilogue, column, p.outputs);
    float4 upBias = biasFour(epilogue, p.outputs / 2 + column, p.outputs);
    auto stored = [&](float4 sum, float4 bias) {
        return make_uint2(roundedPair<T>(sum.x, sum.y, bias.x, bias.y, epilogue.scale),
            roundedPair<T>(sum.z, sum.w, bias.z, bias.w, epilogue.scale));
    };
    constexpr int STEP = 128 * R::GROUPS / LANES;
    int end = min(R::TOKENS, p.rows - firstToken);
    auto store = [&](int token, uint2 gates, uint2 ups) {
        *(uint2*)((u16*)p.output + (i64)(firstToken + token) * p.outputStride + column) =
            make_uint2(gatedPair<T>(gating, gates.x, ups.x), gatedPair<T>(gating, gates.y, ups.y));
    };
    if constexpr (ADDITIONS::ADDS) {
        constexpr int TURNS = (R::TOKENS + STEP - 1) / STEP;
        uint2 numbers[2][TURNS];
#pragma unroll
        for (int half = 0; half < 2; half++) {
#pragma unroll
            for (int turn = 0; turn < TURNS; turn++) {
                int token = threadIdx.x / LANES + turn * STEP;
                if (token < end) {
                    float4 sum = localLoad(ring.base + (token * R::SUM_STRIDE + half * TILE + lane) * 4);
                    numbers[half][turn] = additions.to(stored(sum, half == 0 ? gateBias : upBias), half, token, lane);
                }
            }
        }
#pragma unroll
        for (int turn = 0; turn < TURNS; turn++) {
            int token = threadIdx.x / LANES + turn * STEP;
            if (token < end) {
                store(token, numbers[0][turn], numbers[1][turn]);
            }
        }
    } else {
        for (int token = threadIdx.x / LANES; token < end; token += STEP) {
            u32 at = ring.base + (token * R::SUM_STRIDE + lane) * 4;
            uint2 gates = stored(localLoad(at), gateBias);
            store(token, gates, stored(localLoad(at + TILE * 4), upBias));
        }
    }
}

template <class T, class R, class ADDITIONS>
__device__ __forceinline__ void linearParallel(const Product& p, const Epilogue& epilogue, int slices, ADDITIONS additions,
    const NormArguments& n = NormArguments(), const Gating& gating = Gating()) {
    launchNext();
    R ring = openRing<R>();
    int slice = blockIdx.x % slices;
    auto [rowTile, firstToken] = place<R::TOKENS, R::GROUPS>(p, blockIdx.x / slices);
    int tiles = (p.columns + TILE - 1) / TILE;
    int first = slice * tiles / slices;
    int end = (slice + 1) * tiles / slices;
    int group = threadIdx.x / 128;
    if (slices > 1 && R::HAS_INBOX) {
        clusterArrive();  // all blocks of the cluster run before one writes to another
    }
    if (group == R::GROUPS) {
        produce(ring, p, rowTile, firstToken, first, end, threadIdx.x - R::GROUPS * 128);
        __syncwarp();
        if (slices > 1) {
            if (R::HAS_INBOX) {
                clusterWait();
            }
            clusterArrive();
            clusterWait();
            if (!R::HAS_INBOX) {
                clusterArrive();  // no block leaves while others read its sums
                clusterWait();
            }
        }
        return;
    }
    Finish<T, R> f(p, epilogue, rowTile, firstToken, slice, slices);
    float sums[R::TOKENS / 2];
    if constexpr (ADDITIONS::ADDS) {
        int outputs = R::GATES ? p.outputs / 2 : TILE;  // from a tile to the next
        additions.open(threadIdx.x, firstToken, p.rows, (R::GATES ? rowTile / 2 : rowTile) * TILE, outputs);
    }
    if constexpr (R::NORMS) {
        NormPiece pieces[4];
#pragma unroll
        for (int w = 0; w < 4; w++) {
            int column = w * 256 + threadIdx.x % 32 * 8;
            if (column < p.columns && column >= first * TILE && column < end * TILE) {
                pieces[w].load(n, column);
            }
        }
        waitForPrevious();
        normalise<T>(ring, p, n, first, end, pieces);
    } else {
        waitForPrevious();
    }
    if constexpr (ADDITIONS::ADDS) {
        additions.sum(threadIdx.x, firstToken, p.rows);
    }
    if constexpr (R::GATES) {
        consume<T>(ring, sums, group, 0, end - first);
        namedBarrier(1, R::GROUPS * 128);  // the stages give way to the sums
        stash(ring, sums, group);
        namedBarrier(1, R::GROUPS * 128);
        finishGates<T>(ring, p, epilogue, gating, additions, rowTile / 2 * TILE, firstToken);
    } else if constexpr (R::HAS_INBOX) {
        uint2 old[R::TOKENS / 8];
#pragma unroll
        for (int turn = 0; turn < R::TOKENS / 8; turn++) {
            old[turn] = f.old(turn);
        }
        consume<T>(ring, sums, group, 0, end - first);
        if (slices > 1) {
            clusterWait();
            send(ring, sums, group, slice, slices, p.rows - firstToken);
            clusterArrive();
            clusterWait();
        } else {
            namedBarrier(1, R::GROUPS * 128);  // the stages give way to the sums
            stash(ring, sums, group);
            namedBarrier(1, R::GROUPS * 128);
        }
        finishHere<T>(ring, f, old, slices);
    } else {
        consume<T>(ring, sums, group, 0, end - first);
        namedBarrier(1, R::GROUPS * 128);
        stash(ring, sums, group);
        if (slices == 1) {
            namedBarrier(1, R::GROUPS * 128);
            finishThere<1>(ring, f);
            return;
        }
        clusterArrive();
        clusterWait();
        switch (slices) {
            case 2:
                finishThere<2>(ring, f);
                break;
            case 4:
                finishThere<4>(ring, f);
                break;
            default:
                finishThere<8>(ring, f);
        }
        __syncwarp();
        clusterWait();
    }
}

template <class T, class R>
__device__ __forceinline__ void linearSerial(const Product& p, const Epilogue& epilogue, int slices) {
    launchNext();
    R ring = openRing<R>();
    auto [rowTile, firstToken] = place<R::TOKENS, R::GROUPS>(p, blockIdx.x);
    int tiles = (p.columns + TILE - 1) / TILE;
    int group = threadIdx.x / 128;
    if (group == R::GROUPS) {
        if (R::TOKENS >= 128) {
            fewerRegisters<40>();
        }
        produce(ring, p, rowTile, firstToken, 0, tiles, threadIdx.x - R::GROUPS * 128);
    } else {
        if (R::TOKENS >= 128) {
            moreRegisters<232>();
        }
        float all[R::TOKENS / 2];
        for (int s = 0; s < slices; s++) {
            float sums[R::TOKENS / 2];
            int first = s * tiles / slices;
            consume<T>(ring, sums, group, first, (s + 1) * tiles / slices - first);
#pragma unroll
            for (int i = 0; i < R::TOKENS / 2; i++) {
                all[i] = s == 0 ? sums[i] : all[i] + sums[i];
            }
        }
        waitForPrevious();
        namedBarrier(1, R::GROUPS * 128);
        stash(ring, all, group);
        namedBarrier(1, R::GROUPS * 128);
        finishThere<1>(ring, Finish<T, R>(p, epilogue, rowTile, firstToken, 0, 1));
    }
}
