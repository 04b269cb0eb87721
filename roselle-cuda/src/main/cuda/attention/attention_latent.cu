// Latent attention (DeepSeek-AI, 2024) in its absorbed form: all heads of a row attend to one cached row of 512 + 64 numbers,
// whose first 512 are the value, so that heads are the rows of a tensor core's tile.
//
// output[r][h] = sum over p of softmax(scale * query[r][h] . key[p])[p] * key[p][0 .. 512], p up to the row's own position.
//
// The order of the sums. A product is the sum over numbers 0 to 255 and 512 to 543, plus that over 256 to 511 and 544 to 575,
// each in ascending steps of 16. Tiles of 64 positions walk an online softmax within a split (attention.cuh); splits are 256
// positions up to position 4,096, then 1,024, and are merged in order. So a row's bits depend on its query and its sequence.
//
// latent_ROWS: 256 threads, ROWS of (token, head) at a time; ROWS is 16, and 64 too where a block has 227 KiB (sm_90a, sm_100a).
// Grid (blocks, parts). An item is min(heads, ROWS) heads of one token or, where heads <= ROWS and `tiles` says which rows of a
// sequence, of ROWS / heads tokens; items = tileCount * ceil(heads / ROWS). Blocks take every gridDim.x-th item, the last
// first. With one part a block keeps sums over splits in totals[blocks, ROWS * 512]. With several, one item a block and no
// tiles: part y walks the y-th run of splits and leaves each in partials[row, maxSplits, heads, 514]; latent_merge, grid
// (heads, rows), 128 threads, then merges rows of more than one split.
// Dynamic shared memory: ROWS 64: 231,680; ROWS 16: 8,192 + stages * 65,536 + 4,800, stages 2, but 1 where a block has 99 KiB.
// query: [rows, heads, 576]. cache: pages of one layer, [16, 576] each. output: [rows, heads, 512].
#include "attention/latent.cuh"

constexpr int THREADS = 256;
constexpr u32 LATENT_ROW = VALUE * 2;  // bytes of a row in shared memory
constexpr u32 TURNED_ROW = TURNED * 2;
constexpr u32 WEIGHT_ROW = TILE * 2;

// Where a 16-byte chunk of a row lies in shared memory: neighbouring rows take turns in its banks.
__device__ __forceinline__ u32 swizzled(int row, int chunk) {
    return (u32)(chunk ^ (row & 7)) * 16;
}

// The pages of a tile; 0 where there is none.
__device__ __forceinline__ void findPages(int (&page)[TILE / PAGE], const int* pages, int tile, int end) {
#pragma unroll
    for (int q = 0; q < TILE / PAGE; q++) {
        int position = tile * TILE + q * PAGE;
        page[q] = position < end ? pages[position / PAGE] : 0;
    }
}

// Copies the values of a tile, [64, 512]. A thread's rows are eight apart, so that they are swizzled alike.
__device__ __forceinline__ void loadLatent(const Latent& p, const int (&page)[TILE / PAGE], int tile, int end, u32 to) {
    int row = threadIdx.x / 32;
    int chunk = threadIdx.x % 32;
    int left = end - tile * TILE;
    to += row * LATENT_ROW + swizzled(row, chunk);
#pragma unroll
    for (int q = 0; q < TILE / PAGE; q++) {
        const u16* from = p.cache + page[q] * p.pageElements + row * KEY + chunk * 8;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int down = q * PAGE + i / 2 * 8;
            copy16(to + down * LATENT_ROW + i % 2 * 512, from + i / 2 * 8 * KEY + i % 2 * 256, down + row < left);
        }
    }
}

// Copies what lies behind them, [64, 64].
__device__ __forceinline__ void loadTurned(const Latent& p, const int (&page)[TILE / PAGE], int tile, int end, u32 to) {
    int row = threadIdx.x / 8;
    int chunk = threadIdx.x % 8;
    int left = end - tile * TILE;
    to += row * TURNED_ROW + swizzled(row, chunk);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const u16* from = p.cache + (row < PAGE ? page[i * 2] : page[i * 2 + 1]) * p.pageElements;
        copy16(to + i * 32 * TURNED_ROW, from + row % PAGE * KEY + VALUE + chunk * 8, i * 32 + row < left);
    }
}

