package roselle.backend;

import roselle.backend.reference.ReferenceDevice;

/** The reference attends both ways as the contract says. */
class BidirectionalContractTest extends BidirectionalContract {
    @Override
    protected Device open() {
        return new ReferenceDevice();
    }
}
