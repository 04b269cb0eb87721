package roselle.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** What kernels of a fake device reach: its memory, and the host's that is pinned. */
final class FakeReach {
    private final FakeMemory memory;
    private final FakePinned pinned;
    private int received;
    private int taken;

    FakeReach(FakeMemory memory, FakePinned pinned) {
        this.memory = memory;
        this.pinned = pinned;
    }

    void read(long address, MemorySegment target) {
        MemorySegment host = pinned.at(address, target.byteSize());
        if (host == null) {
            memory.requireLive("what a kernel reads", address, target.byteSize());
            memory.read(address, target);
        } else {
            target.copyFrom(host);
        }
    }

    void write(long address, MemorySegment source) {
        MemorySegment host = pinned.at(address, source.byteSize());
        if (host == null) {
            memory.requireLive("what a kernel writes", address, source.byteSize());
            memory.write(address, source);
        } else {
            host.copyFrom(source);
        }
    }

    void writeInt(long address, int number) {
        write(address, MemorySegment.ofArray(new int[] {number}));
    }

    int[] readInts(long address, int count) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment numbers = arena.allocate(JAVA_INT, count);
            read(address, numbers);
            return numbers.toArray(JAVA_INT);
        }
    }

    /** Brings what the host wrote, and tokens that were sampled into it, as {@code sample.cu} does. */
    void receive(FakeKernels.Launch launch) {
        received++;
        int[] numbers = readInts(launch.value("host"), (int) launch.value("words"));
        for (int row = 0; row < (int) launch.value("rows"); row++) {
            int sampled = numbers[(int) launch.value("sampledAt") + row];
            if (sampled >= 0) {
                numbers[row] = readInts(launch.value("tokens") + (long) Integer.BYTES * sampled, 1)[0];
                taken++;
            }
        }
        write(launch.value("target"), MemorySegment.ofArray(numbers));
    }

    /** How often. */
    int received() {
        return received;
    }

    /** Rows that took the token that the step before sampled. */
    int taken() {
        return taken;
    }
}