// Where things lie in shared memory.
template <int ROWS, int STAGES>
struct Places {
    static constexpr int KEY_WARPS = ROWS == 64 ? 2 : 4;  // warps side by side over the keys of a tile
    static constexpr u32 QUERIES = ROWS == 64 ? ROWS * (LATENT_ROW + TURNED_ROW) : 0;
    static constexpr u32 LATENTS = QUERIES;
    static constexpr u32 TURNS = LATENTS + STAGES * TILE * LATENT_ROW;
    static constexpr u32 EXCHANGE = TURNS + TILE * TURNED_ROW;  // halves of products, then weights
    static constexpr u32 MAXIMA = EXCHANGE + ROWS * TILE * 4;
    static constexpr u32 SHRINKS = MAXIMA + KEY_WARPS * ROWS * 4;
    static constexpr u32 SPLIT_MAX = SHRINKS + ROWS * 4;
    static constexpr u32 SPLIT_SUM = SPLIT_MAX + ROWS * 4;
    static constexpr u32 TOTAL_MAX = SPLIT_SUM + ROWS * 4;
    static constexpr u32 TOTAL_SUM = TOTAL_MAX + ROWS * 4;
    static constexpr u32 FACTORS = TOTAL_SUM + ROWS * 4;  // Merge [ROWS]
    static constexpr u32 BYTES = FACTORS + ROWS * 8;
};
static_assert(Places<64, 2>::BYTES == 231680);
static_assert(Places<16, 2>::BYTES == 8192 + 2 * 65536 + 4800);

