package roselle.cuda;

import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import roselle.api.DeviceException;
import roselle.backend.BackendProvider;
import roselle.backend.Device;
import roselle.backend.DeviceOptions;
import roselle.backend.ModelWeights;
import roselle.cuda.driver.Driver;
import roselle.cuda.driver.NativeDriver;
import roselle.cuda.kernel.CubinCache;
import roselle.cuda.kernel.Cubins;
import roselle.cuda.memory.Gpu;

/** Opens NVIDIA devices: {@code cuda} or {@code cuda:1}. */
public final class CudaProvider implements BackendProvider {
    private static final String NO_DEVICE =
            "the driver shows no device: see what nvidia-smi says, and whether CUDA_VISIBLE_DEVICES hides it";

    private final Supplier<Driver> drivers;
    private final Supplier<Cubins> cubins;
    private @Nullable Driver opened;

    /** For the service loader. */
    public CudaProvider() {
        this(NativeDriver::new, CubinCache::ofUser);
    }

    CudaProvider(Supplier<Driver> drivers, Supplier<Cubins> cubins) {
        this.drivers = drivers;
        this.cubins = cubins;
    }

    @Override
    public String kind() {
        return "cuda";
    }

    @Override
    public Optional<String> unavailable() {
        try {
            Driver driver = driver();
            return driver.deviceCount() == 0 ? Optional.of(NO_DEVICE) : Optional.empty();
        } catch (DeviceException failure) {
            boolean isMissing = failure.getCause() instanceof NoSuchFileException; // else it is there, but unusable
            return isMissing ? Optional.of(String.valueOf(failure.getMessage())) : Optional.empty();
        }
    }

    @Override
    public Optional<String> unusable() {
        try {
            Driver driver = driver();
            Optional<String> unfit = Gpu.unfit(driver, 0);
            return unfit.isPresent() ? unfit : cubins.get().missing(Gpu.architecture(driver, 0));
        } catch (DeviceException failure) {
            return Optional.of(String.valueOf(failure.getMessage()));
        }
    }

    @Override
    public int preference() {
        return 1;
    }

    @Override
    public List<String> computeTypes() {
        return List.of(DeviceOptions.AUTO, "bf16", "f16", "f32", "fp8");
    }

    @Override
    public Device open(int index, DeviceOptions options, ModelWeights weights) {
        Precision precision = Precision.of(options.compute(), weights);
        return new CudaDevice(driver(), index, precision, cubins.get(), !weights.yields());
    }

    private Driver driver() {
        Driver driver = opened;
        if (driver == null) {
            driver = drivers.get();
            opened = driver;
        }
        return driver;
    }
}
