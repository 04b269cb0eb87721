package roselle.cuda.driver;

import java.lang.foreign.MemorySegment;

/**
 * The calls of CUDA's driver that the backend makes; names and meanings are the driver's, handles are longs.
 *
 * <p>A call fails with a {@link roselle.api.DeviceException} that names the driver's function and error. An error of a kernel
 * shows at a later call, usually {@link #synchronize}, and stays: every call after it fails too.
 */
public interface Driver {
    /** The newest CUDA version that the driver can run, as {@code 1000 * major + 10 * minor}. */
    int version();

    int deviceCount();

    String deviceName(int device);

    /** A number that the driver tells about a device, by its {@code CUdevice_attribute}. */
    int attribute(DeviceAttribute attribute, int device);

    /** Makes the device's primary context and the calling thread's current one. */
    long retainContext(int device);

    /** Makes a context the calling thread's current one. */
    void makeCurrent(long context);

    void releaseContext(int device);

    /** Memory of the current device in bytes. */
    MemoryInfo memory();

    /** Takes device memory; address 0 where there is not that much. */
    long allocate(long bytes);

    void free(long address);

    /** The multiples in which {@link #back} gives memory; 0 where the device cannot do so. */
    long backingUnit(int device);

    /** Takes addresses that have no memory yet, in whole units. */
    long reserve(long bytes);

    void unreserve(long address, long bytes);

    /** Gives reserved addresses memory of a device, in whole units; returns false where there is not that much. */
    boolean back(long address, long bytes, int device);

    /** Takes the memory of one piece away again that {@link #back} gave; the addresses stay. */
    void unback(long address, long bytes);

    /** Host memory that the device can reach and that does not move. */
    MemorySegment allocatePinned(long bytes);

    void freePinned(MemorySegment memory);

    /** Sets bytes to zero, in the order of the stream. */
    void clear(long address, long bytes, long stream);

    /** Host to device in the order of the stream; the source must stay as it is until then. */
    void copyIn(long target, MemorySegment source, long bytes, long stream);

    /** Device to host in the order of the stream. */
    void copyOut(MemorySegment target, long source, long bytes, long stream);

    /** A stream whose kernels wait for those of others on the device, or one whose kernels go before. */
    long createStream(boolean goesFirst);

    void destroyStream(long stream);

    /** Waits for all that the stream was given. */
    void synchronize(long stream);

    long createEvent();

    void destroyEvent(long event);

    void recordEvent(long event, long stream);

    /** Waits until what the stream was given before the event was recorded is done. */
    void awaitEvent(long event);

    /** Milliseconds between two events that have passed. */
    float elapsedMillis(long start, long end);

    long loadModule(byte[] cubin);

    void unloadModule(long module);

    long function(long module, String name);

    /** Lets a kernel have more dynamic shared memory than the 48 KiB that need no permission. */
    void allowSharedMemory(long function, int bytes);

    /**
     * Launches a kernel.
     *
     * @param config a {@code CUlaunchConfig}
     * @param parameters an array of addresses, one for each parameter
     */
    void launch(MemorySegment config, long function, MemorySegment parameters);

    /**
     * Describes a matrix to the copy engine of processors from Hopper on, which then brings boxes of it into shared memory,
     * with zeros past the matrix's ends, or stores them: swizzled by the 128 or 64 bytes of a box's row.
     *
     * @param map a {@code CUtensorMap}: 128 bytes, aligned to 64
     * @param boxRows up to 256
     * @param boxColumns 64 or 32
     */
    void encodeTensorMap(MemorySegment map, Matrix matrix, int boxRows, int boxColumns);

    /** Records what the stream is given from now on instead of running it. */
    void beginCapture(long stream);

    /** Ends the recording and makes it a graph that can be launched. */
    long endCapture(long stream);

    /** Ends a recording that came to nothing, and says no word of it. */
    void abandonCapture(long stream);

    void launchGraph(long graph, long stream);

    /** Gives a graph back, after its last replay if that is still under way. */
    void destroyGraph(long graph);
}
