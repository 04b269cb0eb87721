package roselle.engine;

import java.util.Locale;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.TreeSet;
import roselle.api.DeviceException;
import roselle.backend.Backend;
import roselle.backend.BackendProvider;
import roselle.cpu.CpuBackend;
import roselle.cpu.CpuOptions;
import roselle.cpu.CpuPath;
import roselle.cpu.Precision;
import roselle.engine.EngineConfig.DeviceOptions;

/**
 * Opens devices by name: {@code cpu}, {@code cuda}, {@code cuda:1}, or {@code auto}, the first device of a kind that is there,
 * else the CPU.
 */
public final class Devices {
    private static final String CPU = "cpu";
    private static final String AUTO = "auto";

    private Devices() {}

    /**
     * Opens a device, which the caller closes.
     *
     * @throws DeviceException if there is no such device, or it cannot be used
     */
    public static Backend open(DeviceOptions options) {
        String name = options.name().toLowerCase(Locale.ROOT);
        return switch (name) {
            case CPU -> cpu(options);
            case AUTO -> automatic(options);
            default -> named(name, options);
        };
    }

    private static Backend automatic(DeviceOptions options) {
        for (BackendProvider provider : ServiceLoader.load(BackendProvider.class)) {
            if (provider.unavailable().isEmpty()) {
                return provider.open(0, options.compute());
            }
        }
        return cpu(options);
    }

    private static Backend named(String name, DeviceOptions options) {
        int colon = name.indexOf(':');
        String kind = colon < 0 ? name : name.substring(0, colon);
        int index = colon < 0 ? 0 : index(name, name.substring(colon + 1));
        var known = new TreeSet<String>();
        known.add(AUTO);
        known.add(CPU);
        for (BackendProvider provider : ServiceLoader.load(BackendProvider.class)) {
            if (provider.kind().equals(kind)) {
                Optional<String> reason = provider.unavailable();
                if (reason.isPresent()) {
                    throw new DeviceException("there is no device " + name + ": " + reason.get());
                }
                return provider.open(index, options.compute());
            }
            known.add(provider.kind());
        }
        throw new DeviceException("there is no device " + name + ": this build knows " + String.join(", ", known));
    }

    private static int index(String name, String digits) {
        try {
            return Integer.parseUnsignedInt(digits);
        } catch (NumberFormatException notANumber) {
            throw new DeviceException(
                    "the device is " + name + ": what follows the colon must be a number from 0", notANumber);
        }
    }

    private static Backend cpu(DeviceOptions options) {
        CpuOptions all = options.threads() == 0 ? CpuOptions.all() : CpuOptions.of(options.threads());
        return new CpuBackend(all.with(CpuPath.of(options.cpu())).with(Precision.of(options.compute())));
    }
}
