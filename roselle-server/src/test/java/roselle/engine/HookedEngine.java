package roselle.engine;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.BooleanSupplier;
import roselle.backend.Device;
import roselle.checkpoint.Checkpoint;

/** Engines whose steps a test of another package hears of. */
public final class HookedEngine {
    private HookedEngine() {}

    /** Opens an engine on a device of a test's own, which the engine closes. */
    public static Engine open(EngineConfig config, Device device) {
        return new EngineAssembly(config, StartObserver.NONE) {
            @Override
            Device device(Checkpoint checkpoint) {
                return device;
            }
        }.open();
    }

    /** Opens an engine whose logits are NaN while {@code fails}. */
    public static Engine openFailing(EngineConfig config, BooleanSupplier fails) {
        Device device = Devices.open(config.device());
        var hooked = (Device) Proxy.newProxyInstance(
                Device.class.getClassLoader(), new Class<?>[] {Device.class}, (_, method, arguments) -> {
                    try {
                        Object answer = method.invoke(device, arguments);
                        if (method.getName().equals("read") && fails.getAsBoolean()) {
                            ((MemorySegment) arguments[3]).fill((byte) 0xFF);
                        }
                        return answer;
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
        return open(config, hooked);
    }

    /** Opens an engine that calls {@code afterRead} on its own thread whenever it has read a step's logits. */
    public static Engine open(EngineConfig config, Runnable afterRead) {
        Device device = Devices.open(config.device());
        var hooked = (Device) Proxy.newProxyInstance(
                Device.class.getClassLoader(), new Class<?>[] {Device.class}, (_, method, arguments) -> {
                    try {
                        Object answer = method.invoke(device, arguments);
                        if (method.getName().equals("read")) {
                            afterRead.run();
                        }
                        return answer;
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
        return open(config, hooked);
    }
}
