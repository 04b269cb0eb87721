// output[r][n] = scale * activation(sum over k of weight[n][k] * input[r][k] + bias[n])  (+ output[r][n])
//
// For Hopper (sm_90a), BF16 and F16 with float32 sums. Weights stand on the M side of wgmma.m64nNk16, tokens on the N side,
// so that a few rows waste little and the weights stream from memory once.
//
// Order of the sum, the same for every number of rows: K is cut into tiles of 64 and these into `slices` runs, slice s from
// tile s * tiles / slices on. A slice is summed by the tensor cores in steps of 16 numbers; the slices' sums are added in
// order. `slices` depends on the weight's shape alone. The `parallel` kernels give each slice to a block of its own, a cluster
// holds the slices of the same outputs and adds them through distributed shared memory; the `serial` kernel walks the slices
// in one block. Neither the instruction's N nor the token's column in it takes part in the sum.
//
// weight: packed (pack_weight), tiles of 64 rows x 64 columns, 8,192 bytes each in the layout of shared memory that wgmma
//   wants (rows of 128 bytes, 16-byte chunk c of row r at c ^ (r % 8)), [ceil(outputs / 64), ceil(columns / 64)] tiles,
//   missing rows and columns 0;
//   where GROUPS is 2 and the row tiles are odd, one more tile row of memory follows, whatever it holds.
// input: [rows, columns], `inputStride` numbers from row to row; columns, stride and address are multiples of 8 numbers.
// output: [rows, outputs], 16-bit or float32, `outputStride` numbers from row to row.
//
// Launch: blocks of 128 * GROUPS + 32 * PRODUCERS threads; dynamic shared memory of
// STAGES * (GROUPS * 8192 + TOKENS * 128 + 16) + 1024 bytes, and up to 32 tokens (TOKENS + 8) * 256 * GROUPS more.
//   With tiles = ceil(outputs / (64 * GROUPS)) * ceil(rows / TOKENS):
//   parallel: grid (tiles * slices, 1, 1), cluster (slices, 1, 1), slices <= 8.
//   serial: grid (tiles, 1, 1), no cluster.
// `slices` is the largest of 1, 2, 4, 8 for which slices * ceil(outputs / 64) <= 200 and a slice has two tiles of K or more.
// Each kernel may be launched with programmatic stream serialization: it reads nothing but weights before the end of the
// kernel before it.
#include "epilogue.cuh"
#include "wgmma.cuh"

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

// The shared memory of a block: STAGES times (GROUPS weight tiles, then TOKENS rows of 128 bytes), then the inbox, then the
// barriers. Few tokens: blocks of a cluster send each other their sums, into the inbox, [slices][tokens of a block][64].
// Many tokens: the sums of a block, [TOKENS][64 * GROUPS + 4], take the place of the stages when all of them are used up.
template <int TOKENS, int GROUPS, int PRODUCERS, int STAGES>
struct Ring {
    static constexpr u32 STAGE_BYTES = GROUPS * TILE_BYTES + TOKENS * 128;
    static constexpr int SUM_STRIDE = TILE * GROUPS + 4;
    static constexpr bool HAS_INBOX = TOKENS <= 32;
    static constexpr u32 INBOX_BYTES = HAS_INBOX ? (TOKENS + MOST_SLICES) * TILE * GROUPS * 4 : 0;
    static_assert(TOKENS * SUM_STRIDE * 4 <= STAGES * STAGE_BYTES, "the sums do not fit");
    u32 base;

    __device__ u32 weight(int stage) const { return base + stage * STAGE_BYTES; }
    __device__ u32 tokens(int stage) const { return weight(stage) + GROUPS * TILE_BYTES; }
    __device__ u32 inbox() const { return base + STAGES * STAGE_BYTES; }
    __device__ u32 full(int stage) const { return inbox() + INBOX_BYTES + stage * 16; }
    __device__ u32 empty(int stage) const { return full(stage) + 8; }
};

