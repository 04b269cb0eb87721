package roselle.engine;

import roselle.backend.Device;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;

/** Puts engines together on devices that a test made, which they own from here on, with a hook in their loops. */
public final class EngineOnDevice extends EngineAssembly {
    private final StepHook hook;

    private EngineOnDevice(EngineConfig config, StepHook hook) {
        super(config, StartObserver.NONE);
        this.hook = hook;
    }

    /** Opens an engine on a device. */
    public static Engine open(EngineConfig config, Device device) {
        return open(config, device, StepHook.NONE);
    }

    static Engine open(EngineConfig config, Device device, StepHook hook) {
        Checkpoint checkpoint;
        try {
            checkpoint = Checkpoints.open(config.model());
        } catch (Throwable failure) {
            device.close();
            throw failure;
        }
        return new EngineOnDevice(config, hook).load(checkpoint, device);
    }

    /** Loads a checkpoint, which the engine owns, too. */
    static Engine load(Checkpoint checkpoint, EngineConfig config, Device device) {
        return new EngineOnDevice(config, StepHook.NONE).load(checkpoint, device);
    }

    @Override
    EngineLoop loop(Checkpoint checkpoint, LoopParts parts) {
        boolean overlaps = config().overlap().isOn(parts.executor().samples());
        return new HookedLoop(parts, overlaps, failure -> diagnosis(checkpoint, failure), hook);
    }
}
