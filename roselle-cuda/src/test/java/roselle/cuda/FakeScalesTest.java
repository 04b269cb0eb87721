package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.api.DeviceException;
import roselle.quantization.Group;
import roselle.quantization.GroupScales;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Scales that no kernel reads are refused when memory is planned, before anything is loaded. */
class FakeScalesTest {
    @Test
    void refusesScalesInASecondTensor() {
        try (var arena = Arena.ofConfined();
                var backend = new FakeDriver(FakeDriver.Card.HOPPER).open(DataType.BF16)) {
            var codes = new Tensor("weight", DataType.F8_E4M3, Shape.of(128, 256), arena.allocate(128 * 256));
            var scales = new Tensor("scales", DataType.F32, Shape.of(1, 2), arena.allocate(8, 4));
            List<StoredMatrix> blocks =
                    List.of(new StoredMatrix.Scaled(codes, new GroupScales(new Group(128, 128), scales, 0)));
            assertThatThrownBy(() -> backend.loadBytes(1, blocks))
                    .isInstanceOf(DeviceException.class)
                    .hasMessageContaining("tensor weight has a scale for each 128×128, which no kernel reads yet");
            assertThatThrownBy(() -> backend.load("test", 1, blocks)).isInstanceOf(DeviceException.class);
        }
    }
}
