package roselle.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import roselle.api.DeviceException;

/** The driver of this machine, {@code libcuda.so.1}. */
@SuppressWarnings("restricted")
public final class NativeDriver implements Driver {
    private static final String LIBRARY = "libcuda.so.1";
    private static final int OUT_OF_MEMORY = 2;
    private static final int MAX_DYNAMIC_SHARED_SIZE_BYTES = 8; // CU_FUNC_ATTRIBUTE
    private static final int NON_BLOCKING = 1; // CU_STREAM
    private static final int FIRST = -16; // a stream's priority; the driver makes the highest of it that there is
    private static final int RELAXED = 2; // CU_STREAM_CAPTURE_MODE
    private static final int NAME_BYTES = 256;
    private static final int MEMORY_PROPERTIES_BYTES = 32;
    private static final int PINNED_MEMORY = 1; // CU_MEM_ALLOCATION_TYPE
    private static final int ON_DEVICE = 1; // CU_MEM_LOCATION_TYPE
    private static final int READ_AND_WRITE = 3; // CU_MEM_ACCESS_FLAGS_PROT
    private static final int MAP_UINT16 = 1; // CU_TENSOR_MAP_DATA_TYPE
    private static final int MAP_SWIZZLE_64B = 2;
    private static final int MAP_SWIZZLE_128B = 3;
    private static final int MAP_L2_PROMOTION_256B = 3;

