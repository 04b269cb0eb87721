package roselle.cuda;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The kernels of a device, by file and name; a file is compiled, or fetched from the cache, when its first kernel is asked for. */
final class Kernels implements AutoCloseable {
    private final Device device;
    private final CubinCache cache;
    private final Map<KernelSource, Long> modules = new EnumMap<>(KernelSource.class);
    private final List<Long> loaded = new ArrayList<>();

    Kernels(Device device, CubinCache cache) {
        this.device = device;
        this.cache = cache;
    }

    Kernel kernel(KernelSource source, String name) {
        Long module = modules.get(source);
        if (module == null) {
            module = device.driver().loadModule(cache.cubin(source, device.architecture()));
            loaded.add(module);
            modules.put(source, module);
        }
        return new Kernel(name, device.driver().function(module, name));
    }

    @Override
    public void close() {
        device.enter();
        for (long module : loaded) {
            device.driver().unloadModule(module);
        }
        loaded.clear();
        modules.clear();
    }
}
