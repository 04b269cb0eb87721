package roselle.cpu;

import org.junit.jupiter.api.Nested;
import roselle.backend.BidirectionalContract;
import roselle.backend.Device;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.option.Precision;

class CpuBidirectionalContractTest {
    @Nested
    class ByTheVectorApi extends BidirectionalContract {
        @Override
        protected Device open() {
            return new CpuDevice(CpuOptions.of(3).with(CpuPath.VECTOR));
        }
    }

    @Nested
    class AsItComes extends BidirectionalContract {
        @Override
        protected Device open() {
            return new CpuDevice(CpuOptions.of(3).with(Precision.F32));
        }
    }
}