// Eight warps. Products: two halves of the numbers, each by four warps, each 32 x 32 (ROWS 64) or 16 x 16 (ROWS 16) of
// [ROWS, 64]; then one of each pair of warps has the upper, one the lower eight rows of each 16. Values: 64 columns a warp.
template <class T, int ROWS, int STAGES>
__device__ __forceinline__ void attendLatent(const Latent& p) {
    using At = Places<ROWS, STAGES>;
    constexpr int ROW_TILES = ROWS / 16;
    constexpr int OWN_ROW_TILES = ROWS == 64 ? 2 : 1;  // of a warp's products
    constexpr int OWN_KEY_TILES = ROWS == 64 ? 4 : 2;  // eight keys each
    constexpr bool KEEPS_QUERY = ROWS == 16;  // in registers
    constexpr int STEPS = KEY / 32;  // of 16 numbers, of a half
    constexpr int LATENT_STEPS = VALUE / 32;
    extern __shared__ __align__(128) unsigned char memory[];
    u32 shared = sharedAddress(memory);
    float2* exchange = (float2*)(memory + At::EXCHANGE);
    float* maxima = (float*)(memory + At::MAXIMA);
    float* shrinks = (float*)(memory + At::SHRINKS);
    float* splitMax = (float*)(memory + At::SPLIT_MAX);
    float* splitSum = (float*)(memory + At::SPLIT_SUM);
    float* totalMax = (float*)(memory + At::TOTAL_MAX);
    float* totalSum = (float*)(memory + At::TOTAL_SUM);
    Merge* factors = (Merge*)(memory + At::FACTORS);
    launchNext();
    waitForPrevious();

    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int half = warp / 4;
    int keyWarp = warp % At::KEY_WARPS;
    int firstSlot = ROWS == 64 ? warp % 4 / 2 * 32 : 0;
    int firstKey = keyWarp * OWN_KEY_TILES * 8;
    u32 ofRows[4];  // chunks of a run of 64 numbers, as the left operand and the values are read
    u32 ofKeys[4];  // as keys are
#pragma unroll
    for (int j = 0; j < 4; j++) {
        ofRows[j] = swizzled(lane, j * 2 + lane / 16);
        ofKeys[j] = swizzled(lane, j * 2 + lane / 8 % 2);
    }
    u32 turnedRows[2];
    u32 turnedKeys[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        turnedRows[i] = swizzled(lane, (half * 2 + i) * 2 + lane / 16);
        turnedKeys[i] = swizzled(lane, (half * 2 + i) * 2 + lane / 8 % 2);
    }
    float exponents = __fmul_rn(p.scale, LOG2_E);
    float2* sums = (float2*)p.totals + (i64)blockIdx.x * (ROWS * VALUE / 2) + threadIdx.x;
    int items = p.tileCount * ((p.heads + ROWS - 1) / ROWS);
    for (int index = blockIdx.x; index < items; index += gridDim.x) {
        Item item = Item::of<ROWS>(p, index);
        int end = item.firstPosition + item.tokens;
        int splits = splitsOf(end);
        int perPart = (splits + gridDim.y - 1) / gridDim.y;
        int partStart = blockIdx.y * perPart;
        int partEnd = min(partStart + perPart, splits);
        if (partStart >= partEnd) {
            continue;
        }
        bool isAlone = gridDim.y == 1 || splits == 1;
        const int* pages = p.pageTable + (i64)item.sequence * p.maxPages;
        int tile = firstTile(partStart);
        int tileEnd = min(firstTile(partEnd), (end + TILE - 1) / TILE);
        __syncthreads();  // the item before is done with shared memory
        if (threadIdx.x < ROWS) {
            totalMax[threadIdx.x] = NOTHING;
            totalSum[threadIdx.x] = 0.0f;
        }
        u32 kept[KEEPS_QUERY ? STEPS : 1][4];
        if constexpr (KEEPS_QUERY) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int slot = lane / 4 + i % 2 * 8;
                bool present = item.end(p, slot) > 0;
                const u16* from = item.query(p, present ? slot : 0) + lane % 4 * 2 + i / 2 * 8;
#pragma unroll
                for (int k = 0; k < STEPS; k++) {
                    int step = k < LATENT_STEPS ? half * LATENT_STEPS + k : 2 * LATENT_STEPS + half * 2 + k - LATENT_STEPS;
                    kept[k][i] = present ? *(const u32*)(from + step * 16) : 0;
                }
            }
        } else {
            for (int c = threadIdx.x; c < ROWS * (KEY / 8); c += THREADS) {
                int slot = c / (KEY / 8);
                int chunk = c % (KEY / 8);
                bool present = item.end(p, slot) > 0;
                const u16* from = item.query(p, present ? slot : 0) + chunk * 8;
                u32 to = chunk < VALUE / 8 ? slot * LATENT_ROW + swizzled(slot, chunk)
                                           : ROWS * LATENT_ROW + slot * TURNED_ROW + swizzled(slot, chunk - VALUE / 8);
                copy16(shared + to, from, present);
            }
        }
        int page[TILE / PAGE];  // of the next tile that is loaded
        findPages(page, pages, tile, end);
        loadLatent(p, page, tile, end, shared + At::LATENTS + tile % STAGES * TILE * LATENT_ROW);
        loadTurned(p, page, tile, end, shared + At::TURNS);
        copyCommit();
        findPages(page, pages, tile + 1, end);

        int rowEnd[OWN_ROW_TILES];
        float largest[OWN_ROW_TILES];
