package roselle.engine;

/** Engines whose steps a test of another package hears of. */
public final class HookedEngine {
    private HookedEngine() {}

    /** Opens an engine that calls {@code beforeStep} on its own thread at the beginning of each turn. */
    public static Engine open(EngineConfig config, Runnable beforeStep) {
        return Engine.open(config, Devices.open(config.device()), _ -> beforeStep.run());
    }
}
