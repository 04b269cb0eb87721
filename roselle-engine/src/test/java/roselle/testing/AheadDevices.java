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
import roselle.backend.step.StepInputs;

/** Devices that watch or delay what is launched ahead. */
public final class AheadDevices {
    private static final Set<String> WAITING =
            Set.of("read", "copyPage", "sample", "allocate", "allocateKvCache", "load", "constants", "close");

    private AheadDevices() {}

    /** Counts the steps whose rows take tokens that the host may not have seen. */
    public static Device counting(Device device, AtomicInteger stepsAhead) {
        return proxy((proxy, method, arguments) -> {
            if (method.getName().equals("submit") && ((StepInputs) arguments[0]).takesSampled) {
                stepsAhead.incrementAndGet();
            }
            return call(device, method, arguments);
        });
    }

    /** Counts all steps. */
    public static Device countingSteps(Device device, AtomicInteger steps) {
        return proxy((proxy, method, arguments) -> {
            if (method.getName().equals("submit")) {
                steps.incrementAndGet();
            }
            return call(device, method, arguments);
        });
    }

    /** Comes to each step and sampling as late as a device may: when somebody waits for it. */
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
                case "launchSample" -> {
                    waiting.add(new Launched(method, arguments));
                    return null;
                }
                case "collectSample" -> {
                    while (waiting.stream().anyMatch(each -> each.samples(arguments[0]))) {
                        Launched next = waiting.remove();
                        call(device, next.method, next.arguments);
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

        boolean samples(Object tokens) {
            return method.getName().equals("launchSample") && arguments[2].equals(tokens);
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
