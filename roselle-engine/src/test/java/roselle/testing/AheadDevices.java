package roselle.testing;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import roselle.api.DeviceException;
import roselle.backend.Device;
import roselle.backend.StepInputs;

/** Devices that watch or delay what is launched ahead. */
public final class AheadDevices {
    private static final Set<String> WAITING =
            Set.of("read", "copyPage", "draw", "allocate", "allocateKvCache", "load", "constants", "close");

    private AheadDevices() {}

    /** Counts the steps whose rows take tokens that the host may not have seen. */
    public static Device counting(Device device, AtomicInteger stepsAhead) {
        return proxy((proxy, method, arguments) -> {
            if (method.getName().equals("submit") && ((StepInputs) arguments[0]).takesDrawn) {
                stepsAhead.incrementAndGet();
            }
            return call(device, method, arguments);
        });
    }

    /** Comes to each step and draw as late as a device may: when somebody waits for it. */
    public static Device late(Device device) {
        var waiting = new ArrayDeque<Launched>();
        return proxy((proxy, method, arguments) -> {
            switch (method.getName()) {
                case "submit" -> {
                    var inputs = ((StepInputs) arguments[0]).ofSameSizes();
                    inputs.copyFrom((StepInputs) arguments[0]);
                    waiting.add(new Launched(method, new Object[] {inputs, arguments[1]}));
                    return null;
                }
                case "launchDraw" -> {
                    waiting.add(new Launched(method, arguments));
                    return null;
                }
                case "collectDraw" -> {
                    boolean isDrawn = false;
                    while (!isDrawn) {
                        Launched next = waiting.remove();
                        call(device, next.method, next.arguments);
                        isDrawn = next.method.getName().equals("launchDraw") && next.arguments[1].equals(arguments[0]);
                    }
                }
                default -> {
                    while (WAITING.contains(method.getName()) && !waiting.isEmpty()) {
                        Launched next = waiting.remove();
                        call(device, next.method, next.arguments);
                    }
                }
            }
            return call(device, method, arguments);
        });
    }

    /** Throws from a step. */
    public static Device failing(Device device, Predicate<StepInputs> fails) {
        return proxy((proxy, method, arguments) -> {
            if (method.getName().equals("submit") && fails.test((StepInputs) arguments[0])) {
                throw new DeviceException("the device is gone");
            }
            return call(device, method, arguments);
        });
    }

    /** A call that is still to be made. */
    private static final class Launched {
        private final Method method;
        private final Object[] arguments;

        Launched(Method method, Object[] arguments) {
            this.method = method;
            this.arguments = arguments;
        }
    }

    private static Device proxy(InvocationHandler handler) {
        return (Device) Proxy.newProxyInstance(Device.class.getClassLoader(), new Class<?>[] {Device.class}, handler);
    }

    private static Object call(Device device, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(device, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }
}