// Loads weight tiles and tokens of the K tiles `first` until `end`. `thread` counts the producers.
template <int TOKENS, int GROUPS, int PRODUCERS, int STAGES>
__device__ __forceinline__ void produce(Ring<TOKENS, GROUPS, PRODUCERS, STAGES> ring, const Product& p, int rowTile,
    int firstToken, int first, int end, int thread) {
    constexpr int CHUNKS = TOKENS * 8 / (PRODUCERS * 32);  // 16-byte pieces of a stage that a thread copies
    constexpr int ROW_STEP = PRODUCERS * 4;
    static_assert(CHUNKS * PRODUCERS * 32 == TOKENS * 8, "the producers do not divide the tokens");
    int count = end - first;
    int tiles = (p.columns + TILE - 1) / TILE;
    const unsigned char* weight = p.weight + ((i64)rowTile * tiles + first) * TILE_BYTES;
    u64 policy = p.rows > TOKENS ? READ_AGAIN : READ_ONCE;
    auto loadWeight = [&](int i) {
        u32 full = ring.full(i % STAGES);
        barrierExpect(full, GROUPS * TILE_BYTES);
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            u32 target = ring.weight(i % STAGES) + g * TILE_BYTES;
            bulkCopy(target, weight + ((i64)g * tiles + i) * TILE_BYTES, TILE_BYTES, full, policy);
        }
    };
    if (thread == 0) {
        for (int i = 0; i < min(STAGES, count); i++) {
            loadWeight(i);
        }
    }
    waitForPrevious();  // weights never change; the input does
    int row = thread / 8;
    int chunk = thread % 8;
    int present = (p.rows - firstToken - row + ROW_STEP - 1) / ROW_STEP;  // pieces that are not past the last row
    u32 target = row * 128 + ((chunk ^ (row & 7)) << 4);                  // ROW_STEP is a multiple of 8, or CHUNKS is 1 or 2
    const u16* source = p.input + (i64)(firstToken + row) * p.inputStride + first * TILE + chunk * 8;
    i64 step = ROW_STEP * p.inputStride;
    int left = p.columns - first * TILE - chunk * 8;
    for (int i = 0; i < count; i++) {
        int stage = i % STAGES;
        if (i >= STAGES) {
            barrierWait(ring.empty(stage), (i / STAGES - 1) & 1);
            if (thread == 0) {
                loadWeight(i);
            }
        }
        const u16* from = source;
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            u32 swizzled = ROW_STEP % 8 == 0 ? target : target ^ ((c & 1) << 6);
            copy16(ring.tokens(stage) + swizzled + c * ROW_STEP * 128, from, c < present && left > 0);
            from += c + 1 < present ? step : 0;
        }
        barrierArriveAfterCopies(ring.full(stage));
        source += TILE;
        left -= TILE;
    }
}

// Sums the K tiles of one slice; `done` counts the tiles before them. On return nothing is in flight.
template <class T, int TOKENS, int GROUPS, int PRODUCERS, int STAGES>
__device__ __forceinline__ void consume(
    Ring<TOKENS, GROUPS, PRODUCERS, STAGES> ring, float (&sums)[TOKENS / 2], int group, int done, int count) {
    bool releases = threadIdx.x % 32 == 0;
    for (int i = done; i < done + count; i++) {
        int stage = i % STAGES;
        barrierWait(ring.full(stage), (i / STAGES) & 1);
        proxyFence();  // the tokens came by ordinary writes
        u64 a = operand(ring.weight(stage) + group * TILE_BYTES);
        u64 b = operand(ring.tokens(stage));
        wgmmaBegin();
#pragma unroll
        for (int k = 0; k < TILE / 16; k++) {
            wgmma<T, TOKENS>(sums, a + 2 * k, b + 2 * k, i > done || k > 0);
        }
        wgmmaCommit();
        wgmmaWait<1>();
        if (i > done && releases) {
            barrierArrive(ring.empty((i - 1) % STAGES));
        }
    }
    wgmmaWait<0>();
    if (count > 0 && releases) {
        barrierArrive(ring.empty((done + count - 1) % STAGES));
    }
}

