// Latent attention (latent.cuh) with wgmma (sm_90a): tiles of 64 rows of (token, head).
//
// Two warpgroups each take half of the numbers of a product and half of the columns of a value; four warps load pages. Its sums
// are those of attention_latent.cu, bit for bit, and so are grid, items and parameters; 384 threads, dynamic shared memory
// 230,960 bytes.
#include "attention/latent.cuh"
#include "common/wgmma.cuh"

constexpr int ROWS = 64;
constexpr int STAGES = 2;
constexpr u32 BLOCK = 64 * 128;  // 64 rows of 64 numbers, swizzled
constexpr u32 QUERY_BYTES = KEY / 64 * BLOCK;  // the last block is what lies behind the value; keys likewise
constexpr u32 LATENT_BYTES = VALUE / 64 * BLOCK;
constexpr u32 EXCHANGE_BYTES = ROWS * TILE * 4;
constexpr int CONSUMERS = 256;
constexpr int ALL_CONSUMERS = 5;  // the barrier of all; 1 to 4 are those of the two warps that have the same rows
constexpr u32 MEMORY = QUERY_BYTES + STAGES * LATENT_BYTES + BLOCK + EXCHANGE_BYTES + ROWS * 8 + 48;
static_assert(MEMORY + 1024 == 230960);

__device__ __forceinline__ u32 swizzled(int row, int chunk) {
    return chunk / 8 * BLOCK + row * 128 + ((chunk ^ row) & 7) * 16;
}

// Values of 16 positions as the B operand: columns contiguous, blocks of 64 columns one after the other.
__device__ __forceinline__ u64 valueOperand(u32 address) {
    return (u64)((address & 0x3FFFF) >> 4) | ((u64)(BLOCK / 16) << 16) | (64ULL << 32) | (1ULL << 62);
}

// What goes through shared memory; tiles are counted through all items of the block.
struct Ring {
    u32 base;

    __device__ u32 latents(int i) const {
        return base + QUERY_BYTES + i % STAGES * LATENT_BYTES;
    }
    __device__ u32 turned() const {
        return base + QUERY_BYTES + STAGES * LATENT_BYTES;
    }
    __device__ u32 exchange() const {
        return turned() + BLOCK;
    }
    __device__ u32 floats() const {
        return exchange() + EXCHANGE_BYTES;
    }
    __device__ u32 full(int i) const {
        return floats() + ROWS * 8 + i % STAGES * 16;
    }
    __device__ u32 empty(int i) const {
        return full(i) + 8;
    }
    __device__ u32 turnedFull() const {
        return floats() + ROWS * 8 + STAGES * 16;
    }
    __device__ u32 turnedEmpty() const {
        return turnedFull() + 8;
    }
};

// The tiles of an item that this block walks.
struct Walk {
    int splits;
    int first;
    int last;  // the tile behind

    static __device__ __forceinline__ Walk of(int end) {
        Walk walk;
        walk.splits = splitsOf(end);
        int perPart = (walk.splits + gridDim.y - 1) / gridDim.y;
        int from = blockIdx.y * perPart;
        int to = min(from + perPart, walk.splits);
        walk.first = firstTile(from);
        walk.last = from < to ? min(firstTile(to), (end + TILE - 1) / TILE) : walk.first;
        return walk;
    }
};

