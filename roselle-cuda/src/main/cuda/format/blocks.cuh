// Weights as checkpoints store them, number by number, with the bits of the engine's dequantizers: products and sums are
// rounded one by one. Rows are whole blocks, without gaps, little-endian; a block may begin at any even byte (MXFP4: any byte; F8_E4M3_128,
// I8_*: any fourth; I4_*: any eighth).
#pragma once
#include "common/elements.cuh"

// In the order of the engine's DataType constants.
enum WeightType {
    W_F32,
    W_F16,
    W_BF16,
    W_F64,
    W_I8,
    W_I16,
    W_I32,
    W_I64,
    W_U8,
    W_U16,
    W_U32,
    W_U64,
    W_BOOL,
    W_F8_E4M3,
    W_F8_E5M2,
    W_Q4_0,
    W_Q4_1,
    W_Q5_0,
    W_Q5_1,
    W_Q8_0,
    W_Q2_K,
    W_Q3_K,
    W_Q4_K,
    W_Q5_K,
    W_Q6_K,
    W_IQ4_NL,
    W_IQ4_XS,
    W_MXFP4,
    W_F8_E4M3_128,
    W_I8_128,
    W_I8_32,
    W_I4_128,
    W_I4_32,
    W_IQ2_XXS,  // from here on no kernel reads them yet, and the host refuses them
    W_IQ2_XS,
    W_IQ2_S,
    W_IQ3_XXS,
    W_IQ3_S,
    W_IQ1_S,
    W_IQ1_M,
    W_TQ1_0,
    W_TQ2_0,
    W_NVFP4,
    W_Q1_0,
    W_Q2_0
};

// Consecutive rows of one type. A weight is a table of them, ascending; rows count through all matrices of a stack.
struct WeightBlock {
    const u8* data;
    i64 rowBytes;
    int firstRow;
    int type;
};

// A row of a weight.
struct WeightRow {
    const u8* data;
    int type;
};

__device__ __forceinline__ WeightRow weightRow(const WeightBlock* blocks, int count, int row) {
    int low = 0;
    int high = count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (blocks[middle].firstRow <= row) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    WeightBlock block = blocks[low];
    return WeightRow{block.data + (row - block.firstRow) * block.rowBytes, block.type};
}

__device__ __forceinline__ float half16(const u8* at) {
    return toFloat<F16>((u16)(at[0] | at[1] << 8));
}

__device__ __forceinline__ int nibble(const u8* bytes, int i) {  // of 32 in 16 bytes: the low halves come first
    return bytes[i % 16] >> i / 16 * 4 & 15;
}

