package roselle.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProductTest {
    @Test
    void everyFormatMultipliesAsItsScalarTwinAtThePreferredWidth() {
        assertThat(new ProductContract(2_025).faults()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void everyFormatMultipliesAsItsScalarTwinAtAForcedWidth(int bits) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--add-modules",
                        "jdk.incubator.vector",
                        "-ea",
                        "-D" + Lanes.PROPERTY + "=" + bits,
                        "-cp",
                        System.getProperty("java.class.path"),
                        ProductContract.class.getName()))
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        assertThat(said).contains("lanes " + bits / 32 + ", faults 0");
    }
}