// Leaves sums in shared memory as [TOKENS][SUM_STRIDE].
template <int TOKENS, int GROUPS, int PRODUCERS, int STAGES>
__device__ __forceinline__ void stash(Ring<TOKENS, GROUPS, PRODUCERS, STAGES> ring, const float (&sums)[TOKENS / 2], int group) {
    constexpr int STRIDE = Ring<TOKENS, GROUPS, PRODUCERS, STAGES>::SUM_STRIDE;
    int thread = threadIdx.x % 128;
    int row = group * TILE + thread / 32 * 16 + thread % 32 / 4;
    u32 at = ring.base + (thread % 4 * 2 * STRIDE + row) * 4;
#pragma unroll
    for (int j = 0; j < TOKENS / 8; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            u32 to = at + ((j * 8 + (i & 1)) * STRIDE + (i >> 1) * 8) * 4;
            asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(sums[4 * j + i]) : "memory");
        }
    }
}

__device__ __forceinline__ float4 localLoad(u32 address) {
    float4 value;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "r"(address)
                 : "memory");
    return value;
}

// Sends the sums of each token to the block that finishes it: block `token % slices` of the cluster.
template <int TOKENS, int GROUPS, int PRODUCERS, int STAGES>
__device__ __forceinline__ void send(Ring<TOKENS, GROUPS, PRODUCERS, STAGES> ring, const float (&sums)[TOKENS / 2],
    int group, int slice, int slices, int tokens) {
    int thread = threadIdx.x % 128;
    int row = group * TILE + thread / 32 * 16 + thread % 32 / 4;
    int held = (TOKENS + slices - 1) / slices;
#pragma unroll
    for (int j = 0; j < TOKENS / 8; j++) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int token = j * 8 + thread % 4 * 2 + i;
            if (token < tokens) {
                u32 to = ring.inbox() + ((slice * held + token / slices) * TILE * GROUPS + row) * 4;
                clusterStore(to, token % slices, sums[4 * j + i]);
                clusterStore(to + 32, token % slices, sums[4 * j + i + 2]);
            }
        }
    }
}

__device__ __forceinline__ void add(float4& sum, float4 next) {
    sum.x += next.x;
    sum.y += next.y;
    sum.z += next.z;
    sum.w += next.w;
}

// Adds the slices' sums in order and stores every `slices`-th token, beginning with `rank`.
template <class T, int TOKENS, int GROUPS, int PRODUCERS, int STAGES>
__device__ __forceinline__ void finish(Ring<TOKENS, GROUPS, PRODUCERS, STAGES> ring, const Product& p,
    const Epilogue& epilogue, int rowTile, int firstToken, int rank, int slices) {
    constexpr int STRIDE = Ring<TOKENS, GROUPS, PRODUCERS, STAGES>::SUM_STRIDE;
    constexpr int LANES = GROUPS * TILE / 4;  // threads of a token, four outputs each
    int n = threadIdx.x % LANES * 4;
    int column = rowTile * TILE + n;
    int end = min(TOKENS, p.rows - firstToken);
    if (column >= p.outputs) {
        return;
    }
    int held = (TOKENS + slices - 1) / slices;
    for (int token = rank + slices * (threadIdx.x / LANES); token < end; token += slices * 8) {
        float4 sum;
        if (slices == 1) {
            sum = localLoad(ring.base + (token * STRIDE + n) * 4);
        } else if (ring.HAS_INBOX) {
            u32 at = ring.inbox() + (token / slices * TILE * GROUPS + n) * 4;
            sum = localLoad(at);
            for (int s = 1; s < slices; s++) {
                add(sum, localLoad(at + s * held * TILE * GROUPS * 4));
            }
        } else {
            u32 at = ring.base + (token * STRIDE + n) * 4;
            sum = clusterLoad(at, 0);
            for (int s = 1; s < slices; s++) {
                add(sum, clusterLoad(at, s));
            }
        }
        storeFour<T>(sum, epilogue, p.output, (i64)(firstToken + token) * p.outputStride + column, column, p.outputs);
    }
}

// Which outputs and tokens a block works on. Neighbouring blocks share tokens and weights in the L2 cache: bands of some
// token tiles, row tiles within a band.
struct Place {
    int rowTile;
    int firstToken;
};