#pragma unroll
        for (int m = 0; m < OWN_ROW_TILES; m++) {
            rowEnd[m] = item.end(p, firstSlot + m * 16 + half * 8 + lane / 4);
            largest[m] = NOTHING;
        }
        float o[ROW_TILES][8][4] = {};
        float denominator[4] = {};  // of row tile `warp`, in the first warps
        for (; tile < tileEnd; tile++) {
            copyWait<0>();
            __syncthreads();
            u32 latents = shared + At::LATENTS + tile % STAGES * TILE * LATENT_ROW;
            if (STAGES > 1 && tile + 1 < tileEnd) {
                loadLatent(p, page, tile + 1, end, shared + At::LATENTS + (tile + 1) % STAGES * TILE * LATENT_ROW);
                copyCommit();
            }
            float s[OWN_ROW_TILES][OWN_KEY_TILES][4] = {};
            u32 keyAt = latents + (firstKey + lane % 8 + lane / 16 * 8) * LATENT_ROW + half * (LATENT_ROW / 2);
            u32 turnedAt = shared + At::TURNS + (firstKey + lane % 8 + lane / 16 * 8) * TURNED_ROW;
            u32 queryAt = shared + (firstSlot + lane % 16) * LATENT_ROW + half * (LATENT_ROW / 2);
            u32 queryTurnedAt = shared + ROWS * LATENT_ROW + (firstSlot + lane % 16) * TURNED_ROW;
#pragma unroll
            for (int k = 0; k < STEPS; k++) {
                bool isLatent = k < LATENT_STEPS;
                u32 query[OWN_ROW_TILES][4];
#pragma unroll
                for (int m = 0; m < OWN_ROW_TILES; m++) {
                    if constexpr (KEEPS_QUERY) {
#pragma unroll
                        for (int i = 0; i < 4; i++) {
                            query[m][i] = kept[k][i];
                        }
                    } else {
                        loadMatrices(query[m], isLatent ? queryAt + m * 16 * LATENT_ROW + k / 4 * 128 + ofRows[k % 4]
                                                        : queryTurnedAt + m * 16 * TURNED_ROW + turnedRows[k % 2]);
                    }
                }
#pragma unroll
                for (int n = 0; n < OWN_KEY_TILES / 2; n++) {
                    u32 key[4];
                    loadMatrices(key, isLatent ? keyAt + n * 16 * LATENT_ROW + k / 4 * 128 + ofKeys[k % 4]
                                               : turnedAt + n * 16 * TURNED_ROW + turnedKeys[k % 2]);
#pragma unroll
                    for (int m = 0; m < OWN_ROW_TILES; m++) {
                        mma<T>(s[m][n * 2], query[m], key[0], key[1]);
                        mma<T>(s[m][n * 2 + 1], query[m], key[2], key[3]);
                    }
                }
            }
            // Of each pair of warps the first gets the upper rows of the other, which gets its lower ones.
            constexpr int GIVEN = OWN_ROW_TILES * OWN_KEY_TILES;
#pragma unroll
            for (int i = 0; i < GIVEN; i++) {
                const float(&one)[4] = s[i / OWN_KEY_TILES][i % OWN_KEY_TILES];
                exchange[(warp * GIVEN + i) * 32 + lane] =
                    half == 0 ? make_float2(one[2], one[3]) : make_float2(one[0], one[1]);
            }
            __syncthreads();
            if (tile + 1 < tileEnd) {
                loadTurned(p, page, tile + 1, end, shared + At::TURNS);
                copyCommit();
                if (STAGES > 1) {
                    findPages(page, pages, tile + 2, end);
                }
            }
            float2 score[OWN_ROW_TILES][OWN_KEY_TILES];
#pragma unroll
            for (int m = 0; m < OWN_ROW_TILES; m++) {
                float most = NOTHING;
#pragma unroll
                for (int n = 0; n < OWN_KEY_TILES; n++) {
                    float2 other = exchange[((warp ^ 4) * GIVEN + m * OWN_KEY_TILES + n) * 32 + lane];
                    int position = tile * TILE + firstKey + n * 8 + lane % 4 * 2;
                    float one = __fadd_rn(half == 0 ? s[m][n][0] : s[m][n][2], other.x);
                    float two = __fadd_rn(half == 0 ? s[m][n][1] : s[m][n][3], other.y);
                    score[m][n] = make_float2(position < rowEnd[m] ? one : NOTHING, position + 1 < rowEnd[m] ? two : NOTHING);
                    most = fmaxf(most, fmaxf(score[m][n].x, score[m][n].y));
                }
                most = __fmul_rn(quadMax(most), exponents);
                if (lane % 4 == 0) {
                    maxima[keyWarp * ROWS + firstSlot + m * 16 + half * 8 + lane / 4] = most;
                }
            }
            __syncthreads();
            bool anyShrinks = false;
#pragma unroll
            for (int m = 0; m < OWN_ROW_TILES; m++) {
                int slot = firstSlot + m * 16 + half * 8 + lane / 4;
                float most = maxima[slot];
#pragma unroll
                for (int w = 1; w < At::KEY_WARPS; w++) {
                    most = fmaxf(most, maxima[w * ROWS + slot]);
                }
                float next = follow(largest[m], most);
                float against = reference(next);
                float shrink = shrinkage(largest[m], against);
                largest[m] = next;
                anyShrinks |= shrink != 1.0f;
                if (keyWarp == 0 && lane % 4 == 0) {
                    shrinks[slot] = shrink;
                }
#pragma unroll
                for (int n = 0; n < OWN_KEY_TILES; n++) {
                    u32 packed = pack<T>(weight(score[m][n].x, exponents, against), weight(score[m][n].y, exponents, against));
                    u32 at = slot * WEIGHT_ROW + swizzled(slot, firstKey / 8 + n) + lane % 4 * 4;
                    *(u32*)(memory + At::EXCHANGE + at) = packed;
                }
            }
            if (__syncthreads_or(anyShrinks)) {
#pragma unroll
                for (int m = 0; m < ROW_TILES; m++) {
                    float upper = shrinks[m * 16 + lane / 4];
                    float lower = shrinks[m * 16 + lane / 4 + 8];
#pragma unroll
                    for (int n = 0; n < 8; n++) {
                        o[m][n][0] = __fmul_rn(o[m][n][0], upper);
                        o[m][n][1] = __fmul_rn(o[m][n][1], upper);
                        o[m][n][2] = __fmul_rn(o[m][n][2], lower);
                        o[m][n][3] = __fmul_rn(o[m][n][3], lower);
                    }
                }
                if (warp < ROW_TILES) {
                    denominator[0] = __fmul_rn(denominator[0], shrinks[warp * 16 + lane / 4]);
                    denominator[2] = __fmul_rn(denominator[2], shrinks[warp * 16 + lane / 4 + 8]);
                }
            }
            u32 weightAt = shared + At::EXCHANGE + lane % 16 * WEIGHT_ROW;
            u32 valueAt = latents + lane % 16 * LATENT_ROW + warp * 128;
#pragma unroll
            for (int k = 0; k < TILE / 16; k++) {
                u32 weights[ROW_TILES][4];
#pragma unroll
                for (int m = 0; m < ROW_TILES; m++) {
                    loadMatrices(weights[m], weightAt + m * 16 * WEIGHT_ROW + ofRows[k]);
                }
#pragma unroll
                for (int m = 0; m < ROW_TILES; m++) {
                    if (warp == m) {
                        mma<T>(denominator, weights[m], ONES<T>, ONES<T>);
                    }
                }
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    u32 v[4];
                    loadTransposed(v, valueAt + k * 16 * LATENT_ROW + ofRows[j]);
#pragma unroll
                    for (int m = 0; m < ROW_TILES; m++) {
                        mma<T>(o[m][j * 2], weights[m], v[0], v[1]);
                        mma<T>(o[m][j * 2 + 1], weights[m], v[2], v[3]);
                    }
                }
            }
            if (STAGES == 1 && tile + 1 < tileEnd) {
                __syncthreads();
                loadLatent(p, page, tile + 1, end, latents);
                copyCommit();
                findPages(page, pages, tile + 2, end);
            }
            int split = splitOf(tile);
            if (tile + 1 != tileEnd && tile + 1 != firstTile(split + 1)) {
                continue;
            }
