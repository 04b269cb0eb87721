package roselle.cuda.memory;

import org.jspecify.annotations.Nullable;
import roselle.api.DeviceException;

/** Steps that each give something back: one that fails does not keep the next from being taken. */
public final class Cleanup {
    private @Nullable DeviceException first;

    /** Takes a step. */
    public Cleanup then(Runnable step) {
        try {
            step.run();
        } catch (DeviceException failure) {
            if (first == null) {
                first = failure;
            } else {
                first.addSuppressed(failure);
            }
        }
        return this;
    }

    /** Throws what went wrong first, if anything did. */
    public void finish() {
        if (first != null) {
            throw first;
        }
    }
}
