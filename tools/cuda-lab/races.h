// What emulator.h tells races.cpp of the thread that runs.
#pragma once
#include <cstddef>
#include <cstdint>

struct EmulatedAccess {
    unsigned launch = 0, block = 0, thread = 0;
    unsigned blockBarriers = 0, warpBarriers = 0;  // that this thread has passed
    bool isAtomic = false;

    unsigned warp() const { return thread / 32; }
};

enum class EmulatedMemory { OWN, SHARED, STATIC_SHARED, GLOBAL };

/** Whose memory it is: OWN is the emulator's, or of the fiber's own stack. */
EmulatedMemory emulatedMemory(const void* address);
EmulatedAccess emulatedAccess();
/** How many races there were since the library was loaded. */
extern "C" unsigned emulatedRaces();
