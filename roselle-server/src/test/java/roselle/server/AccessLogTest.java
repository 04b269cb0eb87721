package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import roselle.api.InvalidRequestException;
import roselle.server.config.LogOptions;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;

/** Lines of requests: what is in them, and what is not. */
final class AccessLogTest {
    private static final String BODY =
            "{\"messages\":[{\"role\":\"user\",\"content\":\"a secret\"}],\"max_tokens\":5,\"ignore_eos\":true,\"stream\":true}";

    private static List<String> lines(LogOptions.Format format) throws Exception {
        var lines = new CopyOnWriteArrayList<String>();
        try (var demo = new DemoServer(ServerConfig.DEFAULT.with(new LogOptions(format, lines::add)))) {
            demo.post("/v1/chat/completions", BODY);
            demo.post("/v1/chat/completions", "{\"messages\":[]}");
            demo.get("/nowhere?word=secret");
        }
        return lines;
    }

    @Test
    void tellsWhatWasAskedAndWhatItTookButNotWhatWasSaid() throws Exception {
        List<String> lines = lines(LogOptions.Format.JSON);

        assertThat(lines).hasSize(3).noneMatch(line -> line.contains("secret"));
        JsonNode answered = DemoServer.json(lines.get(0));
        assertThat(answered.at("/method").stringValue()).isEqualTo("POST");
        assertThat(answered.at("/path").stringValue()).isEqualTo("/v1/chat/completions");
        assertThat(answered.at("/status").intValue()).isEqualTo(200);
        assertThat(answered.at("/model").stringValue()).isEqualTo("demo");
        assertThat(answered.at("/output_tokens").intValue()).isEqualTo(5);
        assertThat(answered.at("/prompt_tokens").intValue()).isPositive();
        assertThat(answered.at("/millis").intValue())
                .isGreaterThanOrEqualTo(answered.at("/first_token_millis").intValue());
        assertThat(answered.at("/id").stringValue()).isNotEmpty();
        assertThat(DemoServer.json(lines.get(1)).at("/status").intValue()).isEqualTo(400);
        assertThat(DemoServer.json(lines.get(2)).at("/status").intValue()).isEqualTo(404);
    }

    @Test
    void tellsTheSameAsText() throws Exception {
        assertThat(lines(LogOptions.Format.TEXT).getFirst())
                .matches(
                        "time=\\S+Z peer=127.0.0.1 method=POST path=/v1/chat/completions status=200 id=\\S+ millis=\\d+"
                                + " model=demo prompt_tokens=\\d+ cached_tokens=\\d+ output_tokens=5 first_token_millis=\\d+");
    }

    @Test
    void tellsNothingUnlessAskedTo() throws Exception {
        assertThat(lines(LogOptions.Format.NONE)).isEmpty();
    }

    @Test
    void refusesOtherFormats() {
        assertThatThrownBy(() -> LogOptions.format("xml"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("access-log is xml: it must be one of none, text, json");
    }
}