__device__ __forceinline__ int twoBits(const u8* bytes, int i) {  // of 256: a byte has position i % 32 of four groups
    return bytes[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
}

__device__ __forceinline__ int scaleOfK(const u8* scales, int group) {
    return group < 4 ? scales[group] & 63 : (scales[4 + group] & 15) | (scales[group - 4] >> 2 & 48);
}

__device__ __forceinline__ int minimumOfK(const u8* scales, int group) {
    return group < 4 ? scales[4 + group] & 63 : scales[4 + group] >> 4 | (scales[group] >> 2 & 48);
}

__device__ __forceinline__ int scaleOfQ3(const u8* scales, int group) {
    return (scales[group % 8] >> group / 8 * 4 & 15) | (scales[8 + group % 4] >> group / 4 * 2 & 3) << 4;
}

__device__ __forceinline__ float e4m3(int bits) {
    int exponent = bits >> 3 & 15;
    int fraction = bits & 7;
    float size = exponent == 0 ? fraction * 0.001953125f : __int_as_float(exponent + 120 << 23 | fraction << 20);
    size = (bits & 127) == 127 ? __int_as_float(0x7FC00000) : size;
    return bits & 128 ? -size : size;
}

// The steps of IQ4_NL, as bytes: finer near zero, as weights are.
__device__ __forceinline__ int nonLinear(int i) {
    u64 half = i < 8 ? 0xF6EADDCFBFAD9881ull : 0x7159453526190D01ull;
    return (signed char)(half >> i % 8 * 8);
}

// Twice the number that E2M1 stores (OCP Microscaling Formats 1.0).
__device__ __forceinline__ int twiceE2M1(int i) {
    int size = (int)(0xC8643210u >> i % 8 * 4 & 15);
    return i & 8 ? -size : size;
}

// 2 to the power exponent - 128: half of what E8M0 says.
__device__ __forceinline__ float halfPower(int exponent) {
    return __int_as_float(exponent < 2 ? 0x00200000 << exponent : exponent - 1 << 23);
}

__device__ __forceinline__ float kQuant(const u8* block, int scalesAt, int group, int quant) {
    float scale = __fmul_rn(half16(block), (float)scaleOfK(block + scalesAt, group));
    float minimum = __fmul_rn(half16(block + 2), (float)minimumOfK(block + scalesAt, group));
    return __fsub_rn(__fmul_rn(scale, (float)quant), minimum);
}

// Of a block of 4-bit codes: scale, zero, 16 bytes for each 32 numbers.
__device__ __forceinline__ float lessZero(const u8* block, int k) {
    const float* factors = (const float*)block;
    return __fmul_rn(factors[0], (float)nibble(block + 8 + k / 32 * 16, k % 32) - factors[1]);
}

// Number k of a row.
__device__ __forceinline__ float weightNumber(const u8* row, int type, int k) {
    int i = k % 32;
    int j = k % 256;
    i64 small = k / 32;
    i64 large = k / 256;
    switch (type) {
        case W_F32:
            return ((const float*)row)[k];
        case W_F16:
            return toFloat<F16>(((const u16*)row)[k]);
        case W_BF16:
            return toFloat<Bf16>(((const u16*)row)[k]);
        case W_F64:
            return (float)((const double*)row)[k];
        case W_F8_E4M3:
            return e4m3(row[k]);
        case W_F8_E5M2:
            return toFloat<F16>((u16)(row[k] << 8));
        case W_Q4_0: {
            const u8* b = row + small * 18;
            return __fmul_rn(half16(b), (float)(nibble(b + 2, i) - 8));
        }
        case W_Q4_1: {
            const u8* b = row + small * 20;
            return __fadd_rn(__fmul_rn(half16(b), (float)nibble(b + 4, i)), half16(b + 2));
        }
        case W_Q5_0: {
            const u8* b = row + small * 22;
            int fifth = b[2 + i / 8] >> i % 8 & 1;
            return __fmul_rn(half16(b), (float)((nibble(b + 6, i) | fifth << 4) - 16));
        }
        case W_Q5_1: {
            const u8* b = row + small * 24;
            int fifth = b[4 + i / 8] >> i % 8 & 1;
            return __fadd_rn(__fmul_rn(half16(b), (float)(nibble(b + 8, i) | fifth << 4)), half16(b + 2));
        }
        case W_Q8_0: {
            const u8* b = row + small * 34;
            return __fmul_rn((float)(signed char)b[2 + i], half16(b));
        }
        case W_Q2_K: {
            const u8* b = row + large * 84;
            int scales = b[j / 16];
            float scale = __fmul_rn(half16(b + 80), (float)(scales & 15));
            float minimum = __fmul_rn(half16(b + 82), (float)(scales >> 4));
            return __fsub_rn(__fmul_rn(scale, (float)twoBits(b + 16, j)), minimum);
        }
        case W_Q3_K: {
            const u8* b = row + large * 110;
            int third = b[j % 32] >> j / 32 & 1;
            float scale = __fmul_rn(half16(b + 108), (float)(scaleOfQ3(b + 96, j / 16) - 32));
            return __fmul_rn(scale, (float)(twoBits(b + 32, j) - 4 * (1 - third)));
        }
        case W_Q4_K: {
            const u8* b = row + large * 144;
            return kQuant(b, 4, j / 32, b[16 + j / 64 * 32 + i] >> j / 32 % 2 * 4 & 15);
        }
        case W_Q5_K: {
            const u8* b = row + large * 176;
            int fifth = b[16 + i] >> j / 32 & 1;
            return kQuant(b, 4, j / 32, (b[48 + j / 64 * 32 + i] >> j / 32 % 2 * 4 & 15) | fifth << 4);
        }
        case W_Q6_K: {
            const u8* b = row + large * 210;
            int low = b[j / 128 * 64 + j % 64] >> j % 128 / 64 * 4 & 15;
            float scale = __fmul_rn(half16(b + 208), (float)(signed char)b[192 + j / 16]);
            return __fmul_rn(scale, (float)((low | twoBits(b + 128, j) << 4) - 32));
        }
        case W_IQ4_NL: {
            const u8* b = row + small * 18;
            return __fmul_rn(half16(b), (float)nonLinear(nibble(b + 2, i)));
        }
        case W_IQ4_XS: {
            const u8* b = row + large * 136;
            int group = j / 32;
            int scale = (b[4 + group / 2] >> group % 2 * 4 & 15) | ((b[2] | b[3] << 8) >> group * 2 & 3) << 4;
            return __fmul_rn(__fmul_rn(half16(b), (float)(scale - 32)), (float)nonLinear(nibble(b + 8 + group * 16, i)));
        }
        case W_MXFP4: {
            const u8* b = row + small * 17;
            return __fmul_rn(halfPower(b[0]), (float)twiceE2M1(nibble(b + 1, i)));
        }
        case W_F8_E4M3_128: {
            const u8* b = row + (i64)(k / 128) * 132;
            return __fmul_rn(e4m3(b[4 + k % 128]), *(const float*)b);
        }
        case W_I8_128: {
            const u8* b = row + (i64)(k / 128) * 132;
            return __fmul_rn((float)(signed char)b[4 + k % 128], *(const float*)b);
        }
        case W_I8_32: {
            const u8* b = row + small * 36;
            return __fmul_rn((float)(signed char)b[4 + i], *(const float*)b);
        }
        case W_I4_128:
            return lessZero(row + (i64)(k / 128) * 72, k % 128);
        case W_I4_32:
            return lessZero(row + small * 24, i);
        default:  // integers are no weights
            return __int_as_float(0x7FC00000);
    }
}

// Eight numbers of a type that is known here, so that what they share is read once.
template <int TYPE>
__device__ __forceinline__ void eightNumbers(const u8* row, int k, int columns, float (&w)[8]) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
        w[i] = k + i < columns ? weightNumber(row, TYPE, k + i) : 0.0f;
    }
}

