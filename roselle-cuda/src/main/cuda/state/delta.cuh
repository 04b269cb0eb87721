// The delta rule's pages of 16 tokens on tensor cores: keys of 128 numbers, values in pieces of 16 numbers, a warp each.
//
// A warp has S^T [16 numbers of the value, 128 of the key] as float32 sums of matrix instructions, and every product has the
// same one, m16n8k8 in TF32: what it makes of a column does not depend on the columns beside it. So a row has the same bits
// among the 16 of its page and alone, where the instruction's other columns are zeros.
//
// Sums of an instruction lie with lane l as rows l / 4 and l / 4 + 8, columns 2 (l % 4) and the next one; factors as rows l / 4
// and columns l % 4 and l % 4 + 4. Sums become factors where they lie if place l % 4 of the inner dimension stands for the sum's
// column 2 (l % 4), and place l % 4 + 4 for the next one. Two neighbouring instructions share 16 numbers of keys, even ones and
// odd ones, so that a lane has four neighbours: shared memory and pages are read 16 bytes at a time. Sums over keys are two, of
// even and of odd numbers, added at the end. Tokens as an inner dimension have places l % 4 + 4 m: they lie in that order
// (tokenAt).
#pragma once
#include "common/ampere.cuh"
#include "state/pages.cuh"

constexpr int KEY = 128;
constexpr int PAGE = 16;
constexpr int PIECE = 16;  // numbers of a value that a warp has
constexpr int PIECE_STRIDE = PAGE + 4;

// Where token j lies among 16.
__device__ __forceinline__ int tokenAt(int j) {
    return 4 * (j % 4) + j / 4;
}

// Where group g of four numbers of a key lies in its row in shared memory, so that lanes meet on no bank.
__device__ __forceinline__ int groupAt(int row, int g) {
    return row * KEY + 4 * (g ^ ((row & 1) << 2 | (row & 2)));
}

// Groups 4 t + q of a row, for t in turn: two numbers and constants.
struct Groups {
    int even;
    int odd;

    __device__ __forceinline__ Groups(int row, int q) : even(groupAt(row, q)), odd(groupAt(row, 4 + q)) {}

    __device__ __forceinline__ int at(int t) const {
        return (t % 2 ? odd : even) + t / 2 * 32;
    }
};

__device__ __forceinline__ float rounded(float x) {
    u32 bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits);
}

// sums[16, 8] += a[16, 8] * b[8, 8]; all factors are rounded.
__device__ __forceinline__ void multiply(float (&sums)[4], float a0, float a1, float a2, float a3, float b0, float b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(__float_as_uint(a0)), "r"(__float_as_uint(a1)), "r"(__float_as_uint(a2)), "r"(__float_as_uint(a3)),
        "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}

// Products of 16 rows of keys with 8 rows, in shared memory.
__device__ __forceinline__ void multiplyKeys(float (&sums)[4], const float* keys, const float* others) {
    Groups groups(threadIdx.x % 32 / 4, threadIdx.x % 4);
    float odd[4] = {};
#pragma unroll
    for (int t = 0; t < KEY / 16; t++) {
        int at = groups.at(t);
        float4 low = *(const float4*)(keys + at);
        float4 high = *(const float4*)(keys + 8 * KEY + at);
        float4 other = *(const float4*)(others + at);
        multiply(sums, low.x, high.x, low.z, high.z, other.x, other.z);
        multiply(odd, low.y, high.y, low.w, high.w, other.y, other.w);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        sums[i] = __fadd_rn(sums[i], odd[i]);
    }
}

// S^T of a piece.
struct DeltaState {
    float s[KEY / 8][4];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int t = 0; t < KEY / 8; t++) {
            s[t][0] = s[t][1] = s[t][2] = s[t][3] = 0.0f;
        }
    }

    // Group t of four numbers, of rows l / 4 and l / 4 + 8.
    __device__ __forceinline__ void take(int t, float4 low, float4 high) {
        s[2 * t][0] = low.x, s[2 * t + 1][0] = low.y, s[2 * t][1] = low.z, s[2 * t + 1][1] = low.w;
        s[2 * t][2] = high.x, s[2 * t + 1][2] = high.y, s[2 * t][3] = high.z, s[2 * t + 1][3] = high.w;
    }

    // From or to [16, 128] in a page.
    __device__ __forceinline__ void read(const float* piece) {
        int lane = threadIdx.x % 32;
        const float* from = piece + lane / 4 * KEY + 4 * (lane % 4);
#pragma unroll
        for (int t = 0; t < KEY / 16; t++) {
            take(t, *(const float4*)(from + 16 * t), *(const float4*)(from + 8 * KEY + 16 * t));
        }
    }

    __device__ __forceinline__ void write(float* piece) const {
        int lane = threadIdx.x % 32;
        float* to = piece + lane / 4 * KEY + 4 * (lane % 4);
#pragma unroll
        for (int t = 0; t < KEY / 16; t++) {
            *(float4*)(to + 16 * t) = make_float4(s[2 * t][0], s[2 * t + 1][0], s[2 * t][1], s[2 * t + 1][1]);
            *(float4*)(to + 8 * KEY + 16 * t) = make_float4(s[2 * t][2], s[2 * t + 1][2], s[2 * t][3], s[2 * t + 1][3]);
        }
    }

    // Adds S^T times group t of four numbers of eight rows, a group for each lane.
    template <int COUNT>
    __device__ __forceinline__ void add(
        int t, const float4 (&b)[COUNT], float (&even)[COUNT][4], float (&odd)[COUNT][4]) const {
        float a[8];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            a[4 * i] = rounded(s[2 * t + i][0]);
            a[4 * i + 1] = rounded(s[2 * t + i][2]);
            a[4 * i + 2] = rounded(s[2 * t + i][1]);
            a[4 * i + 3] = rounded(s[2 * t + i][3]);
        }
