package roselle.server.ollama;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ModelDetailsTest {
    @ParameterizedTest
    @CsvSource({
        "0,''",
        "999,999",
        "260032,260K",
        "134515008,134.52M",
        "7000000,7M",
        "3212749888,3.2B",
        "70000000000,70B"
    })
    void writesSizesAsOllamaDoes(long parameters, String text) {
        assertThat(ModelDetails.size(parameters)).isEqualTo(text);
    }
}
