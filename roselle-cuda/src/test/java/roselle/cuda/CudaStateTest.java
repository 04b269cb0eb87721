package roselle.cuda;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import roselle.backend.Device;
import roselle.backend.StateContract;
import roselle.cuda.driver.NativeDriver;
import roselle.cuda.kernel.CubinCache;
import roselle.tensor.DataType;

/** A CUDA device goes on from states as the contract says, in each type that rows can have. */
@Tag("gpu")
class CudaStateTest {
    /** Keeps the device's context from one test to the next: to make one takes half a second. */
    @BeforeAll
    static void keepContext() {
        new NativeDriver().retainContext(0);
    }

    private static Device device(DataType type) {
        return new CudaDevice(new NativeDriver(), 0, type, CubinCache.ofUser());
    }

    @Nested
    class InF32 extends StateContract {
        @Override
        protected Device open() {
            return device(DataType.F32);
        }

        @Override
        protected double tolerance() {
            return 5e-5;
        }
    }

    @Nested
    class InBf16 extends StateContract {
        @Override
        protected Device open() {
            return device(DataType.BF16);
        }

        @Override
        protected double tolerance() {
            return 3e-2;
        }
    }

    @Nested
    class InF16 extends StateContract {
        @Override
        protected Device open() {
            return device(DataType.F16);
        }

        @Override
        protected double tolerance() {
            return 4e-3;
        }
    }
}
