package roselle.cpu;

import roselle.backend.Device;
import roselle.backend.StateContract;

class CpuStateContractTest extends StateContract {
    @Override
    protected Device open() {
        return new CpuDevice(3);
    }
}
