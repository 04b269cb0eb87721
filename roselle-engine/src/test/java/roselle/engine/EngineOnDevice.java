package roselle.engine;

import roselle.backend.Device;

/** Opens engines on devices that a test of another package made. */
public final class EngineOnDevice {
    private EngineOnDevice() {}

    /** Opens an engine, which owns the device from here on. */
    public static Engine open(EngineConfig config, Device device) {
        return Engine.open(config, device, StepHook.NONE);
    }
}
