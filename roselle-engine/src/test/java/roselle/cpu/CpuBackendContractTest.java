package roselle.cpu;

import roselle.backend.Backend;
import roselle.backend.BackendContract;

/** The CPU keeps the contract of a device. */
class CpuBackendContractTest extends BackendContract {
    @Override
    protected Backend open() {
        return new CpuBackend();
    }
}