#pragma unroll
            for (int m = 0; m < OWN_ROW_TILES; m++) {
                if (keyWarp == 0 && lane % 4 == 0) {
                    splitMax[firstSlot + m * 16 + half * 8 + lane / 4] = largest[m];
                }
                largest[m] = NOTHING;
            }
            if (warp < ROW_TILES && lane % 4 == 0) {
                splitSum[warp * 16 + lane / 4] = denominator[0];
                splitSum[warp * 16 + lane / 4 + 8] = denominator[2];
            }
            denominator[0] = 0.0f;
            denominator[2] = 0.0f;
            __syncthreads();
            if (isAlone && threadIdx.x < ROWS) {
                float m = totalMax[threadIdx.x];
                float l = totalSum[threadIdx.x];
                factors[threadIdx.x] = merge(m, l, splitMax[threadIdx.x], splitSum[threadIdx.x]);
                totalMax[threadIdx.x] = m;
                totalSum[threadIdx.x] = l;
            }
            if (isAlone) {
                __syncthreads();
            }
#pragma unroll
            for (int m = 0; m < ROW_TILES; m++) {
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    int slot = m * 16 + i * 8 + lane / 4;
                    bool present = item.end(p, slot) > 0;
                    int column = warp * 64 + lane % 4 * 2;
                    if (!isAlone) {
                        float* entry =
                            p.partials + (((i64)item.firstRow * p.maxSplits + split) * p.heads + item.head(slot)) * ENTRY;
                        if (present && warp == 0 && lane % 4 == 0) {
                            *(float2*)(entry + VALUE) = make_float2(splitMax[slot], splitSum[slot]);
                        }
#pragma unroll
                        for (int n = 0; n < 8; n++) {
                            if (present) {
                                *(float2*)(entry + column + n * 8) = make_float2(o[m][n][i * 2], o[m][n][i * 2 + 1]);
                            }
                        }
                    } else {
                        Merge w = factors[slot];
                        float inverse = __frcp_rn(totalSum[slot]);
                        u16* out = p.output + item.row(slot) * p.outputStride + (i64)item.head(slot) * VALUE + column;
#pragma unroll
                        for (int n = 0; n < 8; n++) {
                            float2* sum = sums + ((m * 2 + i) * 8 + n) * THREADS;
                            float2 before = split == 0 ? make_float2(0.0f, 0.0f) : *sum;
                            float one = merged(w, before.x, o[m][n][i * 2]);
                            float two = merged(w, before.y, o[m][n][i * 2 + 1]);
                            if (tile + 1 != tileEnd) {
                                *sum = make_float2(one, two);
                            } else if (present) {
                                *(u32*)(out + n * 8) = pack<T>(one * inverse, two * inverse);
                            }
                        }
                    }
#pragma unroll
                    for (int n = 0; n < 8; n++) {
                        o[m][n][i * 2] = 0.0f;
                        o[m][n][i * 2 + 1] = 0.0f;
                    }
                }
            }
        }
    }
}

