package roselle.backend.reference;

import roselle.backend.DecodingContract;
import roselle.backend.Device;

/** What other devices are compared with keeps the contract itself. */
class ReferenceDeviceTest extends DecodingContract {
    @Override
    protected Device open() {
        return new ReferenceDevice();
    }
}
