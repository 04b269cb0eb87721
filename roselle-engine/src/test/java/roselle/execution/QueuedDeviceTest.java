package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.backend.Device;
import roselle.backend.memory.AdapterPart;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.memory.SpareMemory;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Operations;
import roselle.backend.step.StepDemands;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.backend.step.StepProgram;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** A device that is given work ahead is the device that it wraps, but for samplings. */
class QueuedDeviceTest {
    /** What the host does in the device's place. */
    private static final Set<String> OWN = Set.of("samples", "sample", "launchSample", "collectSample");

    private static final StepLimits LIMITS = new StepLimits(1, 1, 1, 1, 1);
    private static final Buffer BUFFER = proxy(Buffer.class, (_, _, _) -> 1L);
    private static final StoredMatrix MATRIX =
            StoredMatrix.of(new Tensor("t", DataType.F32, Shape.of(1, 1), MemorySegment.ofArray(new float[1])));
    private static final StepDemands DEMANDS = new StepDemands(LIMITS, KvType.F32, 0, List.of(), 1, 1, 1, 0, 0, 0);

    /** An argument of each type. */
    private static final Map<Class<?>, Object> ARGUMENTS = Map.ofEntries(
            Map.entry(DataType.class, DataType.F32),
            Map.entry(long.class, 5L),
            Map.entry(int.class, 6),
            Map.entry(float[].class, new float[1]),
            Map.entry(int[].class, new int[1]),
            Map.entry(String.class, "name"),
            Map.entry(List.class, List.of(MATRIX)),
            Map.entry(StoredMatrix.class, MATRIX),
            Map.entry(StepDemands.class, DEMANDS),
            Map.entry(StepInputs.class, new StepInputs(LIMITS, 0)),
            Map.entry(StepProgram.class, (StepProgram) (_, _) -> {}),
            Map.entry(KvType.class, KvType.BF16),
            Map.entry(AdapterPart.Use.class, AdapterPart.Use.PRODUCT),
            Map.entry(KvCache.class, proxy(KvCache.class, (_, _, _) -> null)),
            Map.entry(SpareMemory.class, new SpareMemory()),
            Map.entry(Rows.class, new Rows(BUFFER, 0, 1, 1)),
            Map.entry(MemorySegment.class, MemorySegment.ofArray(new float[1])));

    /** A result of each type. */
    private static final Map<Class<?>, Object> RESULTS = Map.of(
            String.class,
            "wrapped",
            List.class,
            List.of(new KvGroup("g", 1, 1, 1, 1, 0)),
            DataType.class,
            DataType.BF16,
            OptionalLong.class,
            OptionalLong.of(7),
            int.class,
            9,
            long.class,
            8L,
            boolean.class,
            true,
            Buffer.class,
            BUFFER,
            Weight.class,
            proxy(Weight.class, (_, _, _) -> null),
            KvCache.class,
            proxy(KvCache.class, (_, _, _) -> null));

    static Stream<Method> calls() {
        return Arrays.stream(Device.class.getMethods()).filter(method -> !OWN.contains(method.getName()));
    }

    @ParameterizedTest
    @MethodSource("calls")
    void eachCallArrivesAsItself(Method call) throws ReflectiveOperationException {
        var arrivals = new CopyOnWriteArrayList<Method>();
        var given = new ArrayList<Object>();
        Device wrapped = proxy(Device.class, (_, method, arguments) -> {
            if (method.equals(call)) {
                given.addAll(Arrays.asList(Objects.requireNonNullElse(arguments, new Object[0])));
            }
            arrivals.add(method);
            return RESULTS.get(method.getReturnType());
        });
        Object[] arguments = Arrays.stream(call.getParameterTypes())
                .map(type -> Objects.requireNonNull(ARGUMENTS.get(type), type::toString))
                .toArray();
        var queued = new QueuedDevice(wrapped);
        Object result = call.invoke(queued, arguments);
        if (!call.getName().equals("close")) {
            queued.close();
        }
        assertThat(arrivals).contains(call);
        if (call.getName().equals("describe")) {
            assertThat(result).isEqualTo("wrapped, steps given ahead");
        } else {
            assertThat(result).isSameAs(RESULTS.get(call.getReturnType()));
        }
        assertThat(given).hasSize(arguments.length);
        for (int i = 0; i < arguments.length; i++) {
            if (!(arguments[i] instanceof StepInputs)) { // which the caller may change: a copy goes on
                assertThat(given.get(i)).isSameAs(arguments[i]);
            }
        }
    }

    @Test
    void aProgramGetsTheOperationsOfTheDeviceItself() {
        Operations fused = proxy(Operations.class, (_, _, _) -> null);
        Device wrapped = proxy(Device.class, (_, method, arguments) -> {
            if (method.getName().equals("submit")) {
                ((StepProgram) arguments[1]).run(fused, (StepInputs) arguments[0]);
            }
            return null;
        });
        var got = new AtomicReference<Operations>();
        try (Device queued = new QueuedDevice(wrapped)) {
            queued.submit(new StepInputs(LIMITS, 0), (operations, _) -> got.set(operations));
            queued.read(new Rows(BUFFER, 0, 1, 1), 0, 1, MemorySegment.NULL); // waits
        }
        assertThat((Object) got.get()).isSameAs(fused);
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
