package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.DeviceException;
import roselle.api.GenerationEvent;
import roselle.cuda.FakeDriver.Card;
import roselle.cuda.FakeDriver.Fault;
import roselle.engine.Engine;
import roselle.engine.EngineOnDevice;
import roselle.engine.Generation;
import roselle.tensor.DataType;

/** Whatever call of the driver fails: nothing hangs, everybody hears of it, and everything is returned. */
class FakeFailureTest {
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources/tiny-models");

    /** Calls that return something, which stays where they fail. */
    private static final String RETURNING = "cu.*(Free|Destroy|Unload|Unmap|Release).*";

    static List<Fault> faults() {
        return List.of(Fault.UNKNOWN, Fault.OUT_OF_MEMORY, Fault.ILLEGAL_ADDRESS, Fault.LAUNCH_FAILED);
    }

    private static Engine open(String model, FakeDriver driver) {
        return EngineOnDevice.open(FakeDeviceTest.config(MODELS.resolve(model)), driver.open(DataType.BF16));
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "qwen3_moe"})
    void anOpenThatFailsAtAnyCallReturnsAllThatItTook(String model) {
        var whole = new FakeDriver(Card.HOPPER);
        open(model, whole).close();
        for (Fault fault : faults()) {
            long call = 1;
            for (boolean failed = true; failed; call++) {
                var driver = new FakeDriver(Card.HOPPER);
                driver.failAt(call, fault);
                failed = fails(model, driver);
                boolean returned = failed && !driver.failed().matches(RETURNING);
                String mayStay = returned ? "" : "(1 [a-z ]+; )?"; // what that call was to return
                assertThat(driver.leaks())
                        .as("%s at call %d of %s", fault.name(), call, model)
                        .matches(mayStay);
            }
            assertThat(call).as("calls of an open").isGreaterThan(100);
        }
    }

    private static boolean fails(String model, FakeDriver driver) {
        long before;
        try (Engine engine = open(model, driver)) {
            before = driver.calls();
            assertThat(engine.status().isAlive()).isTrue();
        } catch (DeviceException failure) {
            assertThat(failure)
                    .hasMessageMatching("(?s)(CUDA's cu\\w+(\\(\\w+\\))? failed with CUDA_ERROR_.*|the device has .*)");
            return true;
        }
        assertThat(before).isPositive();
        return false;
    }

    @ParameterizedTest
    @MethodSource("faults")
    void aCallThatFailsAmongRequestsFailsAllOfThemAndNoneHangs(Fault fault) {
        var whole = new FakeDriver(Card.HOPPER);
        long ready;
        long done;
        try (Engine engine = open("gpt2", whole)) {
            ready = whole.calls();
            FakeDeviceTest.generate(engine);
            done = whole.calls();
        }
        for (long call = ready + 1; call < done; call += 1 + (call - ready) / 8) {
            var driver = new FakeDriver(Card.HOPPER);
            driver.failAt(call, fault);
            Engine engine = open("gpt2", driver);
            try (engine) {
                failAmongRequests(engine, fault, call);
            }
            engine.close();
            String mayStay = driver.failed().matches(RETURNING) ? "(1 [a-z ]+; )?" : "";
            assertThat(driver.leaks())
                    .as("%s at call %d, %s", fault.name(), call, driver.failed())
                    .matches(mayStay);
        }
    }

    @Test
    void aCallThatFailsWhileClosingKeepsNothingElseFromBeingReturned() {
        var whole = new FakeDriver(Card.HOPPER);
        long done;
        try (Engine engine = open("gpt2", whole)) {
            FakeDeviceTest.generate(engine);
            done = whole.calls();
        }
        for (long call = done + 1; call <= whole.calls(); call++) {
            var driver = new FakeDriver(Card.HOPPER);
            try (Engine engine = open("gpt2", driver)) {
                FakeDeviceTest.generate(engine);
                driver.failAt(driver.calls() + call - done, Fault.UNKNOWN);
            }
            assertThat(driver.leaks()).as("call %d", call - done).matches("(1 [a-z ]+; )?");
        }
    }

    private static void failAmongRequests(Engine engine, Fault fault, long call) {
        var generations = new ArrayList<Generation>();
        try {
            for (int i = 0; i < 6; i++) {
                generations.add(engine.submit(FakeDeviceTest.request(1 + 23 * i, 4 + i)));
            }
        } catch (DeviceException deadAlready) {
            assertThat(deadAlready).hasMessageStartingWith("the engine failed and must be opened again: ");
        }
        int failed = 0;
        for (Generation generation : generations) {
            failed += failed(generation, fault) ? 1 : 0;
        }
        if (failed == 0) {
            return; // the call that fails is one of those that close the engine
        }
        assertThat(engine.status().isAlive()).as("after call %d", call).isFalse();
        assertThatThrownBy(() -> engine.submit(FakeDeviceTest.request(3, 3)))
                .isInstanceOf(DeviceException.class)
                .hasMessageStartingWith("the engine failed and must be opened again: ")
                .hasMessageContaining(cause(fault));
    }

    private static String cause(Fault fault) {
        return fault.equals(Fault.OUT_OF_MEMORY) ? "" : fault.name();
    }

    private static boolean failed(Generation generation, Fault fault) {
        List<GenerationEvent> ends = new ArrayList<>();
        for (GenerationEvent event : generation) {
            if (event instanceof GenerationEvent.Failed || event instanceof GenerationEvent.Finished) {
                ends.add(event);
            }
        }
        assertThat(ends).hasSize(1);
        if (ends.getFirst() instanceof GenerationEvent.Failed end) {
            assertThat(end.message())
                    .startsWith("the engine failed and must be opened again: ")
                    .contains(cause(fault));
            return true;
        }
        return false;
    }
}