    private final NativeLibrary library =
            NativeLibrary.open(LIBRARY, "it comes with NVIDIA's driver; install the driver, or use --device cpu");
    private final MethodHandle errorName = bind("cuGetErrorName", JAVA_INT, ADDRESS);
    private final MethodHandle errorString = bind("cuGetErrorString", JAVA_INT, ADDRESS);
    private final MethodHandle driverVersion = bind("cuDriverGetVersion", ADDRESS);
    private final MethodHandle deviceCount = bind("cuDeviceGetCount", ADDRESS);
    private final MethodHandle deviceName = bind("cuDeviceGetName", ADDRESS, JAVA_INT, JAVA_INT);
    private final MethodHandle attribute = bind("cuDeviceGetAttribute", ADDRESS, JAVA_INT, JAVA_INT);
    private final MethodHandle retain = bind("cuDevicePrimaryCtxRetain", ADDRESS, JAVA_INT);
    private final MethodHandle release = bind("cuDevicePrimaryCtxRelease_v2", JAVA_INT);
    private final MethodHandle setCurrent = bind("cuCtxSetCurrent", JAVA_LONG);
    private final MethodHandle memoryInfo = bind("cuMemGetInfo_v2", ADDRESS, ADDRESS);
    private final MethodHandle allocate = bind("cuMemAlloc_v2", ADDRESS, JAVA_LONG);
    private final MethodHandle free = bind("cuMemFree_v2", JAVA_LONG);
    private final MethodHandle granularity = bind("cuMemGetAllocationGranularity", ADDRESS, ADDRESS, JAVA_INT);
    private final MethodHandle reserve =
            bind("cuMemAddressReserve", ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private final MethodHandle unreserve = bind("cuMemAddressFree", JAVA_LONG, JAVA_LONG);
    private final MethodHandle createMemory = bind("cuMemCreate", ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);
    private final MethodHandle releaseMemory = bind("cuMemRelease", JAVA_LONG);
    private final MethodHandle map = bind("cuMemMap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private final MethodHandle unmap = bind("cuMemUnmap", JAVA_LONG, JAVA_LONG);
    private final MethodHandle setAccess = bind("cuMemSetAccess", JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);
    private final MethodHandle allocatePinned = bind("cuMemHostAlloc", ADDRESS, JAVA_LONG, JAVA_INT);
    private final MethodHandle freePinned = bind("cuMemFreeHost", ADDRESS);
    private final MethodHandle register = bind("cuMemHostRegister_v2", ADDRESS, JAVA_LONG, JAVA_INT);
    private final MethodHandle unregister = bind("cuMemHostUnregister", ADDRESS);
    private final MethodHandle clear = bind("cuMemsetD8Async", JAVA_LONG, JAVA_BYTE, JAVA_LONG, JAVA_LONG);
    private final MethodHandle copyIn = bind("cuMemcpyHtoDAsync_v2", JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG);
    private final MethodHandle copyOut = bind("cuMemcpyDtoHAsync_v2", ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private final MethodHandle createStream = bind("cuStreamCreateWithPriority", ADDRESS, JAVA_INT, JAVA_INT);
    private final MethodHandle destroyStream = bind("cuStreamDestroy_v2", JAVA_LONG);
    private final MethodHandle synchronize = bind("cuStreamSynchronize", JAVA_LONG);
    private final MethodHandle createEvent = bind("cuEventCreate", ADDRESS, JAVA_INT);
    private final MethodHandle destroyEvent = bind("cuEventDestroy_v2", JAVA_LONG);
    private final MethodHandle recordEvent = bind("cuEventRecord", JAVA_LONG, JAVA_LONG);
    private final MethodHandle awaitEvent = bind("cuEventSynchronize", JAVA_LONG);
    private final MethodHandle elapsed = bind("cuEventElapsedTime", ADDRESS, JAVA_LONG, JAVA_LONG);
    private final MethodHandle loadModule = bind("cuModuleLoadData", ADDRESS, ADDRESS);
    private final MethodHandle unloadModule = bind("cuModuleUnload", JAVA_LONG);
    private final MethodHandle function = bind("cuModuleGetFunction", ADDRESS, JAVA_LONG, ADDRESS);
    private final MethodHandle setAttribute = bind("cuFuncSetAttribute", JAVA_LONG, JAVA_INT, JAVA_INT);
    private final MethodHandle launch = bind("cuLaunchKernelEx", ADDRESS, JAVA_LONG, ADDRESS, ADDRESS);
    private final MethodHandle encodeTiled = bind(
            "cuTensorMapEncodeTiled",
            ADDRESS,
            JAVA_INT,
            JAVA_INT,
            JAVA_LONG,
            ADDRESS,
            ADDRESS,
            ADDRESS,
            ADDRESS,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT);
    private final MethodHandle beginCapture = bind("cuStreamBeginCapture_v2", JAVA_LONG, JAVA_INT);
    private final MethodHandle endCapture = bind("cuStreamEndCapture", JAVA_LONG, ADDRESS);
    private final MethodHandle instantiate = bind("cuGraphInstantiateWithFlags", ADDRESS, JAVA_LONG, JAVA_LONG);
    private final MethodHandle destroyTemplate = bind("cuGraphDestroy", JAVA_LONG);
    private final MethodHandle destroyGraph = bind("cuGraphExecDestroy", JAVA_LONG);
    private final MethodHandle launchGraph = bind("cuGraphLaunch", JAVA_LONG, JAVA_LONG);

    /** What {@code cuInit} says where there is no device, and in place of a driver. */
    private static final Set<Integer> NO_DEVICE = Set.of(100, 34);

    private final boolean hasDevices;
    private final Map<Long, HostPages> registered = new ConcurrentHashMap<>(); // by address

    /**
     * Opens the driver.
     *
     * @throws DeviceException if there is no driver, or it does not start
     */
    public NativeDriver() {
        MethodHandle init = bind("cuInit", JAVA_INT);
        int error = NativeCall.errorOf(() -> (int) init.invokeExact(0));
        hasDevices = !NO_DEVICE.contains(error);
        if (error != 0 && hasDevices) {
            throw new DeviceException("NVIDIA's driver does not start, cuInit failed with " + describe(error)
                    + ": see what nvidia-smi says; a driver that was updated needs the machine to be started anew");
        }
    }

    private MethodHandle bind(String name, MemoryLayout... parameters) {
        return library.function(name, FunctionDescriptor.of(JAVA_INT, parameters));
    }

    /** A call that leaves its result where it is told. */
    @FunctionalInterface
    private interface Query {
        int run(MemorySegment result) throws Throwable;
    }

    private void check(String name, NativeCall call) {
        require(name, NativeCall.errorOf(call));
    }

    private void require(String name, int error) {
        if (error != 0) {
            throw new DeviceException("CUDA's " + name + " failed with " + describe(error));
        }
    }

    private String describe(int error) {
        return text(errorName, error) + " (" + error + ", " + text(errorString, error) + ")";
    }

    private static String text(MethodHandle handle, int error) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(ADDRESS);
            int unknown = NativeCall.errorOf(() -> (int) handle.invokeExact(error, pointer));
            MemorySegment text = pointer.get(ADDRESS, 0);
            return unknown != 0 || text.address() == 0
                    ? "an error without a name"
                    : text.reinterpret(NAME_BYTES).getString(0);
        }
    }

    private long ask(String name, Query query) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment result = arena.allocate(JAVA_LONG);
            check(name, () -> query.run(result));
            return result.get(JAVA_LONG, 0);
        }
    }

    @Override
    public int version() {
        return (int) ask("cuDriverGetVersion", result -> (int) driverVersion.invokeExact(result));
    }

    @Override
    public int deviceCount() {
        return hasDevices ? (int) ask("cuDeviceGetCount", result -> (int) deviceCount.invokeExact(result)) : 0;
    }

    @Override
    public String deviceName(int device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(NAME_BYTES);
            check("cuDeviceGetName", () -> (int) deviceName.invokeExact(name, NAME_BYTES, device));
            return name.getString(0);
        }
    }

    @Override
    public int attribute(DeviceAttribute which, int device) {
        return (int) ask("cuDeviceGetAttribute", result -> (int) attribute.invokeExact(result, which.number(), device));
    }

    @Override
    public long retainContext(int device) {
        long context = ask("cuDevicePrimaryCtxRetain", result -> (int) retain.invokeExact(result, device));
        makeCurrent(context);
        return context;
    }

    @Override
    public void makeCurrent(long context) {
        check("cuCtxSetCurrent", () -> (int) setCurrent.invokeExact(context));
    }

    @Override
    public void releaseContext(int device) {
        check("cuDevicePrimaryCtxRelease", () -> (int) release.invokeExact(device));
    }

    @Override
    public MemoryInfo memory() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment free = arena.allocate(JAVA_LONG);
            MemorySegment total = arena.allocate(JAVA_LONG);
            check("cuMemGetInfo", () -> (int) memoryInfo.invokeExact(free, total));
            return new MemoryInfo(free.get(JAVA_LONG, 0), total.get(JAVA_LONG, 0));
        }
    }

    @Override
    public long allocate(long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(JAVA_LONG);
            int error = NativeCall.errorOf(() -> (int) allocate.invokeExact(address, bytes));
            if (error == OUT_OF_MEMORY) {
                return 0;
            }
            require("cuMemAlloc", error);
            return address.get(JAVA_LONG, 0);
        }
    }

    @Override
    public void free(long address) {
        check("cuMemFree", () -> (int) free.invokeExact(address));
    }

    @Override
    public long backingUnit(int device) {
        if (attribute(DeviceAttribute.VIRTUAL_MEMORY, device) == 0) {
            return 0;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment properties = memoryProperties(arena, device);
            return ask("cuMemGetAllocationGranularity", result -> (int) granularity.invokeExact(result, properties, 0));
        }
    }

    /** A {@code CUmemAllocationProp}: memory that does not move, of a device. */
    private static MemorySegment memoryProperties(Arena arena, int device) {
        MemorySegment properties = arena.allocate(MEMORY_PROPERTIES_BYTES, Long.BYTES);
        properties.setAtIndex(JAVA_INT, 0, PINNED_MEMORY);
        properties.setAtIndex(JAVA_INT, 2, ON_DEVICE);
        properties.setAtIndex(JAVA_INT, 3, device);
        return properties;
    }

    @Override
    public long reserve(long bytes) {
        return ask("cuMemAddressReserve", result -> (int) reserve.invokeExact(result, bytes, 0L, 0L, 0L));
    }

    @Override
    public void unreserve(long address, long bytes) {
        check("cuMemAddressFree", () -> (int) unreserve.invokeExact(address, bytes));
    }

    @Override
    public boolean back(long address, long bytes, int device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = arena.allocate(JAVA_LONG);
            MemorySegment properties = memoryProperties(arena, device);
            int error = NativeCall.errorOf(() -> (int) createMemory.invokeExact(handle, bytes, properties, 0L));
            if (error == OUT_OF_MEMORY) {
                return false;
            }
            require("cuMemCreate", error);
            long memory = handle.get(JAVA_LONG, 0);
            try {
                check("cuMemMap", () -> (int) map.invokeExact(address, bytes, 0L, memory, 0L));
            } finally { // it lives as long as it is mapped
                check("cuMemRelease", () -> (int) releaseMemory.invokeExact(memory));
            }
            MemorySegment access = arena.allocate(JAVA_INT, 3); // a CUmemAccessDesc
            access.setAtIndex(JAVA_INT, 0, ON_DEVICE);
            access.setAtIndex(JAVA_INT, 1, device);
            access.setAtIndex(JAVA_INT, 2, READ_AND_WRITE);
            try {
                check("cuMemSetAccess", () -> (int) setAccess.invokeExact(address, bytes, access, 1L));
            } catch (DeviceException failure) {
                unback(address, bytes);
                throw failure;
            }
            return true;
        }
    }

    @Override
    public void unback(long address, long bytes) {
        check("cuMemUnmap", () -> (int) unmap.invokeExact(address, bytes));
    }

    @Override
    public MemorySegment allocatePinned(long bytes) {
        return bytes < HostPages.LEAST_BYTES
                ? allocateHost(bytes)
                : HostPages.allocate(bytes).flatMap(this::pin).orElseGet(() -> allocateHost(bytes));
    }

    /** Has pages stay where they are; nothing where the driver cannot, and they are given back. */
    private Optional<MemorySegment> pin(HostPages pages) {
        MemorySegment memory = pages.memory();
        if (NativeCall.errorOf(() -> (int) register.invokeExact(memory, memory.byteSize(), 0)) != 0) {
            pages.close();
            return Optional.empty();
        }
        registered.put(memory.address(), pages);
        return Optional.of(memory);
    }

    private MemorySegment allocateHost(long bytes) {
        long address = ask("cuMemHostAlloc", result -> (int) allocatePinned.invokeExact(result, Math.max(1, bytes), 0));
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    @Override
    public void freePinned(MemorySegment memory) {
        HostPages pages = registered.remove(memory.address());
        if (pages == null) {
            check("cuMemFreeHost", () -> (int) freePinned.invokeExact(memory));
        } else {
            try (pages) {
                check("cuMemHostUnregister", () -> (int) unregister.invokeExact(memory));
            }
        }
    }

    @Override
    public void clear(long address, long bytes, long stream) {
        check("cuMemsetD8Async", () -> (int) clear.invokeExact(address, (byte) 0, bytes, stream));
    }

    @Override
    public void copyIn(long target, MemorySegment source, long bytes, long stream) {
        check("cuMemcpyHtoDAsync", () -> (int) copyIn.invokeExact(target, source, bytes, stream));
    }

    @Override
    public void copyOut(MemorySegment target, long source, long bytes, long stream) {
        check("cuMemcpyDtoHAsync", () -> (int) copyOut.invokeExact(target, source, bytes, stream));
    }

    @Override
    public long createStream(boolean goesFirst) {
        int priority = goesFirst ? FIRST : 0;
        return ask(
                "cuStreamCreateWithPriority", result -> (int) createStream.invokeExact(result, NON_BLOCKING, priority));
    }

    @Override
    public void destroyStream(long stream) {
        check("cuStreamDestroy", () -> (int) destroyStream.invokeExact(stream));
    }

    @Override
    public void synchronize(long stream) {
        check("cuStreamSynchronize", () -> (int) synchronize.invokeExact(stream));
    }

    @Override
    public long createEvent() {
        return ask("cuEventCreate", result -> (int) createEvent.invokeExact(result, 0));
    }

    @Override
    public void destroyEvent(long event) {
        check("cuEventDestroy", () -> (int) destroyEvent.invokeExact(event));
    }

    @Override
    public void recordEvent(long event, long stream) {
        check("cuEventRecord", () -> (int) recordEvent.invokeExact(event, stream));
    }

    @Override
    public void awaitEvent(long event) {
        check("cuEventSynchronize", () -> (int) awaitEvent.invokeExact(event));
    }

    @Override
    public float elapsedMillis(long start, long end) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment millis = arena.allocate(JAVA_FLOAT);
            check("cuEventElapsedTime", () -> (int) elapsed.invokeExact(millis, start, end));
            return millis.get(JAVA_FLOAT, 0);
        }
    }

    @Override
    public long loadModule(byte[] cubin) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment image = arena.allocateFrom(JAVA_BYTE, cubin);
            return ask("cuModuleLoadData", result -> (int) loadModule.invokeExact(result, image));
        }
    }

    @Override
    public void unloadModule(long module) {
        check("cuModuleUnload", () -> (int) unloadModule.invokeExact(module));
    }

    @Override
    public long function(long module, String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(name);
            return ask("cuModuleGetFunction(" + name + ")", result -> (int) function.invokeExact(result, module, text));
        }
    }

    @Override
    public void allowSharedMemory(long kernel, int bytes) {
        check("cuFuncSetAttribute", () -> (int) setAttribute.invokeExact(kernel, MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes));
    }

    @Override
    public void launch(MemorySegment config, long kernel, MemorySegment parameters) {
        int error;
        try {
            error = (int) launch.invokeExact(config, kernel, parameters, MemorySegment.NULL);
        } catch (Throwable impossible) {
            throw new AssertionError("a native call threw", impossible);
        }
        require("cuLaunchKernelEx", error);
    }

    @Override
    public void encodeTensorMap(MemorySegment map, Matrix matrix, int boxRows, int boxColumns) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment sizes = arena.allocateFrom(JAVA_LONG, matrix.columns(), matrix.rows());
            MemorySegment strides = arena.allocateFrom(JAVA_LONG, matrix.rowBytes());
            MemorySegment box = arena.allocateFrom(JAVA_INT, boxColumns, boxRows);
            MemorySegment steps = arena.allocateFrom(JAVA_INT, 1, 1);
            check("cuTensorMapEncodeTiled", () -> (int) encodeTiled.invokeExact(
                    map,
                    MAP_UINT16,
                    2,
                    matrix.address(),
                    sizes,
                    strides,
                    box,
                    steps,
                    0,
                    boxColumns == 32 ? MAP_SWIZZLE_64B : MAP_SWIZZLE_128B,
                    MAP_L2_PROMOTION_256B,
                    0));
        }
    }

    @Override
    public void beginCapture(long stream) {
        check("cuStreamBeginCapture", () -> (int) beginCapture.invokeExact(stream, RELAXED));
    }

    @Override
    public long endCapture(long stream) {
        long template = ask("cuStreamEndCapture", result -> (int) endCapture.invokeExact(stream, result));
        try {
            return ask("cuGraphInstantiate", result -> (int) instantiate.invokeExact(result, template, 0L));
        } finally {
            check("cuGraphDestroy", () -> (int) destroyTemplate.invokeExact(template));
        }
    }

    @Override
    public void abandonCapture(long stream) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment template = arena.allocate(JAVA_LONG);
            int error = NativeCall.errorOf(() -> (int) endCapture.invokeExact(stream, template));
            long recorded = template.get(JAVA_LONG, 0);
            if (error == 0 && recorded != 0) {
                check("cuGraphDestroy", () -> (int) destroyTemplate.invokeExact(recorded));
            }
        }
    }

    @Override
    public void launchGraph(long graph, long stream) {
        check("cuGraphLaunch", () -> (int) launchGraph.invokeExact(graph, stream));
    }

    @Override
    public void destroyGraph(long graph) {
        check("cuGraphExecDestroy", () -> (int) destroyGraph.invokeExact(graph));
    }
}
