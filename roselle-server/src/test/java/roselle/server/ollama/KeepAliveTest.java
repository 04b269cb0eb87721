package roselle.server.ollama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.server.http.ApiException;
import roselle.server.http.Json;

/** Times as Go writes them, and numbers of seconds. */
final class KeepAliveTest {
    private static Optional<Duration> read(String value) {
        return KeepAlive.read(Json.object(("{\"keep_alive\":" + value + "}").getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @CsvSource({
        "0,PT0S",
        "5,PT5S",
        "1.5,PT1.5S",
        "-1,PT-1S",
        "-0.5,PT-1S",
        "1e300,PT-1S",
        "'\"0\"',PT0S",
        "'\"-0s\"',PT0S",
        "'\"5m\"',PT5M",
        "'\"1h30m\"',PT1H30M",
        "'\"250ms\"',PT0.25S",
        "'\"1.5h\"',PT1H30M",
        "'\"-5m\"',PT-1S",
        "'\"10us\"',PT0.00001S"
    })
    void readsTimes(String value, Duration time) {
        assertThat(read(value)).contains(time);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"\"", "\"5\"", "\"soon\"", "\"5 m\"", "true", "[5]"})
    void refusesWhatIsNone(String value) {
        assertThatThrownBy(() -> read(value)).isInstanceOf(ApiException.class).hasMessageContaining("keep_alive");
    }

    @Test
    void takesNothingForNothing() {
        assertThat(read("null")).isEmpty();
    }
}