__device__ __forceinline__ void loadPages(const Latent& p, Ring ring, int items) {
    int thread = threadIdx.x - CONSUMERS;
    int row = thread / 16;  // of eight, whose swizzle is that of the rows 8, 16, ... further
    int chunk = thread % 16;
    u32 target = swizzled(row, chunk);
    int source = row * KEY + chunk * 8;
    u32 turnedTarget = swizzled(thread / 8, thread % 8);
    int turnedSource = thread / 8 * KEY + VALUE + thread % 8 * 8;
    int count = 0;
    for (int index = blockIdx.x; index < items; index += gridDim.x) {
        Item item = Item::of<ROWS>(p, index);
        int end = item.firstPosition + item.tokens;
        Walk walk = Walk::of(end);
        const int* pages = p.pageTable + (i64)item.sequence * p.maxPages;
        for (int tile = walk.first; tile < walk.last; tile++, count++) {
            int page[TILE / PAGE];
#pragma unroll
            for (int q = 0; q < TILE / PAGE; q++) {
                int position = tile * TILE + q * PAGE;
                page[q] = position < end ? pages[position / PAGE] : 0;
            }
            int left = end - tile * TILE;
            if (count >= STAGES) {
                barrierWait(ring.empty(count), (count / STAGES - 1) & 1);
            }
            u32 to = ring.latents(count) + target;
#pragma unroll
            for (int q = 0; q < TILE / PAGE; q++) {
                const u16* from = p.cache + page[q] * p.pageElements + source;
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    int down = i / 4 * 8;
                    copy16(to + i % 4 * 2 * BLOCK + (q * PAGE + down) * 128, from + down * KEY + i % 4 * 128,
                        q * PAGE + down + row < left);
                }
            }
            barrierArriveAfterCopies(ring.full(count));
            if (count >= 1) {
                barrierWait(ring.turnedEmpty(), (count - 1) & 1);
            }
#pragma unroll
            for (int q = 0; q < TILE / PAGE; q++) {
                copy16(ring.turned() + turnedTarget + q * PAGE * 128, p.cache + page[q] * p.pageElements + turnedSource,
                    q * PAGE + thread / 8 < left);
            }
            barrierArriveAfterCopies(ring.turnedFull());
        }
    }
}

