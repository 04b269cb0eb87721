package roselle.cuda;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import roselle.backend.Phase;

/** The kernels of a device, by file and name; a file is compiled, or fetched from the cache, when its first kernel is asked for. */
final class Kernels implements AutoCloseable {
    private final Device device;
    private final Cubins cubins;
    private final Map<KernelSource, Long> modules = new EnumMap<>(KernelSource.class);
    private final List<Long> loaded = new ArrayList<>();
    private long nanos;

    Kernels(Device device, Cubins cubins) {
        this.device = device;
        this.cubins = cubins;
    }

    /** How long it took to compile or read, and to load, how many files. */
    Phase phase() {
        String name = "kernels of " + (loaded.size() - cubins.compiled()) + " files kept and " + cubins.compiled()
                + " compiled";
        return new Phase(name, nanos);
    }

    Kernel kernel(KernelSource source, String name) {
        long begin = System.nanoTime();
        Long module = modules.get(source);
        if (module == null) {
            module = device.driver().loadModule(cubins.cubin(source, device.architecture()));
            loaded.add(module);
            modules.put(source, module);
        }
        var kernel = new Kernel(name, device.driver().function(module, name));
        nanos += System.nanoTime() - begin;
        return kernel;
    }

    @Override
    public void close() {
        var cleanup = new Cleanup();
        for (long module : loaded) {
            cleanup.then(() -> device.driver().unloadModule(module));
        }
        loaded.clear();
        modules.clear();
        cleanup.finish();
    }
}
