package roselle.api;

import java.io.Serial;

/** A device, a driver or one of its libraries failed or is not there. */
public final class DeviceException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    public DeviceException(String message) {
        super(message);
    }

    public DeviceException(String message, Throwable cause) {
        super(message, cause);
    }
}
