package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.backend.Device;
import roselle.backend.memory.Rows;
import roselle.cuda.driver.NativeDriver;
import roselle.cuda.kernel.CubinCache;
import roselle.sampling.SampleCases;
import roselle.tensor.DataType;

/** A GPU samples the tokens that the host's sampler does, whatever changes the logits before. */
@Tag("gpu")
class CudaSampleTest {
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
    void samplesWhatTheHostSamples(int vocabulary, int rows) {
        var cases = new SampleCases(vocabulary + rows, vocabulary, rows);
        try (Device device = new CudaDevice(new NativeDriver(), 0, DataType.BF16, CubinCache.ofUser())) {
            float[] numbers = cases.logits().toArray(ValueLayout.JAVA_FLOAT);
            Rows logits = Rows.of(device.constants(numbers), vocabulary);
            for (int round = 0; round < 2; round++) { // counts must be zeros again after the first
                device.sample(logits, cases.sampling(), cases.tokens());
                for (int row = 0; row < rows; row++) {
                    assertThat(cases.sampled(row)).as("row %d of %d", row, rows).isEqualTo(cases.expected(row));
                }
            }
        }
    }
}
