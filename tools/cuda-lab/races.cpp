// Races of kernels that emulator.h runs, in shared memory as compute-sanitizer's racecheck finds them on a GPU, and in global memory.
//
// The kernels are compiled with -fsanitize=thread; its calls before each access end here instead of in its own library. Two threads
// of a block race for a byte if one of them writes it, not both atomically, and no barrier of the block lies between them, nor one
// of their warp. Two blocks race if both write a byte, since nothing orders them.
#include "races.h"

#include <array>
#include <cstdio>
#include <unordered_map>

namespace {
/** The last write of a byte, and reads since: the last one, one beside it of its warp, one beside it of another. */
struct Byte {
    EmulatedAccess write;
    std::array<EmulatedAccess, 3> reads;
};

constexpr unsigned REPORTS = 20;
std::unordered_map<uintptr_t, Byte> bytes;  // of one launch
unsigned launch = 0, races = 0;

/** Of one block, of two threads, and with no barrier between the two. */
bool areBeside(const EmulatedAccess& first, const EmulatedAccess& second) {
    if (first.launch != second.launch || first.block != second.block || first.thread == second.thread) {
        return false;
    }
    bool isWarp = first.warp() == second.warp();
    return first.blockBarriers == second.blockBarriers && !(isWarp && first.warpBarriers != second.warpBarriers);
}

void report(const char* what, EmulatedMemory memory, uintptr_t address, const EmulatedAccess& first, const EmulatedAccess& second) {
    if (first.isAtomic && second.isAtomic) {
        return;
    }
    if (races++ < REPORTS) {
        fprintf(stderr, "RACE, %s: %s memory at %#zx, blocks %u and %u, threads %u and %u\n", what,
                memory == EmulatedMemory::GLOBAL ? "global" : "shared", (size_t)address, first.block, second.block, first.thread,
                second.thread);
    }
}

void read(Byte& byte, const EmulatedAccess& access, EmulatedMemory memory, uintptr_t address) {
    if (areBeside(byte.write, access)) {
        report("a read after a write", memory, address, byte.write, access);
    }
    auto& [last, ofWarp, ofOther] = byte.reads;
    if (areBeside(last, access)) {
        (last.warp() == access.warp() ? ofWarp : ofOther) = last;
    }
    last = access;
}

void write(Byte& byte, const EmulatedAccess& access, EmulatedMemory memory, uintptr_t address) {
    if (areBeside(byte.write, access)) {
        report("two writes", memory, address, byte.write, access);
    }
    for (const EmulatedAccess& before : byte.reads) {
        if (areBeside(before, access)) {
            report("a write after a read", memory, address, before, access);
        }
    }
    bool isOfTwoBlocks = byte.write.launch == access.launch && byte.write.block != access.block;
    if (isOfTwoBlocks && memory == EmulatedMemory::GLOBAL) {
        report("writes of two blocks", memory, address, byte.write, access);
    }
    byte.write = access;
}

void see(const void* pointer, size_t size, decltype(&read) access) {
    EmulatedMemory memory = emulatedMemory(pointer);
    if (memory == EmulatedMemory::OWN) {
        return;
    }
    EmulatedAccess now = emulatedAccess();
    if (launch != now.launch) {
        bytes.clear();
        launch = now.launch;
    }
    for (uintptr_t address = (uintptr_t)pointer; address < (uintptr_t)pointer + size; address++) {
        access(bytes[address], now, memory, address);
    }
}
}  // namespace

extern "C" {
unsigned emulatedRaces() { return races; }

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_read_range(void* address, size_t size) { see(address, size, read); }
void __tsan_write_range(void* address, size_t size) { see(address, size, write); }

#define ACCESSES(size)                                                               \
    void __tsan_read##size(void* address) { see(address, size, read); }              \
    void __tsan_write##size(void* address) { see(address, size, write); }            \
    void __tsan_unaligned_read##size(void* address) { see(address, size, read); }    \
    void __tsan_unaligned_write##size(void* address) { see(address, size, write); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
}
