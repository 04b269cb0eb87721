package roselle.cuda.kernel;

import roselle.cuda.memory.Gpu;

/** A kernel of a loaded module, and how much dynamic shared memory it has been allowed. */
public final class Kernel {
    /** Of dynamic shared memory: the limit is 48 KiB together with what kernels declare, which is little. */
    private static final int NEEDS_NO_PERMISSION = 47 << 10;

    private final String name;
    private final long function;
    private int allowed = NEEDS_NO_PERMISSION;

    Kernel(String name, long function) {
        this.name = name;
        this.function = function;
    }

    String name() {
        return name;
    }

    long function() {
        return function;
    }

    void allow(Gpu device, int sharedBytes) {
        if (sharedBytes > allowed) {
            device.driver().allowSharedMemory(function, sharedBytes);
            allowed = sharedBytes;
        }
    }
}
