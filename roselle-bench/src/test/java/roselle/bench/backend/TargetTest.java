package roselle.bench.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TargetTest {
    @ParameterizedTest
    @CsvSource({
        "http://h:8000, http://h:8000/v1/completions",
        "http://h:8000/, http://h:8000/v1/completions",
        "http://h:8000/v1, http://h:8000/v1/completions",
        "http://h:8000/v1/, http://h:8000/v1/completions",
        "http://h/models/a, http://h/models/a/v1/completions",
        "http://h/models/a/v1/, http://h/models/a/v1/completions",
    })
    void keepsThePathOfAnAddress(String address, String endpoint) {
        assertThat(target(address, "vllm").endpoint().uri()).isEqualTo(URI.create(endpoint));
    }

    @Test
    void findsTheChat() {
        assertThat(target("http://h/v1", "chat").endpoint().uri())
                .isEqualTo(URI.create("http://h/v1/chat/completions"));
    }

    private static Target target(String address, String profile) {
        return new Target("a", URI.create(address), "m", Profile.of(profile).shape(), Map.of(), Optional.empty());
    }
}
