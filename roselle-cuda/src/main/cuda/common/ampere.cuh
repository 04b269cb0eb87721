// Copies into shared memory and matrix instructions of a warp as PTX (sm_80 and later), and what later processors add for free.
#pragma once
#include "common/numbers.cuh"

__device__ __forceinline__ u32 sharedAddress(const void* pointer) {
    return (u32)__cvta_generic_to_shared(pointer);
}

// 16 bytes from global to shared memory, or 16 zeros.
__device__ __forceinline__ void copy16(u32 target, const void* source, bool present) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source), "r"(present ? 16 : 0) : "memory");
}

// The same, if asked for.
__device__ __forceinline__ void copy16(u32 target, const void* source, bool present, bool isAsked) {
    asm volatile(
        "{\n"
        ".reg .pred asked;\n"
        "setp.ne.b32 asked, %3, 0;\n"
        "@asked cp.async.cg.shared.global [%0], [%1], 16, %2;\n"
        "}\n" ::"r"(target),
        "l"(source), "r"(present ? 16 : 0), "r"((int)isAsked)
        : "memory");
}

__device__ __forceinline__ void copyCommit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int PENDING>
__device__ __forceinline__ void copyWait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

// Four 8 x 8 matrices of 16-bit numbers; lane l gives the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void loadMatrices(u32 (&registers)[4], u32 address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
        : "r"(address)
        : "memory");
}

__device__ __forceinline__ void loadTransposed(u32 (&registers)[4], u32 address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
        : "r"(address)
        : "memory");
}

// mma.m16n8k16: sums[16, 8] += a[16, 16] * b[16, 8].
template <class T>
__device__ __forceinline__ void mma(float (&sums)[4], const u32 (&a)[4], u32 b0, u32 b1);

template <>
__device__ __forceinline__ void mma<Bf16>(float (&sums)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <>
__device__ __forceinline__ void mma<F16>(float (&sums)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Programmatic dependent launch: lets the next kernel of the stream start; waits for the results of the one before. Nothing
// where the processor has none of it.
__device__ __forceinline__ void launchNext() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ __forceinline__ void waitForPrevious() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
