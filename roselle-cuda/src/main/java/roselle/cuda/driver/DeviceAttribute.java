package roselle.cuda.driver;

/** What a device can tell about itself, with the driver's {@code CUdevice_attribute} numbers. */
public enum DeviceAttribute {
    MULTIPROCESSORS(16),
    COMPUTE_CAPABILITY_MAJOR(75),
    COMPUTE_CAPABILITY_MINOR(76),
    /** Bytes of shared memory that one block can be allowed. */
    SHARED_MEMORY_PER_BLOCK(97),
    /** 1 where addresses can be reserved and given memory later. */
    VIRTUAL_MEMORY(102);

    private final int number;

    DeviceAttribute(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }
}
