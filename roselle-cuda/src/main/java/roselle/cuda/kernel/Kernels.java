package roselle.cuda.kernel;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import roselle.api.DeviceException;
import roselle.backend.Phase;
import roselle.cuda.memory.Cleanup;
import roselle.cuda.memory.Gpu;

/** The kernels of a device, by file and name; a file is compiled, or fetched from the cache, when its first kernel is asked for. */
public final class Kernels implements AutoCloseable {
    private final Gpu device;
    private final Cubins cubins;
    private final Map<KernelSource, Long> modules = new HashMap<>();
    private final List<Long> loaded = new ArrayList<>();
    private long nanos;

    public Kernels(Gpu device, Cubins cubins) {
        this.device = device;
        this.cubins = cubins;
    }

    /** How long it took to compile or read, and to load, how many files. */
    public Phase phase() {
        String name = "kernels of " + (loaded.size() - cubins.compiled()) + " files kept and " + cubins.compiled()
                + " compiled";
        return new Phase(name, nanos);
    }

    public Kernel kernel(KernelSource source, String name) {
        long begin = System.nanoTime();
        Long module = modules.get(source);
        if (module == null) {
            module = load(source);
            loaded.add(module);
            modules.put(source, module);
        }
        var kernel = new Kernel(name, device.driver().function(module, name));
        nanos += System.nanoTime() - begin;
        return kernel;
    }

    /** Loads a file; what was kept of it and does not load, because it is broken or of another driver, is compiled anew. */
    private long load(KernelSource source) {
        byte[] cubin = cubins.cubin(source, device.architecture());
        try {
            return device.driver().loadModule(cubin);
        } catch (DeviceException refused) {
            return device.driver().loadModule(anew(source, refused));
        }
    }

    private byte[] anew(KernelSource source, DeviceException refused) {
        try {
            return cubins.anew(source, device.architecture()).orElseThrow(() -> refused);
        } catch (DeviceException noCompiler) {
            if (noCompiler != refused) {
                refused.addSuppressed(noCompiler);
            }
            throw refused;
        }
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
