package roselle.cuda;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import roselle.api.DeviceException;
import roselle.backend.DeviceSensors;
import roselle.cuda.nvml.Nvml;

/** NVIDIA's devices as their management library tells of them; it is loaded when somebody asks first. */
public final class CudaSensors implements DeviceSensors {
    private final Supplier<Nvml> library;
    private @Nullable Nvml opened;

    /** For the service loader. */
    public CudaSensors() {
        this(Nvml::new);
    }

    CudaSensors(Supplier<Nvml> library) {
        this.library = library;
    }

    private synchronized Nvml nvml() {
        Nvml nvml = opened;
        if (nvml == null) {
            nvml = library.get(); // for the life of the process, like the driver
            opened = nvml;
        }
        return nvml;
    }

    @Override
    public Optional<String> unavailable() {
        try {
            return nvml().deviceCount() == 0 ? Optional.of("NVML knows no device") : Optional.empty();
        } catch (DeviceException failure) {
            return Optional.of(String.valueOf(failure.getMessage()));
        }
    }

    @Override
    public List<Reading> read() {
        Nvml nvml = nvml();
        String driver = nvml.driverVersion();
        var readings = new ArrayList<Reading>();
        for (int index = 0; index < nvml.deviceCount(); index++) {
            long device = nvml.device(index);
            Nvml.Memory memory = nvml.memory(device);
            readings.add(new Reading(
                    nvml.deviceName(device),
                    driver,
                    nvml.totalEnergyMillijoules(device),
                    nvml.powerMilliwatts(device),
                    memory.used(),
                    memory.total(),
                    nvml.utilizationPercent(device)));
        }
        return readings;
    }
}