#pragma unroll
        for (int n = 0; n < COUNT; n++) {
            multiply(even[n], a[0], a[1], a[2], a[3], b[n].x, b[n].z);
            multiply(odd[n], a[4], a[5], a[6], a[7], b[n].y, b[n].w);
        }
    }

    // S = decay * S + corrections * keys: corrections as factors, each decayed to the page's end.
    __device__ __forceinline__ void advance(float decay, const float (&d)[8], const float* keys) {
        int lane = threadIdx.x % 32;
        Groups groups(lane % 4, lane / 8);
        keys += 2 * (lane / 4 % 2);
#pragma unroll
        for (int t = 0; t < KEY / 16; t++) {
            float2 k[4];
#pragma unroll
            for (int m = 0; m < 4; m++) {
                k[m] = *(const float2*)(keys + 4 * m * KEY + groups.at(t));
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
                s[2 * t][i] = __fmul_rn(decay, s[2 * t][i]);
                s[2 * t + 1][i] = __fmul_rn(decay, s[2 * t + 1][i]);
            }
            multiply(s[2 * t], d[0], d[1], d[2], d[3], k[0].x, k[1].x);
            multiply(s[2 * t + 1], d[0], d[1], d[2], d[3], k[0].y, k[1].y);
            multiply(s[2 * t], d[4], d[5], d[6], d[7], k[2].x, k[3].x);
            multiply(s[2 * t + 1], d[4], d[5], d[6], d[7], k[2].y, k[3].y);
        }
    }
};

// Corrections of a piece as factors: those of tokens l % 4 + 4 m, of rows l / 4 and l / 4 + 8; and decayed to the page's end.
struct Corrections {
    float plain[8];
    float aged[8];

    __device__ __forceinline__ Corrections(const float (&low)[4], const float (&high)[4], const float* ages) {
        float4 four = *(const float4*)(ages + 4 * (threadIdx.x % 4));
        float age[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int m = 0; m < 4; m++) {
            plain[2 * m] = rounded(low[m]);
            plain[2 * m + 1] = rounded(high[m]);
            aged[2 * m] = rounded(__fmul_rn(age[m], low[m]));
            aged[2 * m + 1] = rounded(__fmul_rn(age[m], high[m]));
        }
    }

