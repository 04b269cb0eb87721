package roselle.backend;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.Compression;
import roselle.backend.operation.DeltaNet;
import roselle.backend.operation.ExpertSum;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.Operations;
import roselle.backend.operation.PositionIndex;
import roselle.backend.operation.Router;
import roselle.backend.operation.Routing;
import roselle.backend.reference.ReferenceDevice;
import roselle.tensor.DataType;
import roselle.testing.ChangedOperations;

/** The comparison with the reference finds a row that is a hundredth off, whatever operation left it so. */
class ReferenceContractTest {
    static Stream<String> names() {
        return Arrays.stream(Operations.class.getDeclaredMethods())
                .map(Method::getName)
                .sorted();
    }

    @ParameterizedTest
    @MethodSource("names")
    void findsAnOperationThatIsOff(String name) {
        var comparison = new ReferenceContract() {
            @Override
            protected Device open() {
                return ChangedOperations.of(new ReferenceDevice(), new ChangedOperations.Change() {
                    @Override
                    public void after(Operations honest, Method operation, Object[] arguments) {
                        if (operation.getName().equals(name)) {
                            spoil(honest, operation, arguments);
                        }
                    }
                });
            }
        };
        comparison.openBackend();
        try {
            assertThatThrownBy(() -> comparison.givesWhatTheReferenceGives(name, DataType.F32))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("number ");
        } finally {
            comparison.closeBackend();
        }
    }

    @ParameterizedTest
    @EnumSource(KvType.class)
    void findsATypeOfTheCacheThatIsOff(KvType type) {
        var comparison = new ReferenceContract() {
            @Override
            protected Device open() {
                return withOtherTypes(new ReferenceDevice());
            }
        };
        comparison.openBackend();
        try {
            assertThatThrownBy(() -> comparison.keepsKeysAndValuesAsTheirTypeSays(type))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("number ");
        } finally {
            comparison.closeBackend();
        }
    }

    /** A device that keeps keys and values as other codes than it says. */
    private static Device withOtherTypes(Device honest) {
        return (Device) Proxy.newProxyInstance(
                Device.class.getClassLoader(), new Class<?>[] {Device.class}, (_, method, arguments) -> {
                    if (method.getName().equals("allocateKvCache")) {
                        arguments[1] = arguments[1] == KvType.INT8 ? KvType.INT4 : KvType.INT8;
                    }
                    return method.invoke(honest, arguments);
                });
    }

    /** Changes the first row of what an operation left. */
    private static void spoil(Operations honest, Method operation, Object[] arguments) {
        switch (operation.getName()) {
            case "routeExperts" -> {
                honest.scaleLogits((Rows) arguments[0], -1f, 0f, 1);
                honest.routeExperts((Rows) arguments[0], (Router) arguments[1], (Routing) arguments[2], 1);
            }
            case "choosePositions" -> { // behind which attention reads the choice
                honest.scaleLogits((Rows) arguments[1], -1f, 0f, 3);
                honest.choosePositions(
                        (Rows) arguments[0], (Rows) arguments[1], (PositionIndex) arguments[2], (KvCache) arguments[3]);
            }
            case "compress" -> { // to keys that are not normalised
                var how = (Compression) arguments[0];
                AttentionLayer keys = how.keys();
                var other = new AttentionLayer(
                        keys.group(), keys.layer(), keys.heads(), keys.rope(), null, null, keys.scale(), 0f, null);
                honest.compress(
                        new Compression(how.tokens(), other, how.overlaps(), how.bias()), (KvCache) arguments[1], (Rows)
                                arguments[2]);
            }
            case "connect" -> off(honest, (Rows) arguments[2]);
            case "deltaNet" -> off(honest, ((DeltaNet) arguments[0]).attended());
            case "sparsify", "xielu" -> off(honest, (Rows) arguments[0]);
            case "mix" -> off(honest, (Rows) arguments[3]);
            case "addAsLongAs" -> off(honest, (Rows) arguments[2]);
            case "gatedLinear" -> off(honest, ((GatedLinear) arguments[3]).gates());
            case "adaptedGatedLinear" -> off(honest, ((GatedLinear) arguments[1]).gates());
            case "feedExperts" -> off(honest, ((ExpertSum) arguments[3]).output());
            case "ropeAndAppendKv" -> off(honest, (Rows) arguments[0]); // behind which attention reads pages
            default ->
                off(honest, (Rows) Arrays.stream(arguments)
                        .filter(Rows.class::isInstance)
                        .reduce((_, last) -> last)
                        .orElseThrow());
        }
    }

    private static void off(Operations honest, Rows rows) {
        honest.scaleLogits(rows, 1.01f, 0f, 1);
    }
}
