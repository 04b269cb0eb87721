// Hopper's barriers, bulk copies and clusters as PTX (sm_90); see the PTX ISA, sections on mbarrier and cp.async.bulk.
#pragma once
#include "common/ampere.cuh"

__device__ __forceinline__ void barrierInit(u32 barrier, u32 arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes initialised barriers visible to the copy engine and to the other blocks of the cluster.
__device__ __forceinline__ void barrierInitDone() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void barrierArrive(u32 barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// One arrival, and `bytes` more to come from the copy engine.
__device__ __forceinline__ void barrierExpect(u32 barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrierWait(u32 barrier, u32 parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(barrier),
        "r"(parity)
        : "memory");
}

// How long the L2 cache should keep what is read: fixed encodings of createpolicy.
constexpr u64 READ_ONCE = 0x12F0000000000000ULL;   // evict first
constexpr u64 READ_AGAIN = 0x14F0000000000000ULL;  // evict last

// Copies contiguous bytes from global to shared memory; both addresses and the size are multiples of 16.
__device__ __forceinline__ void bulkCopy(u32 target, const void* source, u32 bytes, u32 barrier, u64 policy) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(
            target),
        "l"(source), "r"(bytes), "r"(barrier), "l"(policy)
        : "memory");
}

// The same, kept as long as anything else.
__device__ __forceinline__ void bulkCopy(u32 target, const void* source, u32 bytes, u32 barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(target),
        "l"(source), "r"(bytes), "r"(barrier)
        : "memory");
}

// How a matrix lies in memory, as the copy engine reads boxes of it: a CUtensorMap.
struct __align__(64) TensorMap {
    u64 words[16];
};

// Copies the box of a matrix that begins at a row and column to shared memory; zeros for what is past the matrix's ends.
__device__ __forceinline__ void tensorCopy(u32 target, const TensorMap* map, int column, int row, u32 barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(target),
        "l"(map), "r"(column), "r"(row), "r"(barrier)
        : "memory");
}

// The same to that place in each block of the cluster whose bit is in `blocks`, whose own barriers are told.
__device__ __forceinline__ void tensorCopyToCluster(
    u32 target, const TensorMap* map, int column, int row, u32 barrier, unsigned short blocks) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(target),
        "l"(map), "r"(column), "r"(row), "r"(barrier), "h"(blocks)
        : "memory");
}

// Copies a box from shared memory to where it begins in a matrix; what is past the matrix's ends stays here.
__device__ __forceinline__ void tensorStore(const TensorMap* map, int column, int row, u32 source) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(column),
        "r"(row), "r"(source)
        : "memory");
}

// The stores that this thread has started are a group.
__device__ __forceinline__ void bulkStoresCommit() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until all groups have been read from shared memory.
__device__ __forceinline__ void bulkStoresRead() {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// Waits until all groups are in memory.
__device__ __forceinline__ void bulkStoresDone() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Four matrices of eight rows of 16 bytes; lane l has the address of row l % 8 of matrix l / 8. A thread has, of each matrix,
// column lane / 4 of the rows lane % 4 * 2 and the next.
__device__ __forceinline__ void loadMatricesTransposed(u32 (&bits)[4], u32 address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3])
        : "r"(address)
        : "memory");
}

__device__ __forceinline__ void storeMatricesTransposed(u32 address, const u32 (&bits)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(bits[0]),
        "r"(bits[1]), "r"(bits[2]), "r"(bits[3])
        : "memory");
}

// Stores what loadMatrices of ampere.cuh would load.
__device__ __forceinline__ void storeMatrices(u32 address, const u32 (&bits)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(bits[0]), "r"(bits[1]),
        "r"(bits[2]), "r"(bits[3])
        : "memory");
}

// Asks for contiguous bytes to come to the L2 cache; address and size are multiples of 16.
__device__ __forceinline__ void bulkPrefetch(const void* source, u32 bytes) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(source), "r"(bytes) : "memory");
}

// One arrival as soon as all copies that this thread started have landed; counted among the barrier's expected ones.
__device__ __forceinline__ void barrierArriveAfterCopies(u32 barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// Orders this thread's ordinary writes to shared memory before reads by the tensor cores and the copy engine.
__device__ __forceinline__ void proxyFence() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// A barrier of `threads` threads of the block; id 0 is __syncthreads().
__device__ __forceinline__ void namedBarrier(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__device__ __forceinline__ void clusterArrive() {
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}

// Arrives at the barrier that block `rank` of the cluster has at the address `local`.
__device__ __forceinline__ void clusterBarrierArrive(u32 local, u32 rank) {
    u32 remote;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(rank));
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
}

__device__ __forceinline__ u32 clusterRank() {
    u32 rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ void clusterWait() {
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

// Four floats of the shared memory of block `rank` of the cluster, at the address that `local` has in this one.
__device__ __forceinline__ float4 clusterLoad(u32 local, u32 rank) {
    u32 remote;
    float4 value;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(rank));
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
        : "r"(remote)
        : "memory");
    return value;
}

// Writes a float to the shared memory of block `rank` of the cluster, at the address that `local` has in this one.
__device__ __forceinline__ void clusterStore(u32 local, u32 rank, float value) {
    u32 remote;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(rank));
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(remote), "f"(value) : "memory");
}

__device__ __forceinline__ float4 localLoad(u32 address) {
    float4 value;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
        : "r"(address)
        : "memory");
    return value;
}

__device__ __forceinline__ uint4 localLoadBits(u32 address) {
    uint4 bits;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
        : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
        : "r"(address)
        : "memory");
    return bits;
}

__device__ __forceinline__ void localStore(u32 address, uint4 bits) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(bits.x), "r"(bits.y), "r"(bits.z), "r"(bits.w)
        : "memory");
}

template <int REGISTERS>
__device__ __forceinline__ void fewerRegisters() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

template <int REGISTERS>
__device__ __forceinline__ void moreRegisters() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

// A matrix operand of wgmma in shared memory: rows of 128 bytes, swizzled in groups of 8 rows (1,024 bytes, aligned).
__device__ __forceinline__ u64 operand(u32 address) {
    return (u64)((address & 0x3FFFF) >> 4) | (1ULL << 16) | (64ULL << 32) | (1ULL << 62);
}

__device__ __forceinline__ void wgmmaBegin() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void wgmmaCommit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int PENDING>
__device__ __forceinline__ void wgmmaWait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}
