package roselle.cli.option;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PullOfferTest {
    @TempDir
    private Path cache;

    private final List<String> questions = new ArrayList<>();

    private Path accepted(String written, boolean answer) {
        return PullOffer.accepted(Path.of(written), cache, question -> {
            questions.add(question);
            return answer;
        });
    }

    @Test
    void aYesMakesAHubNameOfIt() {
        assertThat(accepted("Qwen/Qwen3-0.6B", true)).isEqualTo(Path.of("hf:Qwen/Qwen3-0.6B"));
        assertThat(accepted("Qwen/Qwen3-0.6B", false)).isEqualTo(Path.of("Qwen/Qwen3-0.6B"));
        assertThat(questions).hasSize(2).allMatch(question -> question.contains("Fetch the model hf:Qwen/Qwen3-0.6B"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"demo", "hf:Qwen/Qwen3-0.6B", "/models/Qwen", "src/test", "src/tset", "./a/b/c"})
    void asksForNothingElse(String written) {
        assertThat(accepted(written, true)).isEqualTo(Path.of(written));
        assertThat(questions).isEmpty();
    }
}
