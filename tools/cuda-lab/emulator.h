// CUDA C++ on a processor without a GPU: each thread of a block is a fiber, blocks run one after the other.
//
// A fiber runs until it waits for its warp or its block. Enough for kernels that use no PTX: intrinsics, shuffles, barriers,
// shared memory, atomics. numbers.cuh and ampere.cuh, which are PTX, are replaced by what stands at the end. races.cpp is told of
// every access.
#pragma once
#include "races.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __shared__ static
#define __align__(n)
#define __restrict__
#define __launch_bounds__(...)
#define __builtin_assume(x) ((void)0)
#define __constant__ static const

struct dim3 { unsigned x, y, z; };
struct uint4 { unsigned x, y, z, w; };
struct uint2 { unsigned x, y; };
struct int2 { int x, y; };
struct float4 { float x, y, z, w; };
struct float2 { float x, y; };
struct double2 { double x, y; };
struct int4 { int x, y, z, w; };
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
using std::max;
using std::min;
inline int max(int a, int b) { return a > b ? a : b; }  // constants of enums, too
inline int min(int a, int b) { return a < b ? a : b; }

#define EMULATOR static __attribute__((section("emulator")))  // what the emulator itself remembers
#define UNSEEN __attribute__((no_sanitize_thread))

EMULATOR dim3 threadIdx, blockIdx, blockDim, gridDim;
static unsigned char emulatedShared[256 << 10] __attribute__((aligned(128)));

struct Fiber {
    void* stackPointer;
    unsigned char* stack;
    bool isDone;
};

constexpr size_t STACK_BYTES = 96 << 10;
EMULATOR Fiber fibers[1024];
EMULATOR void* schedulerStack;
EMULATOR unsigned current, alive, launches, blocks;
EMULATOR unsigned blockArrived, blockGeneration;
EMULATOR unsigned warpArrived[32], warpGeneration[32], warpAlive[32];
EMULATOR unsigned long long slots[32][32];
EMULATOR int anyPredicate;
EMULATOR volatile int atomicsUnderWay;
EMULATOR void (*body)(void*);
EMULATOR void* bodyData;

#define OF_LINKER extern "C" __attribute__((visibility("hidden"))) unsigned char
OF_LINKER __start_emulator, __stop_emulator, __ehdr_start, _end;

UNSEEN EmulatedMemory emulatedMemory(const void* address) {
    const unsigned char* byte = (const unsigned char*)address;
    const unsigned char* frame = (const unsigned char*)__builtin_frame_address(0);
    const unsigned char* stack = fibers[current].stack;
    bool isOnStack = byte >= stack && byte < stack + STACK_BYTES;
    bool isScheduler = frame < stack || frame >= stack + STACK_BYTES;
    if (isOnStack || isScheduler || (byte >= &__start_emulator && byte < &__stop_emulator)) {
        return EmulatedMemory::OWN;
    }
    if (byte >= emulatedShared && byte < emulatedShared + sizeof emulatedShared) {
        return EmulatedMemory::SHARED;
    }
    return byte >= &__ehdr_start && byte < &_end ? EmulatedMemory::STATIC_SHARED : EmulatedMemory::GLOBAL;
}

UNSEEN EmulatedAccess emulatedAccess() {
    return {launches, blocks, current, blockGeneration, warpGeneration[current / 32], atomicsUnderWay > 0};
}

