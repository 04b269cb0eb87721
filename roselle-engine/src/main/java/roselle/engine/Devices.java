package roselle.engine;

import java.util.Locale;
import roselle.api.DeviceException;
import roselle.backend.Backend;
import roselle.cpu.CpuBackend;
import roselle.cpu.CpuOptions;
import roselle.cpu.CpuPath;
import roselle.cpu.Precision;
import roselle.engine.EngineConfig.DeviceOptions;

/** Opens a device by its name. */
final class Devices {
    private Devices() {}

    static Backend open(DeviceOptions options) {
        return switch (options.name().toLowerCase(Locale.ROOT)) {
            case "auto", "cpu" -> new CpuBackend(cpu(options));
            default ->
                throw new DeviceException("there is no device " + options.name() + ": this build knows auto and cpu");
        };
    }

    private static CpuOptions cpu(DeviceOptions options) {
        CpuOptions all = options.threads() == 0 ? CpuOptions.all() : CpuOptions.of(options.threads());
        return all.with(CpuPath.of(options.cpu())).with(Precision.of(options.compute()));
    }
}
