package roselle.cuda.nvml;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.OptionalInt;
import java.util.OptionalLong;
import roselle.api.DeviceException;
import roselle.cuda.driver.NativeCall;
import roselle.cuda.driver.NativeLibrary;

/** NVIDIA's management library, {@code libnvidia-ml.so.1}; its device handles are longs. */
@SuppressWarnings("restricted")
public final class Nvml implements AutoCloseable {
    private static final String LIBRARY = "libnvidia-ml.so.1";
    private static final int NOT_SUPPORTED = 3;
    private static final int TEXT_BYTES = 96; // NVML_DEVICE_NAME_V2_BUFFER_SIZE

    private final NativeLibrary library;
    private final MethodHandle errorString;
    private final MethodHandle shutdown;
    private final MethodHandle driverVersion;
    private final MethodHandle deviceCount;
    private final MethodHandle deviceByIndex;
    private final MethodHandle deviceName;
    private final MethodHandle totalEnergy;
    private final MethodHandle powerUsage;
    private final MethodHandle memoryInfo;
    private final MethodHandle utilization;

    /** Bytes of a device's memory. */
    public record Memory(long total, long used) {}

    /**
     * Finds, loads and initialises the library of this machine.
     *
     * @throws DeviceException if it is not there, or finds no driver
     */
    public Nvml() {
        this(NativeLibrary.open(LIBRARY, "it comes with NVIDIA's driver"));
    }

    Nvml(NativeLibrary library) {
        this.library = library;
        errorString = library.function("nvmlErrorString", FunctionDescriptor.of(ADDRESS, JAVA_INT));
        shutdown = bind("nvmlShutdown");
        driverVersion = bind("nvmlSystemGetDriverVersion", ADDRESS, JAVA_INT);
        deviceCount = bind("nvmlDeviceGetCount_v2", ADDRESS);
        deviceByIndex = bind("nvmlDeviceGetHandleByIndex_v2", JAVA_INT, ADDRESS);
        deviceName = bind("nvmlDeviceGetName", JAVA_LONG, ADDRESS, JAVA_INT);
        totalEnergy = bind("nvmlDeviceGetTotalEnergyConsumption", JAVA_LONG, ADDRESS);
        powerUsage = bind("nvmlDeviceGetPowerUsage", JAVA_LONG, ADDRESS);
        memoryInfo = bind("nvmlDeviceGetMemoryInfo", JAVA_LONG, ADDRESS);
        utilization = bind("nvmlDeviceGetUtilizationRates", JAVA_LONG, ADDRESS);
        MethodHandle init = bind("nvmlInit_v2");
        check("nvmlInit", () -> (int) init.invokeExact());
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
            throw new DeviceException("NVML's " + name + " failed with " + error + " (" + describe(error) + ")");
        }
    }

    private String describe(int error) {
        try {
            MemorySegment text = (MemorySegment) errorString.invokeExact(error);
            return text.address() == 0
                    ? "an error without a name"
                    : text.reinterpret(Integer.MAX_VALUE).getString(0);
        } catch (Throwable impossible) {
            throw new AssertionError("a native call threw", impossible);
        }
    }

    private String text(String name, Query query) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(TEXT_BYTES);
            check(name, () -> query.run(text));
            return text.getString(0);
        }
    }

    private long number(String name, Query query) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment result = arena.allocate(JAVA_LONG);
            check(name, () -> query.run(result));
            return result.get(JAVA_LONG, 0);
        }
    }

    /** A number that not every device tells. */
    private OptionalLong numberIfTold(String name, Query query) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment result = arena.allocate(JAVA_LONG);
            int error = NativeCall.errorOf(() -> query.run(result));
            if (error == NOT_SUPPORTED) {
                return OptionalLong.empty();
            }
            require(name, error);
            return OptionalLong.of(result.get(JAVA_LONG, 0));
        }
    }

    /** The driver's version, such as {@code 580.65.06}. */
    public String driverVersion() {
        return text("nvmlSystemGetDriverVersion", text -> (int) driverVersion.invokeExact(text, TEXT_BYTES));
    }

    public int deviceCount() {
        return (int) number("nvmlDeviceGetCount", result -> (int) deviceCount.invokeExact(result));
    }

    public long device(int index) {
        return number("nvmlDeviceGetHandleByIndex", result -> (int) deviceByIndex.invokeExact(index, result));
    }

    public String deviceName(long device) {
        return text("nvmlDeviceGetName", text -> (int) deviceName.invokeExact(device, text, TEXT_BYTES));
    }

    /** Millijoules since the driver was loaded; from Volta on. */
    public OptionalLong totalEnergyMillijoules(long device) {
        return numberIfTold(
                "nvmlDeviceGetTotalEnergyConsumption", result -> (int) totalEnergy.invokeExact(device, result));
    }

    public OptionalLong powerMilliwatts(long device) {
        return numberIfTold("nvmlDeviceGetPowerUsage", result -> (int) powerUsage.invokeExact(device, result));
    }

    public Memory memory(long device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = arena.allocate(JAVA_LONG, 3); // total, free, used
            check("nvmlDeviceGetMemoryInfo", () -> (int) memoryInfo.invokeExact(device, info));
            return new Memory(info.getAtIndex(JAVA_LONG, 0), info.getAtIndex(JAVA_LONG, 2));
        }
    }

    /** Percent of the last sample period in which a kernel ran. */
    public OptionalInt utilizationPercent(long device) {
        OptionalLong rates = numberIfTold( // two unsigned ints: of the multiprocessors, of the memory
                "nvmlDeviceGetUtilizationRates", result -> (int) utilization.invokeExact(device, result));
        return rates.isPresent() ? OptionalInt.of((int) rates.getAsLong()) : OptionalInt.empty();
    }

    /** Ends the use of the library; it stays loaded. */
    @Override
    public void close() {
        check("nvmlShutdown", () -> (int) shutdown.invokeExact());
    }
}