template <int TOKENS, int GROUPS>
__device__ __forceinline__ Place place(const Product& p, int block) {
    constexpr int BAND = 2048 / TOKENS;
    int rowTiles = (p.outputs + TILE * GROUPS - 1) / (TILE * GROUPS);
    int tokenTiles = (p.rows + TOKENS - 1) / TOKENS;
    int band = block / (BAND * rowTiles);
    int inBand = min(BAND, tokenTiles - band * BAND);
    int rest = block - band * BAND * rowTiles;
    return {rest / inBand * GROUPS, (band * BAND + rest % inBand) * TOKENS};
}

template <int TOKENS, int GROUPS, int PRODUCERS, int STAGES>
__device__ __forceinline__ Ring<TOKENS, GROUPS, PRODUCERS, STAGES> openRing() {
    extern __shared__ unsigned char memory[];
    Ring<TOKENS, GROUPS, PRODUCERS, STAGES> ring = {(sharedAddress(memory) + 1023) & ~1023u};
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrierInit(ring.full(s), 1 + PRODUCERS * 32);
            barrierInit(ring.empty(s), GROUPS * 4);
        }
        barrierInitDone();
    }
    __syncthreads();
    return ring;
}

template <class T, int TOKENS, int GROUPS, int PRODUCERS, int STAGES>
__device__ __forceinline__ void linearParallel(const Product& p, const Epilogue& epilogue, int slices) {
    launchNext();
    auto ring = openRing<TOKENS, GROUPS, PRODUCERS, STAGES>();
    int slice = blockIdx.x % slices;
    auto [rowTile, firstToken] = place<TOKENS, GROUPS>(p, blockIdx.x / slices);
    int tiles = (p.columns + TILE - 1) / TILE;
    int first = slice * tiles / slices;
    int end = (slice + 1) * tiles / slices;
    int group = threadIdx.x / 128;
    if (slices > 1 && ring.HAS_INBOX) {
        clusterArrive();  // all blocks of the cluster run before one writes to another
    }
    if (group == GROUPS) {
        produce(ring, p, rowTile, firstToken, first, end, threadIdx.x - GROUPS * 128);
        __syncwarp();
        if (slices > 1 && ring.HAS_INBOX) {
            clusterWait();
        }
    } else {
        float sums[TOKENS / 2];
        consume<T>(ring, sums, group, 0, end - first);
        waitForPrevious();
        if (slices > 1 && ring.HAS_INBOX) {
            clusterWait();
            send(ring, sums, group, slice, slices, p.rows - firstToken);
        } else {
            namedBarrier(1, GROUPS * 128);  // the stages give way to the sums
            stash(ring, sums, group);
            namedBarrier(1, GROUPS * 128);
        }
    }
    if (slices > 1) {
        clusterArrive();
        clusterWait();
    }
    if (group < GROUPS) {
        finish<T>(ring, p, epilogue, rowTile, firstToken, slice, slices);
    }
    if (slices > 1 && !ring.HAS_INBOX) {
        __syncwarp();
        clusterArrive();  // no block leaves while others read its sums
        clusterWait();
    }
}

template <class T, int TOKENS, int GROUPS, int PRODUCERS, int STAGES>
__device__ __forceinline__ void linearSerial(const Product& p, const Epilogue& epilogue, int slices) {
    launchNext();
    auto ring = openRing<TOKENS, GROUPS, PRODUCERS, STAGES>();
    auto [rowTile, firstToken] = place<TOKENS, GROUPS>(p, blockIdx.x);
    int tiles = (p.columns + TILE - 1) / TILE;
    int group = threadIdx.x / 128;
    if (group == GROUPS) {
        if (TOKENS >= 128) {
            fewerRegisters<40>();
        }
        produce(ring, p, rowTile, firstToken, 0, tiles, threadIdx.x - GROUPS * 128);
    } else {
        if (TOKENS >= 128) {
            moreRegisters<232>();
        }
        float all[TOKENS / 2];
        for (int s = 0; s < slices; s++) {
            float sums[TOKENS / 2];
            int first = s * tiles / slices;
            consume<T>(ring, sums, group, first, (s + 1) * tiles / slices - first);
#pragma unroll
            for (int i = 0; i < TOKENS / 2; i++) {
                all[i] = s == 0 ? sums[i] : all[i] + sums[i];
            }
        }
        waitForPrevious();
        namedBarrier(1, GROUPS * 128);
        stash(ring, all, group);
        namedBarrier(1, GROUPS * 128);
        finish<T>(ring, p, epilogue, rowTile, firstToken, 0, 1);
    }
}