    // sums += corrections * weights, which lie as tokens do.
    __device__ __forceinline__ void add(float (&sums)[4], float4 w) const {
        multiply(sums, plain[0], plain[1], plain[2], plain[3], w.x, w.y);
        multiply(sums, plain[4], plain[5], plain[6], plain[7], w.z, w.w);
    }
};

// beta (v - decay * seen), what a correction is before those of the page's earlier tokens; in a state space beta v.
template <bool IS_SPACE>
__device__ __forceinline__ float uncorrected(float beta, float value, float decay, float seen) {
    return __fmul_rn(beta, IS_SPACE ? value : __fsub_rn(value, __fmul_rn(decay, seen)));
}

// Weights of token j in the correction, negative, and in the output, of token i.
__device__ __forceinline__ float correctionWeight(float beta, float decay, float score) {
    return -__fmul_rn(beta, __fmul_rn(decay, score));
}

__device__ __forceinline__ float outputWeight(float decay, float score) {
    return rounded(__fmul_rn(decay, score));
}

// d(i) minus what the weights say of those before it.
__device__ __forceinline__ float corrected(float d, const float* weights, const float (&earlier)[PAGE], int count) {
#pragma unroll
    for (int j = 0; j < PAGE; j += 4) {
        if (j < count) {
            float4 w = *(const float4*)(weights + j);
            d = __fmaf_rn(w.x, earlier[j], d);
            d = j + 1 < count ? __fmaf_rn(w.y, earlier[j + 1], d) : d;
            d = j + 2 < count ? __fmaf_rn(w.z, earlier[j + 2], d) : d;
            d = j + 3 < count ? __fmaf_rn(w.w, earlier[j + 3], d) : d;
        }
    }
    return d;
}

// Four neighbours, in two words.
__device__ __forceinline__ uint2 loadFour(const u16* numbers) {
    if (((u64)numbers & 7) == 0) {
        return *(const uint2*)numbers;
    }
    return make_uint2(numbers[0] | (u32)numbers[1] << 16, numbers[2] | (u32)numbers[3] << 16);
}

template <class T>
__device__ __forceinline__ float4 four(uint2 words) {
    return make_float4(lowHalf<T>(words.x), highHalf<T>(words.x), lowHalf<T>(words.y), highHalf<T>(words.y));
}

__device__ __forceinline__ float squareSum(float4 x) {
    return __fmaf_rn(x.w, x.w, __fmaf_rn(x.z, x.z, __fmaf_rn(x.y, x.y, __fmul_rn(x.x, x.x))));
}

__device__ __forceinline__ float4 scaled(float4 x, float factor) {
    return make_float4(__fmul_rn(x.x, factor), __fmul_rn(x.y, factor), __fmul_rn(x.z, factor), __fmul_rn(x.w, factor));
}

// What numbers with that sum of squares are multiplied with.
__device__ __forceinline__ float unitScale(float squares, float scale) {
    return __fmul_rn(scale, rsqrtf(__fadd_rn(squares, 1e-6f)));
}

// A head of a row, four numbers a lane, divided by its norm, or as it is.
template <class T, bool IS_SPACE>
__device__ __forceinline__ float4 unit(uint2 words, float scale) {
    float4 x = four<T>(words);
    return IS_SPACE ? x : scaled(x, unitScale(warpSum(squareSum(x)), scale));
}

__device__ __forceinline__ float4 rounded(float4 x) {
    return make_float4(rounded(x.x), rounded(x.y), rounded(x.z), rounded(x.w));
}

constexpr float QUERY_SCALE = 0.08838834764831845f;  // 1 / sqrt(KEY)

// What a step gives.
template <class T>
struct DeltaInputs {
    const u16* query;
    i64 queryStride;
    const u16* key;
    i64 keyStride;
    const u16* value;
    i64 valueStride;
    const u16* a;
    i64 aStride;
    const u16* b;
    i64 bStride;
    const float* rate;
    const float* timeBias;
    DeltaTraits traits;

    // Whether queries, keys and values can be read eight bytes at a time.
    __device__ __forceinline__ bool areWhole() const {
        return (((u64)query | (u64)key | (u64)value) & 7) == 0 && ((queryStride | keyStride | valueStride) & 3) == 0;
    }
};
