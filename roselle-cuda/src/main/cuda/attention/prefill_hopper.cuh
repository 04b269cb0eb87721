// What the kernels of attention_prefill_hopper.cu share: operands, weights and sums with wgmma.
#pragma once
#include "attention/attention.cuh"
#include "common/wgmma.cuh"

constexpr int ROWS = 128;

// Rows of SIZE numbers in shared memory as the tensor cores want them: SIZE / 64 blocks of [rows, 64], swizzled.
template <int SIZE>
__device__ __forceinline__ u32 swizzled(int rows, int row, int chunk) {
    return chunk / 8 * rows * 128 + row * 128 + ((chunk ^ row) & 7) * 16;
}

// Values of 16 positions as the B operand: columns contiguous, blocks of 64 columns POSITIONS * 128 bytes apart.
template <int POSITIONS>
__device__ __forceinline__ u64 valueOperand(u32 address) {
    return (u64)((address & 0x3FFFF) >> 4) | ((u64)(POSITIONS * 128 / 16) << 16) | (64ULL << 32) | (1ULL << 62);
}

constexpr int NO_ROW = 0x7FFFFF00;  // past the end of any cache

// Makes zeros of the values that the last page holds from row `from` of POSITIONS on, whatever they are: a weight of 0 times
// infinity would be no number.
template <int SIZE, int POSITIONS>
__device__ __forceinline__ void clearRows(u32 values, int from) {
    int until = (from + PAGE - 1) / PAGE * PAGE;
    for (int c = threadIdx.x % 128; c < (until - from) * (SIZE / 8); c += 128) {
        u32 to = values + (c % (SIZE / 64) * POSITIONS + from + c / (SIZE / 8)) * 128 + c / (SIZE / 64) % 8 * 16;
        asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(to), "r"(0) : "memory");
    }
    proxyFence();
    namedBarrier(2 + threadIdx.x / 128, 128);
}

// Which positions rows see. A row is a token and one of its heads.
struct Sight {
    int firstPosition;
    int tokens;

    // Until where the row of a place in the tile sees; 0 where there is none.
    __device__ __forceinline__ int end(const Attention& p, int slot) const {
        int token = slot / p.group;
        return token < tokens ? firstPosition + token + 1 : 0;
    }
};

// The weights of the 64 positions from `position` on, whose scores begin at s[FIRST]; `shrink`: what earlier sums of the split
// are to be multiplied with. A block has TILE_ROWS rows.
template <class T, int FIRST, int TILE_ROWS = ROWS>
__device__ __forceinline__ void weigh(const Attention& p, float (&s)[SPLIT / 2], const Sight& sight, int position, bool isWhole,
    float (&largest)[2], float (&shrink)[2], u32 (&weights)[4][4]) {
    float exponents = __fmul_rn(p.scale, LOG2_E);
    if (!isWhole) {
        int slot = threadIdx.x / 32 % (TILE_ROWS / 16) * 16 + threadIdx.x % 32 / 4;
        int from = position + threadIdx.x % 4 * 2;  // of the thread's first column
        int end[2] = {sight.end(p, slot) - from, sight.end(p, slot + 8) - from};
        int first[2] = {p.window == 0 ? -from : end[0] - p.window, p.window == 0 ? -from : end[1] - p.window};
#pragma unroll
        for (int j = 0; j < TILE / 2; j++) {
            int column = j / 4 * 8 + j % 2;
            s[FIRST + j] = column >= first[j / 2 % 2] && column < end[j / 2 % 2] ? s[FIRST + j] : NOTHING;
        }
    }
    float most[2] = {NOTHING, NOTHING};
#pragma unroll
    for (int j = 0; j < TILE / 2; j++) {
        most[j / 2 % 2] = fmaxf(most[j / 2 % 2], s[FIRST + j]);
    }
    float against[2];
#pragma unroll
    for (int j = 0; j < 2; j++) {
        float next = follow(largest[j], __fmul_rn(quadMax(most[j]), exponents));
        against[j] = reference(next);
        shrink[j] = shrinkage(largest[j], against[j]);
        largest[j] = next;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float* pair = s + FIRST + k * 8 + j * 2;
            float to = against[j % 2];
            weights[k][j] = pack<T>(weight(pair[0], exponents, to), weight(pair[1], exponents, to));
        }
    }
}

