package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.api.DeviceException;
import roselle.backend.memory.KvType;
import roselle.backend.step.StepDemands;
import roselle.backend.step.StepLimits;
import roselle.cuda.FakeDriver.Card;
import roselle.tensor.DataType;

/** What a decoder has that GPUs have no kernels for is refused in words, when its memory is planned and before its first step. */
class FakeSpecialTest {
    private static final StepLimits LIMITS = new StepLimits(8, 8, 8, 64, 16);

    @Test
    void refusesWhatItHasNoKernelsForByItsName() {
        var driver = new FakeDriver(Card.HOPPER.withBytes(16L << 30));
        try (var device = driver.open(DataType.BF16)) {
            StepDemands special = demands(List.of("attention in chunks", "norms behind their rotation"));
            String words = "layers of this model have attention in chunks, norms behind their rotation";
            assertThatThrownBy(() -> device.stepBytes(special))
                    .isInstanceOf(DeviceException.class)
                    .hasMessageContaining(words);
            assertThatThrownBy(() -> device.prepare(special))
                    .isInstanceOf(DeviceException.class)
                    .hasMessageContaining("--device cpu");
            assertThatCode(() -> device.stepBytes(demands(List.of()))).doesNotThrowAnyException();
        }
    }

    private static StepDemands demands(List<String> special) {
        return new StepDemands(LIMITS, KvType.BF16, 1, List.of(), 64, 64, 64, 0, 0, 0, special);
    }
}
