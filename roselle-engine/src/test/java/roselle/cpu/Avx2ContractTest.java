package roselle.cpu;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import roselle.backend.Backend;
import roselle.backend.BackendContract;

/** The CPU keeps the contract of a device with AVX2 alone, too. */
class Avx2ContractTest extends BackendContract {
    @Override
    protected Backend open() {
        assumeTrue(CpuBackend.paths().contains(CpuPath.AVX2));
        return new CpuBackend(CpuOptions.all().with(CpuPath.AVX2));
    }
}