#define PRODUCT_PARAMETERS                                                                                                  \
    const void *weight, const void *input, i64 inputStride, const float *bias, void *output, i64 outputStride, int rows,     \
        int outputs, int columns, int slices, int activation, float scale, int flags
#define PRODUCT                                                                                                             \
    Product{(const unsigned char*)weight, (const u16*)input, inputStride, output, outputStride, rows, outputs, columns}
#define EPILOGUE Epilogue{bias, activation, scale, flags}

#define PARALLEL(NAME, T, TOKENS, GROUPS, PRODUCERS, STAGES, BLOCKS)                                                        \
    extern "C" __global__ void __launch_bounds__(128 * GROUPS + 32 * PRODUCERS, BLOCKS) NAME(PRODUCT_PARAMETERS) {          \
        linearParallel<T, TOKENS, GROUPS, PRODUCERS, STAGES>(PRODUCT, EPILOGUE, slices);                                          \
    }
#define SERIAL(NAME, T, TOKENS, GROUPS, PRODUCERS, STAGES)                                                                  \
    extern "C" __global__ void __launch_bounds__(128 * GROUPS + 32 * PRODUCERS, TOKENS < 128 ? 2 : 1)                       \
        NAME(PRODUCT_PARAMETERS) {                                                                                          \
        linearSerial<T, TOKENS, GROUPS, PRODUCERS, STAGES>(PRODUCT, EPILOGUE, slices);                                      \
    }
#define BOTH_TYPES(KIND, TOKENS, ...)                                                                                       \
    KIND(linear_##TOKENS##_bf16, Bf16, TOKENS, __VA_ARGS__)                                                                 \
    KIND(linear_##TOKENS##_f16, F16, TOKENS, __VA_ARGS__)

BOTH_TYPES(PARALLEL, 8, 1, 1, 11, 2)
BOTH_TYPES(PARALLEL, 16, 1, 1, 10, 2)
BOTH_TYPES(PARALLEL, 32, 1, 2, 8, 2)
BOTH_TYPES(PARALLEL, 64, 1, 4, 6, 2)
BOTH_TYPES(PARALLEL, 128, 2, 4, 6, 1)
BOTH_TYPES(PARALLEL, 256, 2, 4, 4, 1)
SERIAL(linear_serial_64_bf16, Bf16, 64, 1, 4, 6)
SERIAL(linear_serial_64_f16, F16, 64, 1, 4, 6)
SERIAL(linear_serial_128_bf16, Bf16, 128, 2, 4, 6)
SERIAL(linear_serial_128_f16, F16, 128, 2, 4, 6)
SERIAL(linear_serial_192_bf16, Bf16, 192, 2, 4, 5)
SERIAL(linear_serial_192_f16, F16, 192, 2, 4, 5)

// Brings a row-major matrix [rows, columns] of 16-bit numbers, `stride` numbers from row to row, into the tiles described
// above, the first of which is tile row `firstTile` of `packed`. Launch: grid (column tiles, row tiles), 256 threads.
extern "C" __global__ void pack_weight(const u16* matrix, i64 stride, u16* packed, int firstTile, int rows, int columns) {
    u16* tile = packed + ((i64)(firstTile + blockIdx.y) * gridDim.x + blockIdx.x) * (TILE * TILE);
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x) {
        int r = i / TILE;
        int c = i % TILE;
        int row = blockIdx.y * TILE + r;
        int column = blockIdx.x * TILE + c;
        u16 value = row < rows && column < columns ? matrix[row * stride + column] : 0;
        tile[r * TILE + ((c / 8) ^ (r & 7)) * 8 + c % 8] = value;
    }
}