// wgmma (wgmma.cuh) of 128 columns that begins sums: for the compiler, too, what they were is not read, so that it need not keep it.
template <class T>
__device__ __forceinline__ void wgmmaFresh(float (&s)[64], u64 a, u64 b);
#define WGMMA_FRESH(T, NAME)                                                                                                \
    template <>                                                                                                             \
    __device__ __forceinline__ void wgmmaFresh<T>(float(&s)[64], u64 a, u64 b) {                                            \
        asm volatile("{\nwgmma.mma_async.sync.aligned.m64n128k16.f32." NAME "." NAME                                        \
                     " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "                                       \
                     "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, " \
                     "%34, %35, %36, "                                                                                      \
                     "%37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, " \
                     "%57, %58, %59, "                                                                                      \
                     "%60, %61, %62, %63}, %64, %65, 0, 1, 1, 0, 0;\n}\n"                                                   \
            : "=f"(s[0]), "=f"(s[1]), "=f"(s[2]), "=f"(s[3]), "=f"(s[4]), "=f"(s[5]), "=f"(s[6]), "=f"(s[7]), "=f"(s[8]),   \
            "=f"(s[9]), "=f"(s[10]), "=f"(s[11]), "=f"(s[12]), "=f"(s[13]), "=f"(s[14]), "=f"(s[15]), "=f"(s[16]),          \
            "=f"(s[17]), "=f"(s[18]), "=f"(s[19]), "=f"(s[20]), "=f"(s[21]), "=f"(s[22]), "=f"(s[23]), "=f"(s[24]),         \
            "=f"(s[25]), "=f"(s[26]), "=f"(s[27]), "=f"(s[28]), "=f"(s[29]), "=f"(s[30]), "=f"(s[31]), "=f"(s[32]),         \
            "=f"(s[33]), "=f"(s[34]), "=f"(s[35]), "=f"(s[36]), "=f"(s[37]), "=f"(s[38]), "=f"(s[39]), "=f"(s[40]),         \
            "=f"(s[41]), "=f"(s[42]), "=f"(s[43]), "=f"(s[44]), "=f"(s[45]), "=f"(s[46]), "=f"(s[47]), "=f"(s[48]),         \
            "=f"(s[49]), "=f"(s[50]), "=f"(s[51]), "=f"(s[52]), "=f"(s[53]), "=f"(s[54]), "=f"(s[55]), "=f"(s[56]),         \
            "=f"(s[57]), "=f"(s[58]), "=f"(s[59]), "=f"(s[60]), "=f"(s[61]), "=f"(s[62]), "=f"(s[63])                       \
            : "l"(a), "l"(b));                                                                                              \
    }
WGMMA_FRESH(Bf16, "bf16")
WGMMA_FRESH(F16, "f16")

// Starts the products of 64 rows of queries, of TILE_ROWS, with the keys of a split.
template <class T, int SIZE, int TILE_ROWS = ROWS>
__device__ __forceinline__ void score(float (&s)[SPLIT / 2], u32 query, u32 keys) {
    wgmmaBegin();
    u64 a = operand(query);
    u64 b = operand(keys);
    wgmmaFresh<T>(s, a, b);
#pragma unroll
    for (int k = 1; k < SIZE / 16; k++) {
        if (k % 4 == 0) {
            a += TILE_ROWS * 128 / 16;
            b += SPLIT * 128 / 16;
        }
        wgmma<T, SPLIT>(s, a + k % 4 * 2, b + k % 4 * 2, 1);
    }
    wgmmaCommit();
}

// Starts adding COLUMNS columns of weighted values of 64 positions, of POSITIONS that lie together.
template <class T, int COLUMNS, int POSITIONS>
__device__ __forceinline__ void gather(float (&o)[COLUMNS / 2], const u32 (&weights)[4][4], u32 values, bool adds) {
    wgmmaBegin();
#pragma unroll
    for (int k = 0; k < 4; k++) {
        wgmmaRegisters<T, COLUMNS>(o, weights[k], valueOperand<POSITIONS>(values) + k * 128, k > 0 || adds);
    }
    wgmmaCommit();
}

template <int SUMS>
__device__ __forceinline__ void multiplyRows(float (&sums)[SUMS], const float upper, const float lower) {
#pragma unroll
    for (int j = 0; j < SUMS; j++) {
        sums[j] = __fmul_rn(sums[j], j / 2 % 2 ? lower : upper);
    }
}
