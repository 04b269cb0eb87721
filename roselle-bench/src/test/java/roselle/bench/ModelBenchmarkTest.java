package roselle.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModelBenchmarkTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 20_000, 24_576, 32_768, 1_000_000, Integer.MAX_VALUE})
    void tokensAreOfTheVocabularyWhateverTheContext(int position) {
        for (int row : new int[] {0, 1, 16_383}) {
            assertThat(ModelBenchmark.tokenAt(row, position, 128_256)).isBetween(0, 128_255);
        }
    }
}
