package roselle.execution;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import roselle.backend.Device;

/** A device that has shared experts in stacks, as GPUs have. */
public final class StackingDevice {
    private StackingDevice() {}

    /**
     * Another device that stacks them, or not.
     *
     * @param loaded hears of each weight how many matrices it has, and its name
     */
    public static Device of(Device device, boolean stacks, List<String> loaded) {
        return (Device) Proxy.newProxyInstance(
                Device.class.getClassLoader(), new Class<?>[] {Device.class}, (_, method, arguments) -> {
                    if (method.getName().equals("stacksSharedExperts")) {
                        return stacks;
                    }
                    if (method.getName().equals("load")) {
                        loaded.add(arguments[1] + " " + arguments[0]);
                    }
                    try {
                        return method.invoke(device, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }
}
