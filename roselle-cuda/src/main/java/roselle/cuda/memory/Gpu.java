package roselle.cuda.memory;

import java.util.Optional;
import roselle.api.DeviceException;
import roselle.cuda.driver.DeviceAttribute;
import roselle.cuda.driver.Driver;

/** One GPU with its context, the stream that all work goes through, and the memory taken of it. */
public final class Gpu {
    private static final System.Logger LOG = System.getLogger(Gpu.class.getName());

    /** The first driver with the launch attributes that kernels are started with. */
    private static final int OLDEST_DRIVER = 12_000;
    /** The first architecture with the instructions that kernels use. */
    private static final int OLDEST_CAPABILITY = 80;

    private final Driver driver;
    private final int index;
    private final String name;
    private final int capability;
    private final String architecture;
    private final int multiprocessors;
    private final int sharedMemory;
    private final long context;
    private final long contextNanos;
    private final long stream;
    private final DeviceMemory memory;
    private final HostMemory host;
    private long currentThread;

    /**
     * Opens a device.
     *
     * @param goesFirst whether kernels go before those of processes and models for which it is not so
     * @throws DeviceException if there is none of that number, or it or its driver is too old
     */
    public Gpu(Driver driver, int index, boolean goesFirst) {
        this.driver = driver;
        this.index = index;
        int count = driver.deviceCount();
        if (index < 0 || index >= count) {
            throw new DeviceException("there is no device cuda:" + index + ": the driver shows " + count
                    + (count == 1 ? " device" : " devices")
                    + ", counted from 0; where CUDA_VISIBLE_DEVICES is set, it chooses which");
        }
        unfit(driver, index).ifPresent(reason -> {
            throw new DeviceException(reason);
        });
        name = driver.deviceName(index);
        capability = capability(driver, index);
        architecture = architecture(driver, index);
        multiprocessors = driver.attribute(DeviceAttribute.MULTIPROCESSORS, index);
        sharedMemory = driver.attribute(DeviceAttribute.SHARED_MEMORY_PER_BLOCK, index);
        long begin = System.nanoTime();
        context = driver.retainContext(index);
        contextNanos = System.nanoTime() - begin;
        currentThread = Thread.currentThread().threadId();
        stream = createStream(goesFirst);
        memory = memoryOf(driver, index);
        host = new HostMemory(driver);
    }

    /** Why a device cannot be used, as a sentence; empty where it can. */
    public static Optional<String> unfit(Driver driver, int index) {
        int version = driver.version();
        if (version < OLDEST_DRIVER) {
            return Optional.of("the driver of " + driver.deviceName(index) + " runs CUDA " + version / 1000 + "."
                    + version % 1000 / 10 + " at most: Roselle needs a driver for CUDA 12.0 or newer (525)");
        }
        int capability = capability(driver, index);
        if (capability < OLDEST_CAPABILITY) {
            return Optional.of(driver.deviceName(index) + " has compute capability " + capability / 10 + "."
                    + capability % 10 + ": Roselle needs 8.0 or newer (Ampere)");
        }
        return Optional.empty();
    }

    private static int capability(Driver driver, int index) {
        return 10 * driver.attribute(DeviceAttribute.COMPUTE_CAPABILITY_MAJOR, index)
                + driver.attribute(DeviceAttribute.COMPUTE_CAPABILITY_MINOR, index);
    }

    /** The architecture that kernels are compiled for; instructions of Hopper and Blackwell alone need the {@code a}. */
    public static String architecture(Driver driver, int index) {
        int capability = capability(driver, index);
        return "sm_" + capability + (capability == 90 || capability == 100 ? "a" : "");
    }

    private DeviceMemory memoryOf(Driver of, int number) {
        try {
            return new DeviceMemory(of, number);
        } catch (Throwable failure) {
            new Cleanup().then(() -> of.destroyStream(stream)).then(() -> of.releaseContext(number));
            throw failure;
        }
    }

    private long createStream(boolean goesFirst) {
        try {
            return driver.createStream(goesFirst);
        } catch (Throwable failure) {
            driver.releaseContext(index);
            throw failure;
        }
    }

    public Driver driver() {
        return driver;
    }

    public int index() {
        return index;
    }

    /** What the driver calls it. */
    public String name() {
        return name;
    }

    public int multiprocessors() {
        return multiprocessors;
    }

    /** Bytes of shared memory that a block can be allowed. */
    public int sharedMemory() {
        return sharedMemory;
    }

    /** The architecture that kernels are compiled for. */
    public String architecture() {
        return architecture;
    }

    public boolean isHopper() {
        return capability == 90;
    }

    /** How long its context took. */
    public long contextNanos() {
        return contextNanos;
    }

    public long stream() {
        return stream;
    }

    public DeviceMemory memory() {
        return memory;
    }

    public HostMemory host() {
        return host;
    }

    /** Makes the context the calling thread's, which the driver wants before any call that works on the device. */
    public void enter() {
        long thread = Thread.currentThread().threadId();
        if (currentThread != thread) {
            driver.makeCurrent(context);
            currentThread = thread;
        }
    }

    /**
     * Waits for the stream and gives up what device memory can be had again, {@link #takeBack}.
     *
     * @throws roselle.api.CapacityException if the host has no memory for what it holds; nothing has been given up then
     */
    public void giveUp() {
        synchronize();
        memory.giveUp(stream);
    }

    /**
     * Has all memory again that was given up; the stream's later work finds in it what it held.
     *
     * @throws roselle.api.CapacityException if the device has not that much
     */
    public void takeBack() {
        memory.takeBack(stream);
    }

    public void synchronize() {
        driver.synchronize(stream);
    }

    /**
     * Gives all back, after the steps of the device's users.
     *
     * <p>Where a kernel has failed, every step fails; the end of the context then gives back what they did not, so that a
     * failed step is worth a line in the log and nothing more.
     */
    public void close(Cleanup steps) {
        steps.then(this::synchronize); // nothing uses what goes now
        host.close(steps);
        steps.then(memory::close).then(() -> driver.destroyStream(stream));
        driver.releaseContext(index);
        try {
            steps.finish();
        } catch (DeviceException failure) {
            LOG.log(System.Logger.Level.WARNING, "event=device-not-left-clean reason=\"{0}\"", failure.getMessage());
        }
    }
}
