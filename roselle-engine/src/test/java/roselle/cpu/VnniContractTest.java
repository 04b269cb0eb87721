package roselle.cpu;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import roselle.backend.Backend;
import roselle.backend.BackendContract;

/**
 * The CPU keeps the contract of a device where it is asked for activations of 8 bits, too.
 *
 * <p>No tolerance is wider: only quantized weights meet bytes, and the contract's are not quantized. {@link ProductTest} holds
 * products of bytes to their scalar twin and to float64.
 */
class VnniContractTest extends BackendContract {
    @Override
    protected Backend open() {
        assumeTrue(CpuBackend.paths().contains(CpuPath.VNNI), "this processor has no AVX512_VNNI");
        return new CpuBackend(CpuOptions.all().with(CpuPath.VNNI));
    }
}
