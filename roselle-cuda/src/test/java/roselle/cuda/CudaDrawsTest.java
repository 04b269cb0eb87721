package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.backend.Device;
import roselle.backend.Rows;
import roselle.cuda.driver.NativeDriver;
import roselle.sampling.DrawCases;
import roselle.tensor.DataType;

/** A GPU draws the tokens that the host's sampler draws, whatever changes the logits before. */
@Tag("gpu")
class CudaDrawsTest {
    @ParameterizedTest
    @CsvSource({
        "1,20",
        "2,40",
        "5,80",
        "37,80",
        "100,80",
        "1000,80",
        "7001,80",
        "7001,9",
        "50257,80",
        "50257,8",
        "128256,40"
    })
    void drawsWhatTheHostDraws(int vocabulary, int rows) {
        var cases = new DrawCases(vocabulary + rows, vocabulary, rows);
        try (Device device = new CudaDevice(new NativeDriver(), 0, DataType.BF16, CubinCache.ofUser())) {
            float[] numbers = cases.logits().toArray(ValueLayout.JAVA_FLOAT);
            Rows logits = Rows.of(device.constants(numbers), vocabulary);
            for (int round = 0; round < 2; round++) { // counts must be zeros again after the first
                device.draw(logits, cases.draws(), rows);
                for (int row = 0; row < rows; row++) {
                    assertThat(cases.drawn(row)).as("row %d of %d", row, rows).isEqualTo(cases.expected(row));
                }
            }
        }
    }
}