// Four neighbouring columns of a head a thread.
template <class T>
__device__ __forceinline__ void mergeLatent(
    const float* partials, int maxSplits, int heads, const int* positions, u16* output, i64 outputStride) {
    launchNext();
    waitForPrevious();
    int head = blockIdx.x;
    int row = blockIdx.y;
    int splits = splitsOf(positions[row] + 1);
    if (splits <= 1) {
        return;
    }
    const float* entry = partials + ((i64)row * maxSplits * heads + head) * ENTRY;
    i64 step = (i64)heads * ENTRY;
    int column = threadIdx.x * 4;
    float largest = NOTHING;
    float sum = 0.0f;
    float values[4] = {};
#pragma unroll 4
    for (int split = 0; split < splits; split++) {
        float2 ml = __ldcg((const float2*)(entry + split * step + VALUE));
        float2 low = __ldcg((const float2*)(entry + split * step + column));
        float2 high = __ldcg((const float2*)(entry + split * step + column + 2));
        Merge w = merge(largest, sum, ml.x, ml.y);
        values[0] = merged(w, values[0], low.x);
        values[1] = merged(w, values[1], low.y);
        values[2] = merged(w, values[2], high.x);
        values[3] = merged(w, values[3], high.y);
    }
    float inverse = __frcp_rn(sum);
    *(uint2*)(output + row * outputStride + (i64)head * VALUE + column) =
        make_uint2(pack<T>(values[0] * inverse, values[1] * inverse), pack<T>(values[2] * inverse, values[3] * inverse));
}

#define ATTEND(T, SUFFIX, ROWS, STAGES)                                                                \
    extern "C" __global__ void __launch_bounds__(256, 1) latent_##ROWS##_##SUFFIX(LATENT_PARAMETERS) { \
        attendLatent<T, ROWS, STAGES>(LATENT);                                                         \
    }
#define MERGE(T, SUFFIX)                                                                                         \
    extern "C" __global__ void __launch_bounds__(128) latent_merge_##SUFFIX(                                     \
        const float* partials, int maxSplits, int heads, const int* positions, void* output, i64 outputStride) { \
        mergeLatent<T>(partials, maxSplits, heads, positions, (u16*)output, outputStride);                       \
    }

MERGE(Bf16, bf16)
MERGE(F16, f16)
#ifdef SMALL_BLOCKS
BOTH_TYPES(ATTEND, 16, 1)
#else
BOTH_TYPES(ATTEND, 16, 2)
#endif
#if __CUDA_ARCH__ >= 900 && !defined(SMALL_BLOCKS)
BOTH_TYPES(ATTEND, 64, 2)
#endif
