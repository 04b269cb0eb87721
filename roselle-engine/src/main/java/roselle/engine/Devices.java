package roselle.engine;

import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import roselle.api.DeviceException;
import roselle.api.InvalidRequestException;
import roselle.backend.BackendProvider;
import roselle.backend.Device;
import roselle.backend.DeviceOptions;
import roselle.backend.ModelWeights;
import roselle.tensor.DataType;

/**
 * Opens devices by name: {@code cpu}, {@code cuda}, {@code cuda:1}, or {@code auto}, the first device of the fastest kind that
 * is there and can be used.
 */
public final class Devices {
    private static final System.Logger LOG = System.getLogger(Devices.class.getName());

    private Devices() {}

    /**
     * Opens a device, which the caller closes.
     *
     * @throws DeviceException if there is no such device, or it cannot be used
     * @throws InvalidRequestException if it has no such path or type
     */
    public static Device open(DeviceOptions options) {
        return open(options, ModelWeights.UNKNOWN);
    }

    /** The same for a model: what the options leave open of the CPU is as its weights ask for. */
    public static Device open(DeviceOptions options, ModelWeights weights) {
        return options.name().equals(DeviceOptions.AUTO)
                ? automatic(providers(), options, weights, Devices::warn)
                : named(options, weights);
    }

    /** Bytes that a device has for a model: its own, else the machine's. */
    public static long memoryBytes(Device device) {
        return device.memoryBytes().orElseGet(MachineMemory::bytes);
    }

    /** How a device would compute products with weights of these types, that of most bytes first, or of any, and why so; no device is opened. */
    public static String describe(DeviceOptions options, Collection<DataType> types) {
        return provider(options.name()).describe(options, types);
    }

    /** Whether a device has a faster type than {@code f32} that its products can round to. */
    public static boolean rounds(DeviceOptions options) {
        return provider(options.name()).rounds(options);
    }

    /** Each kind of device that this build knows, the fastest first, with why none of it can be used here, where that is so. */
    public static Map<String, Optional<String>> complaints() {
        var complaints = new LinkedHashMap<String, Optional<String>>();
        for (BackendProvider provider : providers()) {
            complaints.put(provider.kind(), provider.unavailable().or(provider::unusable));
        }
        return complaints;
    }

    /** Does nothing where a kind of device has such a path. */
    public static void requirePath(String name) {
        require("the path of the CPU", name, BackendProvider::paths);
    }

    /** Does nothing where a kind of device computes in such a type. */
    public static void requireComputeType(String name) {
        require("compute", name, BackendProvider::computeTypes);
    }

    private static void require(String what, String name, Function<BackendProvider, List<String>> names) {
        Set<String> known = new LinkedHashSet<>();
        providers().forEach(provider -> known.addAll(names.apply(provider)));
        if (!known.contains(name.toLowerCase(Locale.ROOT))) {
            throw new InvalidRequestException(what + " is " + name + ": it must be one of " + String.join(", ", known));
        }
    }

    /** The fastest first. */
    private static List<BackendProvider> providers() {
        return sorted(ServiceLoader.load(BackendProvider.class).stream().map(ServiceLoader.Provider::get));
    }

    private static List<BackendProvider> sorted(Stream<BackendProvider> providers) {
        return providers
                .sorted(Comparator.comparingInt(BackendProvider::preference).reversed())
                .toList();
    }

    /** Opens the first device that is there and can be used; {@code warning} hears why one that is there cannot. */
    static Device automatic(
            List<BackendProvider> providers, DeviceOptions options, ModelWeights weights, Consumer<String> warning) {
        for (BackendProvider provider : sorted(providers.stream())) {
            if (provider.unavailable().isPresent()) {
                continue;
            }
            Optional<String> reason = provider.unusable();
            if (reason.isEmpty()) {
                return provider.open(0, options, weights);
            }
            warning.accept("the device " + provider.kind() + " is left alone and the CPU taken: " + reason.get());
        }
        throw none();
    }

    private static DeviceException none() {
        return new DeviceException(
                "no kind of device is here: put roselle-cpu or roselle-cuda on the module or class path");
    }

    private static void warn(String sentence) {
        LOG.log(System.Logger.Level.WARNING, sentence);
    }

    private static Device named(DeviceOptions options, ModelWeights weights) {
        String name = options.name();
        int colon = name.indexOf(':');
        int index = colon < 0 ? 0 : index(name, name.substring(colon + 1));
        BackendProvider provider = provider(name);
        Optional<String> reason = provider.unavailable();
        if (reason.isPresent()) {
            throw new DeviceException("there is no device " + name + ": " + reason.get());
        }
        return provider.open(index, options, weights);
    }

    /** The kind of device that a name means; of {@code auto}, the fastest that is here. */
    private static BackendProvider provider(String name) {
        if (name.equals(DeviceOptions.AUTO)) {
            return providers().stream()
                    .filter(each -> each.unavailable().isEmpty())
                    .findFirst()
                    .orElseThrow(Devices::none);
        }
        int colon = name.indexOf(':');
        String kind = colon < 0 ? name : name.substring(0, colon);
        var known = new TreeSet<String>();
        known.add(DeviceOptions.AUTO);
        for (BackendProvider provider : providers()) {
            if (provider.kind().equals(kind)) {
                return provider;
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
}
