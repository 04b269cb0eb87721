package roselle.cuda;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import roselle.backend.BidirectionalContract;
import roselle.backend.Device;
import roselle.cuda.driver.NativeDriver;
import roselle.cuda.kernel.CubinCache;
import roselle.tensor.DataType;

/** Attention in both directions on a CUDA device keeps the contract, in each type that rows can have. */
@Tag("gpu")
class CudaBothWaysTest {
    /** Keeps the device's context from one test to the next: to make one takes half a second. */
    @BeforeAll
    static void keepContext() {
        new NativeDriver().retainContext(0);
    }

    private static Device device(DataType type) {
        return new CudaDevice(new NativeDriver(), 0, type, CubinCache.ofUser());
    }

    @Nested
    class InF32 extends BidirectionalContract {
        @Override
        protected Device open() {
            return device(DataType.F32);
        }
    }

    @Nested
    class InBf16 extends BidirectionalContract {
        @Override
        protected Device open() {
            return device(DataType.BF16);
        }

        @Override
        protected double tolerance() {
            return 2e-3;
        }
    }

    @Nested
    class InF16 extends BidirectionalContract {
        @Override
        protected Device open() {
            return device(DataType.F16);
        }

        @Override
        protected double tolerance() {
            return 3e-4;
        }
    }
}