// Saves the callee's registers, changes stacks and goes on there.
extern "C" void switchStack(void** from, void* to);
asm(R"(
.text
.globl switchStack
.hidden switchStack
switchStack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");

static void yieldFiber() {
    dim3 index = threadIdx;
    unsigned me = current;
    switchStack(&fibers[me].stackPointer, schedulerStack);
    threadIdx = index;
}

static void releaseWarp(unsigned warp) {
    if (warpArrived[warp] >= warpAlive[warp]) {
        warpArrived[warp] = 0;
        warpGeneration[warp]++;
    }
}

static void releaseBlock() {
    if (blockArrived >= alive) {
        blockArrived = 0;
        blockGeneration++;
    }
}

inline void __syncwarp(unsigned = ~0u) {
    unsigned warp = current / 32;
    unsigned generation = warpGeneration[warp];
    warpArrived[warp]++;
    releaseWarp(warp);
    while (warpGeneration[warp] == generation) {
        yieldFiber();
    }
}

inline void __syncthreads() {
    unsigned generation = blockGeneration;
    blockArrived++;
    releaseBlock();
    while (blockGeneration == generation) {
        yieldFiber();
    }
}

template <class V>
V exchange(V value, unsigned from) {
    unsigned warp = current / 32;
    unsigned long long bits = 0;
    memcpy(&bits, &value, sizeof value);
    slots[warp][current % 32] = bits;
    __syncwarp();
    memcpy(&value, &slots[warp][from % 32], sizeof value);
    __syncwarp();
    return value;
}

template <class V>
V __shfl_xor_sync(unsigned, V value, int mask) { return exchange(value, (current % 32) ^ mask); }
template <class V>
V __shfl_sync(unsigned, V value, int lane) { return exchange(value, lane); }
template <class V>
V __shfl_up_sync(unsigned, V value, int delta) {
    unsigned lane = current % 32;
    V other = exchange(value, lane >= (unsigned)delta ? lane - delta : lane);
    return other;
}
template <class V>
V __shfl_down_sync(unsigned, V value, int delta) {
    unsigned lane = current % 32;
    return exchange(value, lane + delta < 32 ? lane + delta : lane);
}

inline unsigned __ballot_sync(unsigned, int predicate) {
    unsigned warp = current / 32;
    slots[warp][current % 32] = predicate != 0;
    __syncwarp();
    unsigned bits = 0;
    for (int i = 0; i < 32; i++) {
        bits |= (unsigned)slots[warp][i] << i;
    }
    __syncwarp();
    return bits;
}

inline unsigned __reduce_max_sync(unsigned, unsigned value) {
    for (int mask = 16; mask > 0; mask /= 2) {
        unsigned other = __shfl_xor_sync(~0u, value, mask);
        value = other > value ? other : value;
    }
    return value;
}
inline unsigned __reduce_min_sync(unsigned, unsigned value) { return ~__reduce_max_sync(~0u, ~value); }
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __syncthreads_or(int predicate) {
    __syncthreads();
    anyPredicate = 0;
    __syncthreads();
    anyPredicate |= predicate != 0;
    __syncthreads();
    int result = anyPredicate;
    __syncthreads();
    return result;
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        result |= (unsigned)(bytes >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
    }
    return result;
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
template <class V> V bitsAs(const void* from) { V v; memcpy(&v, from, sizeof v); return v; }
inline float __uint_as_float(unsigned x) { return bitsAs<float>(&x); }
inline float __int_as_float(int x) { return bitsAs<float>(&x); }
inline unsigned __float_as_uint(float x) { return bitsAs<unsigned>(&x); }
inline int __float_as_int(float x) { return bitsAs<int>(&x); }
inline double __longlong_as_double(long long x) { return bitsAs<double>(&x); }
inline long long __double_as_longlong(double x) { return bitsAs<long long>(&x); }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fdividef(float a, float b) { return a / b; }
#define __expf expf
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
template <class V> V __ldg(const V* p) { return *p; }
template <class V> V __ldcg(const V* p) { return *p; }
inline int __float2int_rn(float x) { return x != x ? 0 : (int)nearbyintf(x < -1e9f ? -1e9f : x > 1e9f ? 1e9f : x); }
inline void __threadfence() {}
template <class V, class W, class F>
V atomically(V* p, W v, F combine) {
    atomicsUnderWay++;
    V old = *p;
    *p = combine(old, (V)v);
    atomicsUnderWay--;
    return old;
}
template <class V, class W> V atomicAdd(V* p, W v) { return atomically(p, v, [](V a, V b) { return (V)(a + b); }); }
template <class V, class W> V atomicMax(V* p, W v) { return atomically(p, v, [](V a, V b) { return std::max(a, b); }); }
template <class V, class W> V atomicMin(V* p, W v) { return atomically(p, v, [](V a, V b) { return std::min(a, b); }); }
template <class V, class W> V atomicOr(V* p, W v) { return atomically(p, v, [](V a, V b) { return (V)(a | b); }); }
template <class V, class W> V atomicExch(V* p, W v) { return atomically(p, v, [](V, V b) { return b; }); }

// What a fiber copies arrives no sooner than it must: when the fiber waits for its group.
struct EmulatedCopy {
    unsigned target;
    unsigned group;
    const void* source;  // null for zeros
};
constexpr unsigned MOST_COPIES = 512;
EMULATOR EmulatedCopy copies[1024][MOST_COPIES];
EMULATOR unsigned firstCopy[1024], endCopy[1024], openGroup[1024];

UNSEEN void emulatorFails(const char* what) {
    fprintf(stderr, "%s\n", what);
    abort();
}

inline void forgetCopies(unsigned fiber) { firstCopy[fiber] = endCopy[fiber] = openGroup[fiber] = 0; }

static void fiberMain() {
    body(bodyData);
    fibers[current].isDone = true;
    alive--;
    warpAlive[current / 32]--;
    releaseBlock();
    if (warpAlive[current / 32] > 0) {
        releaseWarp(current / 32);
    }
    for (;;) {
        yieldFiber();
    }
}

static void startFiber(unsigned i) {
    if (!fibers[i].stack) {
        fibers[i].stack = (unsigned char*)aligned_alloc(64, STACK_BYTES);
    }
    void** top = (void**)(fibers[i].stack + STACK_BYTES - 64);
    *--top = nullptr;
    *--top = (void*)fiberMain;  // the return address of switchStack; the stack is then as after a call
    top -= 6;
    fibers[i].stackPointer = top;
    fibers[i].isDone = false;
    forgetCopies(i);
}

static void runBlock() {
    unsigned threads = blockDim.x;
    blocks++;
    alive = threads;
    blockArrived = 0;
    for (unsigned w = 0; w < 32; w++) {
        warpAlive[w] = threads > w * 32 ? std::min(32u, threads - w * 32) : 0;
        warpArrived[w] = 0;
    }
    for (unsigned i = 0; i < threads; i++) {
        startFiber(i);
    }
    while (alive > 0) {
        for (unsigned i = 0; i < threads; i++) {
            if (!fibers[i].isDone) {
                current = i;
                threadIdx = {i, 0, 0};
                switchStack(&schedulerStack, fibers[i].stackPointer);
            }
        }
    }
}

template <class... A, size_t... I>
void apply(void (*kernel)(A...), void** arguments, std::index_sequence<I...>) {
    kernel(*(A*)arguments[I]...);
}

template <class... A>
void emulate(void (*kernel)(A...), const unsigned* grid, const unsigned* block, void** arguments) {
    struct Call {
        void (*kernel)(A...);
        void** arguments;
    };
    Call call = {kernel, arguments};
    body = [](void* data) {
        Call* c = (Call*)data;
        apply(c->kernel, c->arguments, std::index_sequence_for<A...>{});
    };
    bodyData = &call;
    launches++;
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], 1, 1};
    for (unsigned z = 0; z < grid[2]; z++) {
        for (unsigned y = 0; y < grid[1]; y++) {
            for (unsigned x = 0; x < grid[0]; x++) {
                blockIdx = {x, y, z};
                memset(emulatedShared, 0xFF, sizeof emulatedShared);  // NaN
                runBlock();
            }
        }
    }
}

