package roselle.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import roselle.bench.metric.RequestSample;

final class ExchangeTest {
    private static final String HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    private static final String END = """
            data: {"choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"stop","stop_reason":null}]}

            """;

    /** As vLLM 0.26 answers a prompt whose first token is the end of text. */
    @Test
    void anAnswerWhoseOneTokenIsItsEndIsAnAnswer() {
        RequestSample sample = heard(END + """
                data: {"choices":[],"usage":{"prompt_tokens":2,"total_tokens":3,"completion_tokens":1}}

                data: [DONE]

                """);

        assertThat(sample.failure()).isEmpty();
        assertThat(sample.tokens()).isEqualTo(1);
        assertThat(sample.hasFirst()).isTrue();
        assertThat(sample.ttftMillis()).isEqualTo(7);
        assertThat(sample.e2eMillis()).isEqualTo(7);
        assertThat(sample.hasTpot()).isFalse();
    }

    @Test
    void anAnswerWithoutATokenIsAFailure() {
        assertThat(heard(END + "data: [DONE]\n\n").failure()).contains("the answer has no token");
        assertThat(heard(END + """
                data: {"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":0}}

                data: [DONE]

                """).failure()).contains("the answer has no token");
    }

    /** Sent at 0, all heard at 7 ms. */
    private static RequestSample heard(String body) {
        var exchange = new Exchange(new LoadRequest(0, 0, 2, 12, () -> new byte[0]), new byte[0]);
        exchange.start(0, 0);
        var reader = new AnswerReader();
        exchange.hear(reader);
        byte[] answer = (HEAD + body).getBytes(StandardCharsets.US_ASCII);
        reader.feed(answer, answer.length, 7_000_000);
        reader.end(7_000_000);
        return exchange.finished(7_000_000);
    }
}