template <class T>
__device__ __forceinline__ void attendLatent(const Latent& p) {
    extern __shared__ unsigned char memory[];
    u32 base = (sharedAddress(memory) + 1023) & ~1023u;
    Ring ring = {base};
    unsigned char* shared = memory + (base - sharedAddress(memory));
    float2* exchange = (float2*)(shared + (ring.exchange() - base));
    float* shrinks = (float*)(shared + (ring.floats() - base));
    float* splitMax = shrinks + ROWS;
    launchNext();
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrierInit(ring.full(i), 128);
            barrierInit(ring.empty(i), 8);
        }
        barrierInit(ring.turnedFull(), 128);
        barrierInit(ring.turnedEmpty(), 8);
        barrierInitDone();
    }
    waitForPrevious();
    __syncthreads();
    int items = p.tileCount * ((p.heads + ROWS - 1) / ROWS);
    if (threadIdx.x >= CONSUMERS) {
        fewerRegisters<40>();
        loadPages(p, ring, items);
        return;
    }
    moreRegisters<232>();
    int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);  // which tells the compiler that it is the warp's
    int lane = threadIdx.x % 32;
    int half = warp / 4;
    int pair = warp % 4;
    int ownSlot = pair * 16 + half * 8 + lane / 4;  // whose weights this thread computes
    // Each warp leaves its weights where the other's products were: the upper rows in the second, the lower in the first.
    u32 weightAt = ring.exchange() + (pair + (lane % 16 < 8 ? 4 : 0)) * 2048 + lane % 8 * 128;
    unsigned char* ownWeights = (unsigned char*)exchange + (warp ^ 4) * 2048 + lane / 4 * 128 + lane % 4 * 4;
    float exponents = __fmul_rn(p.scale, LOG2_E);
    float2* sums = (float2*)p.totals + (i64)blockIdx.x * (ROWS * VALUE / 2) + threadIdx.x;
    int count = 0;
    for (int index = blockIdx.x; index < items; index += gridDim.x) {
        Item item = Item::of<ROWS>(p, index);
        int end = item.firstPosition + item.tokens;
        Walk walk = Walk::of(end);
        if (walk.first == walk.last) {
            continue;
        }
        bool isAlone = gridDim.y == 1 || walk.splits == 1;
        namedBarrier(ALL_CONSUMERS, CONSUMERS);  // the item before is done with its queries
        for (int c = threadIdx.x; c < ROWS * (KEY / 8); c += CONSUMERS) {
            int slot = c / (KEY / 8);
            int chunk = c % (KEY / 8);
            bool present = item.end(p, slot) > 0;
            copy16(base + swizzled(slot, chunk), item.query(p, present ? slot : 0) + chunk * 8, present);
        }
        copyCommit();
        copyWait<0>();
        proxyFence();
        namedBarrier(ALL_CONSUMERS, CONSUMERS);
        int rowEnd = item.end(p, ownSlot);
        float largest = NOTHING;
        float totalMax[2] = {NOTHING, NOTHING};
        float totalSum[2] = {0.0f, 0.0f};
        float o[2][64];
        float denominator[4] = {};
        bool isFirst = true;  // of the split
        for (int tile = walk.first; tile < walk.last; tile++, count++) {
            u32 latents = ring.latents(count);
            barrierWait(ring.full(count), count / STAGES & 1);
            barrierWait(ring.turnedFull(), count & 1);
            proxyFence();  // pages came by ordinary writes
            float s[TILE / 2];
            wgmmaBegin();
#pragma unroll
            for (int k = 0; k < VALUE / 32; k++) {
                u32 block = (half * 4 + k / 4) * BLOCK;
                wgmma<T, TILE>(s, operand(base + block) + k % 4 * 2, operand(latents + block) + k % 4 * 2, k > 0);
            }
#pragma unroll
            for (int k = 0; k < 2; k++) {
                int step = (half * 2 + k) * 2;
                wgmma<T, TILE>(s, operand(base + LATENT_BYTES) + step, operand(ring.turned()) + step, 1);
            }
            wgmmaCommit();
            wgmmaWait<0>();
            if (lane == 0) {
                barrierArrive(ring.turnedEmpty());
            }
            namedBarrier(1 + pair, 64);  // both have the weights of the tile before
#pragma unroll
            for (int j = 0; j < 8; j++) {
                exchange[(warp * 8 + j) * 32 + lane] =
                    half == 0 ? make_float2(s[j * 4 + 2], s[j * 4 + 3]) : make_float2(s[j * 4], s[j * 4 + 1]);
            }
            namedBarrier(1 + pair, 64);
            float most = NOTHING;
            float2 score[8];
#pragma unroll
            for (int j = 0; j < 8; j++) {
                float2 other = exchange[((warp ^ 4) * 8 + j) * 32 + lane];
                int position = tile * TILE + j * 8 + lane % 4 * 2;
                float one = __fadd_rn(half == 0 ? s[j * 4] : s[j * 4 + 2], other.x);
                float two = __fadd_rn(half == 0 ? s[j * 4 + 1] : s[j * 4 + 3], other.y);
                score[j] = make_float2(position < rowEnd ? one : NOTHING, position + 1 < rowEnd ? two : NOTHING);
                most = fmaxf(most, fmaxf(score[j].x, score[j].y));
            }
            __syncwarp();
            float next = follow(largest, __fmul_rn(quadMax(most), exponents));
            float against = reference(next);
            float shrink = shrinkage(largest, against);
            largest = next;
            if (lane % 4 == 0) {
                shrinks[ownSlot] = shrink;
            }
#pragma unroll
            for (int j = 0; j < 8; j++) {
                *(u32*)(ownWeights + ((j ^ (lane / 4)) & 7) * 16) =
                    pack<T>(weight(score[j].x, exponents, against), weight(score[j].y, exponents, against));
            }
            namedBarrier(1 + pair, 64);
            u32 weights[4][4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                loadMatrices(weights[k], weightAt + (((k * 2 + lane / 16) ^ lane) & 7) * 16);
            }
            float upper = shrinks[pair * 16 + lane / 4];
            float lower = shrinks[pair * 16 + lane / 4 + 8];
            if (!isFirst && anyShrinks(upper, lower)) {
                denominator[0] = __fmul_rn(denominator[0], upper);
                denominator[2] = __fmul_rn(denominator[2], lower);
#pragma unroll
                for (int j = 0; j < 128; j++) {
                    o[j / 64][j % 64] = __fmul_rn(o[j / 64][j % 64], j / 2 % 2 ? lower : upper);
                }
            }
            wgmmaBegin();
#pragma unroll
            for (int k = 0; k < 4; k++) {
                u64 values = valueOperand(latents + half * 4 * BLOCK) + k * 128;
                wgmmaRegisters<T, 128>(o[0], weights[k], values, k > 0 || !isFirst);
                wgmmaRegisters<T, 128>(o[1], weights[k], values + 2 * BLOCK / 16, k > 0 || !isFirst);
            }
            wgmmaCommit();
            addWeights<T>(denominator, weights);
            wgmmaWait<0>();
            isFirst = false;
            if (lane == 0) {
                barrierArrive(ring.empty(count));
            }
            int split = splitOf(tile);
            if (tile + 1 != walk.last && tile + 1 != firstTile(split + 1)) {
                continue;
            }
            if (lane % 4 == 0) {
                splitMax[ownSlot] = largest;
            }
            namedBarrier(1 + pair, 64);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                int slot = pair * 16 + lane / 4 + i * 8;
                bool present = item.end(p, slot) > 0;
                int column = half * 256 + lane % 4 * 2;
                if (!isAlone) {
                    float* entry =
                        p.partials + (((i64)item.firstRow * p.maxSplits + split) * p.heads + item.head(slot)) * ENTRY;
                    if (present && half == 0 && lane % 4 == 0) {
                        *(float2*)(entry + VALUE) = make_float2(splitMax[slot], denominator[i * 2]);
                    }
#pragma unroll
                    for (int j = 0; j < 32; j++) {
                        if (present) {
                            *(float2*)(entry + column + j * 8) =
                                make_float2(o[j / 16][j % 16 * 4 + i * 2], o[j / 16][j % 16 * 4 + i * 2 + 1]);
                        }
                    }
                } else {
                    Merge w = merge(totalMax[i], totalSum[i], splitMax[slot], denominator[i * 2]);
                    float inverse = __frcp_rn(totalSum[i]);
                    u16* out = p.output + item.row(slot) * p.outputStride + (i64)item.head(slot) * VALUE + column;
#pragma unroll
                    for (int part = 0; part < 2; part++) {
                        float2 before[16];
#pragma unroll
                        for (int j = 0; j < 16; j++) {  // all of them on their way before the first is needed
                            before[j] = split == 0 ? make_float2(0.0f, 0.0f) : sums[((i * 2 + part) * 16 + j) * CONSUMERS];
                        }
#pragma unroll
                        for (int j = 0; j < 16; j++) {
                            float one = merged(w, before[j].x, o[part][j * 4 + i * 2]);
                            float two = merged(w, before[j].y, o[part][j * 4 + i * 2 + 1]);
                            if (tile + 1 != walk.last) {
                                sums[((i * 2 + part) * 16 + j) * CONSUMERS] = make_float2(one, two);
                            } else if (present) {
                                *(u32*)(out + (part * 16 + j) * 8) = pack<T>(one * inverse, two * inverse);
                            }
                        }
                    }
                }
            }
            largest = NOTHING;
            denominator[0] = 0.0f;
            denominator[2] = 0.0f;
            isFirst = true;
        }
    }
}

#define HOPPER(T, SUFFIX)                                                                            \
    extern "C" __global__ void __launch_bounds__(384, 1) latent_hopper_##SUFFIX(LATENT_PARAMETERS) { \
        attendLatent<T>(LATENT);                                                                     \
    }

HOPPER(Bf16, bf16)
HOPPER(F16, f16)