// ---- in the place of numbers.cuh and ampere.cuh
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;
struct Bf16 {};
struct F16 {};
template <class T> float toFloat(u16 bits);
template <> inline float toFloat<Bf16>(u16 bits) { return __uint_as_float((u32)bits << 16); }
template <> inline float toFloat<F16>(u16 bits) { _Float16 x; memcpy(&x, &bits, 2); return (float)x; }
template <class T> u16 fromFloat(float value);
template <> inline u16 fromFloat<Bf16>(float value) {
    u32 bits = __float_as_uint(value);
    return value != value ? 0x7FFF : (u16)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
template <> inline u16 fromFloat<F16>(float value) { _Float16 x = (_Float16)value; u16 bits; memcpy(&bits, &x, 2); return bits; }
template <class T> u32 pack(float low, float high) { return fromFloat<T>(low) | (u32)fromFloat<T>(high) << 16; }
template <class T> u32 fmaPair(u32 a, u32 b, u32 c) {
    float sums[2];
    for (int i = 0; i < 2; i++) {
        sums[i] = fmaf(toFloat<T>((u16)(a >> 16 * i)), toFloat<T>((u16)(b >> 16 * i)), toFloat<T>((u16)(c >> 16 * i)));
    }
    return pack<T>(sums[0], sums[1]);
}
inline float lesser(float a, float b) { return a != a || b != b ? NAN : a < b ? a : b; }
inline float greater(float a, float b) { return a != a || b != b ? NAN : a > b ? a : b; }
template <class T> float lowHalf(u32 bits) { return toFloat<T>((u16)bits); }
template <class T> float highHalf(u32 bits) { return toFloat<T>((u16)(bits >> 16)); }
inline void launchNext() {}
inline void waitForPrevious() {}
inline u32 sharedAddress(const void* pointer) { return (u32)((const unsigned char*)pointer - emulatedShared); }

inline void copy16(u32 target, const void* source, bool present);
inline void copy16(u32 target, const void* source, bool present, bool isAsked) {
    if (isAsked) {
        copy16(target, source, present);
    }
}
inline void copy16(u32 target, const void* source, bool present) {
    if (target % 16 != 0 || (size_t)source % 16 != 0) {
        emulatorFails("a copy of 16 bytes is not aligned");
    }
    unsigned me = current;
    if (endCopy[me] - firstCopy[me] == MOST_COPIES) {
        emulatorFails("too many copies on their way");
    }
    copies[me][endCopy[me]++ % MOST_COPIES] = {target, openGroup[me], present ? source : nullptr};
}
inline void copyCommit() { openGroup[current]++; }
template <int PENDING> void copyWait() {
    unsigned me = current;
    for (; firstCopy[me] != endCopy[me] && copies[me][firstCopy[me] % MOST_COPIES].group + PENDING < openGroup[me]; firstCopy[me]++) {
        EmulatedCopy c = copies[me][firstCopy[me] % MOST_COPIES];
        c.source ? memcpy(emulatedShared + c.target, c.source, 16) : memset(emulatedShared + c.target, 0, 16);
    }
}

// mma.m16n8k16, with the fragments of the PTX manual.
EMULATOR u32 operands[32][32][6];
template <class T>
void mma(float (&sums)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    unsigned warp = current / 32, lane = current % 32;
    u32* mine = operands[warp][lane];
    mine[0] = a[0], mine[1] = a[1], mine[2] = a[2], mine[3] = a[3], mine[4] = b0, mine[5] = b1;
    __syncwarp();
    for (int i = 0; i < 4; i++) {
        int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        for (int k = 0; k < 16; k++) {
            u32 left = operands[warp][row % 8 * 4 + k % 8 / 2][row / 8 + k / 8 * 2];
            u32 right = operands[warp][column * 4 + k % 8 / 2][4 + k / 8];
            sums[i] += toFloat<T>((u16)(left >> k % 2 * 16)) * toFloat<T>((u16)(right >> k % 2 * 16));
        }
    }
    __syncwarp();
}

// ldmatrix.x4: lane l gives row l % 8 of matrix l / 8, and gets numbers 2 * (l % 4) and the next of row l / 4 of each.
inline void matrices(u32 (&registers)[4], u32 address, bool transposed) {
    unsigned warp = current / 32, lane = current % 32;
    operands[warp][lane][0] = address;
    __syncwarp();
    for (int m = 0; m < 4; m++) {
        u16 pair[2];
        for (int i = 0; i < 2; i++) {
            int row = transposed ? lane % 4 * 2 + i : lane / 4, column = transposed ? lane / 4 : lane % 4 * 2 + i;
            memcpy(&pair[i], emulatedShared + operands[warp][m * 8 + row][0] + column * 2, 2);
        }
        registers[m] = pair[0] | (u32)pair[1] << 16;
    }
    __syncwarp();
}
inline void loadMatrices(u32 (&registers)[4], u32 address) { matrices(registers, address, false); }
inline void loadTransposed(u32 (&registers)[4], u32 address) { matrices(registers, address, true); }
