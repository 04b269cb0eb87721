package roselle.engine;

import java.util.Locale;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.TreeSet;
import java.util.function.Consumer;
import roselle.api.DeviceException;
import roselle.backend.Backend;
import roselle.backend.BackendProvider;
import roselle.checkpoint.Checkpoint;
import roselle.cpu.Cores;
import roselle.cpu.CpuBackend;
import roselle.cpu.CpuOptions;
import roselle.cpu.CpuPath;
import roselle.cpu.Precision;
import roselle.engine.EngineConfig.DeviceOptions;

/**
 * Opens devices by name: {@code cpu}, {@code cuda}, {@code cuda:1}, or {@code auto}, the first device of a kind that is there,
 * can be used, else the CPU.
 */
public final class Devices {
    private static final System.Logger LOG = System.getLogger(Devices.class.getName());
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

    /** The same for a model: where the number of the CPU's threads is left open, as many as are worth it for its weights. */
    static Backend open(DeviceOptions options, Checkpoint checkpoint) {
        int threads = options.threads() == 0 ? Cores.worthwhile(checkpoint.tensorBytes()) : options.threads();
        return open(new DeviceOptions(options.name(), threads, options.cpu(), options.compute()));
    }

    private static Backend automatic(DeviceOptions options) {
        return automatic(ServiceLoader.load(BackendProvider.class), options, Devices::warn);
    }

    /** Opens the first device that is there and can be used; {@code warning} hears why one that is there cannot. */
    static Backend automatic(Iterable<BackendProvider> providers, DeviceOptions options, Consumer<String> warning) {
        for (BackendProvider provider : providers) {
            if (provider.unavailable().isPresent()) {
                continue;
            }
            Optional<String> reason = provider.unusable();
            if (reason.isEmpty()) {
                return provider.open(0, options.compute());
            }
            warning.accept("the device " + provider.kind() + " is left alone and the CPU taken: " + reason.get());
        }
        return cpu(options);
    }

    private static void warn(String sentence) {
        LOG.log(System.Logger.Level.WARNING, sentence);
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
