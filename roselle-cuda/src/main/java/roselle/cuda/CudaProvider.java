package roselle.cuda;

import java.util.Locale;
import java.util.Optional;
import roselle.api.DeviceException;
import roselle.backend.Backend;
import roselle.backend.BackendProvider;
import roselle.cuda.driver.NativeDriver;
import roselle.cuda.nvrtc.Compiler;
import roselle.tensor.DataType;

/** Opens NVIDIA devices: {@code cuda} or {@code cuda:1}. */
public final class CudaProvider implements BackendProvider {
    /** For the service loader. */
    public CudaProvider() {}

    @Override
    public String kind() {
        return "cuda";
    }

    @Override
    public Optional<String> unavailable() {
        try {
            int count = new NativeDriver().deviceCount();
            return count == 0 ? Optional.of("the driver knows no device") : Optional.empty();
        } catch (DeviceException failure) {
            return Optional.of(String.valueOf(failure.getMessage()));
        }
    }

    @Override
    public Backend open(int index, String compute) {
        return new CudaBackend(new NativeDriver(), index, type(compute), CubinCache.ofUser(Compiler::new));
    }

    private static DataType type(String compute) {
        return switch (compute.toLowerCase(Locale.ROOT)) {
            case "auto", "bf16" -> DataType.BF16;
            case "f16" -> DataType.F16;
            case "f32" -> DataType.F32;
            default -> throw new DeviceException("a CUDA device computes in auto, bf16, f16 or f32, not in " + compute);
        };
    }
}
