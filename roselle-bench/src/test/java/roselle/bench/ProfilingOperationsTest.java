package roselle.bench;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.backend.operation.Operations;

/** What is timed is what the device would do without a watch. */
class ProfilingOperationsTest {
    /** A call that came to the operations that are wrapped. */
    private record Arrival(Method method, List<Object> arguments) {}

    private int lastNumber;

    static Stream<Method> operations() {
        return Arrays.stream(Operations.class.getMethods());
    }

    @ParameterizedTest
    @MethodSource("operations")
    void eachOperationArrivesAsItselfAndIsTimed(Method operation) throws ReflectiveOperationException {
        var arrivals = new ArrayList<Arrival>();
        Operations wrapped = proxy(
                Operations.class, (_, method, given) -> arrivals.add(new Arrival(method, List.of(given))) ? null : 0);
        var profile = new StepProfile();
        var profiling = new ProfilingOperations(wrapped, profile);
        Object[] arguments =
                Arrays.stream(operation.getParameterTypes()).map(this::sample).toArray();

        long start = System.nanoTime();
        operation.invoke(profiling, arguments);
        profile.addStep(System.nanoTime() - start);

        assertThat(arrivals).hasSize(1);
        assertThat(arrivals.getFirst().method()).isEqualTo(operation);
        List<Object> arrived = arrivals.getFirst().arguments();
        for (int i = 0; i < arguments.length; i++) {
            if (operation.getParameterTypes()[i].isPrimitive()) {
                assertThat(arrived.get(i)).isEqualTo(arguments[i]);
            } else {
                assertThat(arrived.get(i)).isSameAs(arguments[i]);
            }
        }
        assertThat(profile.describe()).as("what was timed").containsPattern("ms, [a-z ]+ [0-9.]+ %, between them");
    }

    /** Something of a type that is no other's. */
    private Object sample(Class<?> type) {
        lastNumber++;
        if (type == int.class) {
            return lastNumber;
        }
        return type == float.class ? (Object) (float) lastNumber : requireNonNull(part(type, Set.of()));
    }

    /** The same within records, whose numbers must fit each other; null for one of a kind that it lies in. */
    private static @Nullable Object part(Class<?> type, Set<Class<?>> within) {
        if (within.contains(type)) {
            return null;
        }
        if (type.isRecord()) {
            return made(type, within);
        }
        if (type.isEnum()) {
            return type.getEnumConstants()[0];
        }
        if (type.isInterface()) {
            return proxy(type, (_, method, _) -> method.getReturnType() == long.class ? 1000L : 1);
        }
        if (type == boolean.class) {
            return true;
        }
        return type == long.class ? (Object) 1L : type == float.class ? (Object) 1f : (Object) 1;
    }

    private static Object made(Class<?> type, Set<Class<?>> within) {
        var inner = new HashSet<>(within);
        inner.add(type);
        RecordComponent[] components = type.getRecordComponents();
        Class<?>[] types =
                Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
        try {
            Constructor<?> constructor = type.getDeclaredConstructor(types);
            return constructor.newInstance(
                    Arrays.stream(types).map(each -> part(each, inner)).toArray());
        } catch (ReflectiveOperationException failure) {
            throw new LinkageError("no " + type.getSimpleName() + " can be made", failure);
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
