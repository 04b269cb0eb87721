package roselle.testing;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import roselle.backend.Device;
import roselle.backend.operation.Operations;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepProgram;

/** Devices with operations that a test changes. */
public final class ChangedOperations {
    private ChangedOperations() {}

    /** What happens beside an operation. */
    public interface Change {
        /** Is told of an operation before it is called. */
        default void before(Method operation) {}

        /** Is told of an operation that was called. */
        default void after(Operations honest, Method operation, Object[] arguments) {}
    }

    /** A device that is honest but for the operations that it gives to programs. */
    public static Device of(Device honest, Change change) {
        return proxy(Device.class, (_, method, arguments) -> {
            if (!method.getName().equals("submit")) {
                return call(honest, method, arguments);
            }
            var program = (StepProgram) arguments[1];
            honest.submit((StepInputs) arguments[0], (all, step) -> program.run(changed(all, change), step));
            return null;
        });
    }

    private static Operations changed(Operations honest, Change change) {
        return proxy(Operations.class, (_, operation, arguments) -> {
            change.before(operation);
            Object result = call(honest, operation, arguments);
            change.after(honest, operation, arguments);
            return result;
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static Object call(Object honest, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(honest, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }
}
