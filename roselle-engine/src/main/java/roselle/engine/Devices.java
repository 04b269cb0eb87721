package roselle.engine;

import java.util.Locale;
import roselle.api.DeviceException;
import roselle.backend.Backend;
import roselle.cpu.CpuBackend;
import roselle.engine.EngineConfig.DeviceOptions;

/** Opens a device by its name. */
final class Devices {
    private Devices() {}

    static Backend open(DeviceOptions options) {
        return switch (options.name().toLowerCase(Locale.ROOT)) {
            case "auto", "cpu" -> options.threads() == 0 ? new CpuBackend() : new CpuBackend(options.threads());
            default ->
                throw new DeviceException("there is no device " + options.name() + ": this build knows auto and cpu");
        };
    }
}
