package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

final class CompletionTest {
    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer();
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    @Test
    void continuesAText() {
        JsonNode body = complete("\"prompt\":\"Once upon a time\",\"max_tokens\":8");

        assertThat(body.at("/object").stringValue()).isEqualTo("text_completion");
        assertThat(body.at("/choices/0/text").stringValue()).isNotEmpty();
        assertThat(body.at("/usage/completion_tokens").intValue()).isEqualTo(8);
    }

    @Test
    void continuesAtMostSixteenTokensUnasked() {
        JsonNode body = complete("\"prompt\":\"Once upon a time\",\"ignore_eos\":true");

        assertThat(body.at("/usage/completion_tokens").intValue()).isEqualTo(16);
    }

    @Test
    void continuesTokenIdsAsTheirText() {
        List<Integer> ids = ids("Once upon a time");

        assertThat(text(complete("\"prompt\":" + ids + ",\"max_tokens\":8"), 0))
                .isEqualTo(text(complete("\"prompt\":\"Once upon a time\",\"max_tokens\":8"), 0));
    }

    @Test
    void continuesSeveralPromptsEachAsAlone() {
        String list = "[\"Once upon a time\",\"The fox\"]";
        JsonNode together = complete("\"prompt\":" + list + ",\"n\":2,\"max_tokens\":8,\"seed\":7");

        assertThat(together.at("/choices").size()).isEqualTo(4);
        assertThat(IntStream.range(0, 4)
                        .mapToObj(index ->
                                together.at("/choices/" + index + "/index").intValue()))
                .containsExactly(0, 1, 2, 3);
        assertThat(text(together, 0)).isEqualTo(text(complete("\"prompt\":\"Once upon a time\",\"max_tokens\":8"), 0));
        assertThat(text(together, 2)).isEqualTo(text(complete("\"prompt\":\"The fox\",\"max_tokens\":8"), 0));
    }

    @Test
    void streamsSeveralPromptsIntoTheirChoices() {
        String fields = "\"prompt\":[\"Once upon a time\",\"The fox\"],\"max_tokens\":8,\"echo\":true";
        JsonNode whole = complete(fields);

        List<JsonNode> chunks = stream(fields);

        for (int choice = 0; choice < 2; choice++) {
            assertThat(joined(chunks, choice)).isEqualTo(text(whole, choice));
        }
    }

    @Test
    void echoesAndScoresThePromptAlone() {
        JsonNode body = complete("\"prompt\":\"The quick brown fox\",\"echo\":true,\"logprobs\":2,\"max_tokens\":0");

        JsonNode logprobs = body.at("/choices/0/logprobs");
        assertThat(text(body, 0)).isEqualTo("The quick brown fox");
        assertThat(body.at("/usage/completion_tokens").intValue()).isZero();
        assertThat(logprobs.at("/tokens").size())
                .isEqualTo(body.at("/usage/prompt_tokens").intValue());
        assertThat(logprobs.at("/token_logprobs/0").isNull()).isTrue();
        assertThat(logprobs.at("/token_logprobs/1").doubleValue()).isNegative();
        assertThat(logprobs.at("/top_logprobs/1").size()).isEqualTo(2);
    }

    @Test
    void tellsWhereInTheTextEachTokenBegins() {
        JsonNode body = complete("\"prompt\":\"Once upon a time\",\"max_tokens\":8,\"logprobs\":0");
        JsonNode logprobs = body.at("/choices/0/logprobs");
        String text = text(body, 0);

        for (int token = 0; token < 8; token++) {
            int offset = logprobs.at("/text_offset/" + token).intValue();
            assertThat(text.substring(offset))
                    .startsWith(logprobs.at("/tokens/" + token).stringValue());
        }
    }

    @Test
    void streamsTheSameLogprobs() {
        String fields = "\"prompt\":\"Once upon a time\",\"max_tokens\":8,\"logprobs\":1,\"echo\":true";
        JsonNode whole = complete(fields);

        List<JsonNode> chunks = stream(fields);

        List<Integer> offsets = chunks.stream()
                .flatMap(chunk -> IntStream.range(
                                0, chunk.at("/choices/0/logprobs/text_offset").size())
                        .mapToObj(index -> chunk.at("/choices/0/logprobs/text_offset/" + index)
                                .intValue()))
                .toList();
        assertThat(offsets.toString())
                .isEqualTo(
                        whole.at("/choices/0/logprobs/text_offset").toString().replace(",", ", "));
    }

    @Test
    void rendersTheTokensOfEachPrompt() {
        JsonNode rendered =
                DemoServer.json(demo.post("/v1/completions/render", "{\"prompt\":[\"a fox\",\"a\"],\"max_tokens\":4}")
                        .body());

        assertThat(rendered).hasSize(2);
        assertThat(rendered.at("/0/token_ids").valueStream().map(JsonNode::intValue))
                .isEqualTo(ids("a fox"));
        assertThat(rendered.at("/1/token_ids").valueStream().map(JsonNode::intValue))
                .isEqualTo(ids("a"));
        assertThat(DemoServer.json(demo.post("/v1/completions/render", "{\"prompt\":[7,8]}")
                                .body())
                        .at("/0/token_ids")
                        .toString())
                .isEqualTo("[7,8]");
        assertThat(demo.post("/v1/completions/render", "{\"prompt\":[[]]}").statusCode())
                .isEqualTo(400);
    }

    @Test
    void endsBeforeAStopString() {
        String free = text(complete("\"prompt\":\"Once upon a time\",\"max_tokens\":24"), 0);
        String stop = free.substring(free.length() / 2, free.length() / 2 + 4);

        JsonNode body = complete("\"prompt\":\"Once upon a time\",\"max_tokens\":24,\"stop\":\"" + stop + "\"");

        assertThat(text(body, 0)).isEqualTo(free.substring(0, free.indexOf(stop)));
        assertThat(body.at("/choices/0/finish_reason").stringValue()).isEqualTo("stop");
    }

    private static JsonNode complete(String fields) {
        var response = demo.post("/v1/completions", "{\"temperature\":0," + fields + "}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body());
    }

    private static List<JsonNode> stream(String fields) {
        var response = demo.post("/v1/completions", "{\"temperature\":0,\"stream\":true," + fields + "}");
        List<String> events = DemoServer.events(response.body());
        assertThat(events.getLast()).isEqualTo("[DONE]");
        return events.subList(0, events.size() - 1).stream()
                .map(DemoServer::json)
                .toList();
    }

    private static String joined(List<JsonNode> chunks, int choice) {
        return chunks.stream()
                .filter(chunk -> chunk.at("/choices/0/index").intValue() == choice)
                .map(chunk -> chunk.at("/choices/0/text").stringValue())
                .collect(Collectors.joining());
    }

    private static String text(JsonNode body, int choice) {
        return body.at("/choices/" + choice + "/text").stringValue();
    }

    private static List<Integer> ids(String text) {
        JsonNode body = DemoServer.json(
                demo.post("/tokenize", "{\"prompt\":\"" + text + "\"}").body());
        return IntStream.range(0, body.at("/count").intValue())
                .mapToObj(index -> body.at("/tokens/" + index).intValue())
                .toList();
    }
}