// The numbers k until k + 8 of a row, or those that there are and zeros; k is a multiple of 8.
__device__ __forceinline__ void weightEight(WeightRow row, int k, int columns, float (&w)[8]) {
    __builtin_assume(k % 8 == 0);
    switch (row.type) {
#define EIGHT(TYPE)                                  \
    case TYPE:                                       \
        eightNumbers<TYPE>(row.data, k, columns, w); \
        break;
#define EIGHT_PLAIN(TYPE, T)                                 \
    case TYPE:                                               \
        if (k + 8 <= columns) {                              \
            loadEight<T>((const Number<T>*)row.data + k, w); \
        } else {                                             \
            eightNumbers<TYPE>(row.data, k, columns, w);     \
        }                                                    \
        break;
        EIGHT_PLAIN(W_F32, F32)
        EIGHT_PLAIN(W_F16, F16)
        EIGHT_PLAIN(W_BF16, Bf16)
        EIGHT(W_F64)
        EIGHT(W_F8_E4M3)
        EIGHT(W_F8_E5M2)
        EIGHT(W_Q4_0)
        EIGHT(W_Q4_1)
        EIGHT(W_Q5_0)
        EIGHT(W_Q5_1)
        EIGHT(W_Q8_0)
        EIGHT(W_Q2_K)
        EIGHT(W_Q3_K)
        EIGHT(W_Q4_K)
        EIGHT(W_Q5_K)
        EIGHT(W_Q6_K)
        EIGHT(W_IQ4_NL)
        EIGHT(W_IQ4_XS)
        EIGHT(W_F8_E4M3_128)
        EIGHT(W_I8_128)
        EIGHT(W_I8_32)
        EIGHT(W_I4_128)
        EIGHT(W_I4_32)
        default:
            eightNumbers<W_MXFP4>(row.data, k, columns, w);
    }
}
