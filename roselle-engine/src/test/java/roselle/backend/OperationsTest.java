package roselle.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import org.junit.jupiter.api.Test;
import roselle.backend.operation.Operations;

class OperationsTest {
    /** A body would be inherited by whoever wraps operations, and be called in place of the device's own. */
    @Test
    void noOperationHasABody() {
        for (Method method : Operations.class.getDeclaredMethods()) {
            assertThat(Modifier.isAbstract(method.getModifiers()))
                    .as(method.getName())
                    .isTrue();
        }
    }
}
