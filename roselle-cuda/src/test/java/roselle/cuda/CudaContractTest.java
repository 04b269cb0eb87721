package roselle.cuda;

import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import roselle.backend.Device;
import roselle.backend.LatentContract;
import roselle.cuda.driver.NativeDriver;
import roselle.cuda.kernel.CubinCache;
import roselle.cuda.kernel.KernelNumbers;
import roselle.tensor.DataType;

/** A CUDA device keeps the contract of a device, in each type that rows can have. */
@Tag("gpu")
class CudaContractTest {
    /** Keeps the device's context from one test to the next: to make one takes half a second. */
    @BeforeAll
    static void keepContext() {
        new NativeDriver().retainContext(0);
    }

    /** Of sparse attention, and of what adapters change besides products, which is refused. */
    private static final List<String> NO_KERNELS =
            List.of("choosePositions", "compress", "adaptTable", "adaptLogits", "adaptExperts");

    private static Device backend(DataType type) {
        return new CudaDevice(new NativeDriver(), 0, type, CubinCache.ofUser());
    }

    @Nested
    class InF32 extends LatentContract {
        @Override
        protected Device open() {
            return backend(DataType.F32);
        }

        @Override
        protected double tolerance() {
            return 5e-5;
        }

        @Override
        protected boolean reads(DataType type) {
            return KernelNumbers.isRead(type);
        }

        @Override
        protected boolean runs(String operation) {
            return !NO_KERNELS.contains(operation);
        }
    }

    @Nested
    class InBf16 extends LatentContract {
        @Override
        protected Device open() {
            return backend(DataType.BF16);
        }

        @Override
        protected double tolerance() {
            return 3e-2;
        }

        @Override
        protected boolean reads(DataType type) {
            return KernelNumbers.isRead(type);
        }

        @Override
        protected boolean runs(String operation) {
            return !NO_KERNELS.contains(operation);
        }
    }

    @Nested
    class InF16 extends LatentContract {
        @Override
        protected Device open() {
            return backend(DataType.F16);
        }

        @Override
        protected double tolerance() {
            return 4e-3;
        }

        @Override
        protected boolean reads(DataType type) {
            return KernelNumbers.isRead(type);
        }

        @Override
        protected boolean runs(String operation) {
            return !NO_KERNELS.contains(operation);
        }
    }
}
