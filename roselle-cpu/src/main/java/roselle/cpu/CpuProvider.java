package roselle.cpu;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import roselle.api.DeviceException;
import roselle.backend.BackendProvider;
import roselle.backend.Device;
import roselle.backend.DeviceOptions;
import roselle.backend.ModelWeights;
import roselle.cpu.memory.MachineCode;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.option.Precision;
import roselle.cpu.path.AutomaticPath;
import roselle.cpu.thread.Cores;
import roselle.tensor.DataType;

/** Opens the CPU: {@code cpu}. */
public final class CpuProvider implements BackendProvider {
    private static final String VECTORS = "jdk.incubator.vector";

    /** For the service loader. */
    public CpuProvider() {}

    @Override
    public String kind() {
        return "cpu";
    }

    @Override
    public int preference() {
        return 0;
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }

    @Override
    public List<String> paths() {
        return Arrays.stream(CpuPath.values()).map(CpuPath::label).toList();
    }

    @Override
    public List<String> computeTypes() {
        return Arrays.stream(Precision.values())
                .filter(each -> each != Precision.SPLIT)
                .map(Precision::label)
                .toList();
    }

    /** Without the module, classes that use it would fail to load, which names neither the cause nor the flag. */
    private static void requireVectors() {
        boolean isNamed = CpuProvider.class.getModule().isNamed(); // then the module system has found what it requires
        if (!isNamed && ModuleLayer.boot().findModule(VECTORS).isEmpty()) {
            throw new DeviceException(
                    "the CPU needs the module " + VECTORS + " of Java: start it with --add-modules " + VECTORS);
        }
    }

    @Override
    public boolean rounds(DeviceOptions options) {
        CpuPath path = CpuPath.of(options.cpu());
        return path == CpuPath.VNNI
                || CpuDevice.rounds(cpuOptions(options, Long.MAX_VALUE).with(Precision.BF16));
    }

    @Override
    public String describe(DeviceOptions options, Collection<DataType> types) {
        CpuOptions cpu = cpuOptions(options, Long.MAX_VALUE);
        try (MachineCode code = AutomaticPath.open(cpu, types.stream().findFirst())) {
            return types.isEmpty() ? code.describe() : code.describe(types);
        }
    }

    @Override
    public Device open(int index, DeviceOptions options, ModelWeights weights) {
        if (index != 0) {
            throw new DeviceException("there is no device cpu:" + index + ": all cores are the device cpu");
        }
        CpuOptions asked = cpuOptions(options, weights.bytes());
        boolean maySplit = weights.encodes() && asked.precision() == Precision.AUTO;
        CpuOptions cpu = maySplit ? asked.with(Precision.SPLIT) : asked;
        var device = new CpuDevice(cpu, AutomaticPath.open(cpu, weights.type()));
        NativeAccess.warnIfMissed(cpu);
        return device;
    }

    private static CpuOptions cpuOptions(DeviceOptions options, long weightBytes) {
        requireVectors();
        int threads = options.threads() == 0 ? Cores.worthwhile(weightBytes) : options.threads();
        return CpuOptions.of(threads).with(CpuPath.of(options.cpu())).with(Precision.of(options.compute()));
    }
}
