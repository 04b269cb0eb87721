package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import tools.jackson.databind.JsonNode;

/** Texts that are filled in between two others, by the demo model with three of its tokens called as such models have them. */
final class InfillTest {
    private static final String BEFORE = "Once upon a time there was a ";
    private static final String AFTER = " who lived in the forest.";

    @TempDir
    private static Path folder;

    private static DemoServer demo;

    @BeforeAll
    static void start() throws IOException {
        byte[] bytes = Files.readAllBytes(DemoServer.demo());
        rename(bytes, "<|tool_call|>", "<|prefix|>");
        rename(bytes, "<|think|>", "<|suffix|>");
        rename(bytes, "<|/think|>", "<|middle|>");
        Path file = folder.resolve("infill.gguf");
        Files.write(file, bytes);
        demo = new DemoServer(Engine.open(EngineConfig.of(file)));
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    /** Gives the first text with a name another one; the model's own name takes or gives what lengths differ by. */
    private static void rename(byte[] file, String from, String to) {
        int token = find(file, (char) from.length() + "\0".repeat(Long.BYTES - 1) + from) + Long.BYTES;
        int name = find(file, "general.name") + "general.name".length() + Integer.BYTES;
        assertThat(name).isLessThan(token);
        var header = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        int length = (int) header.getLong(name);
        int more = from.length() - to.length();
        int nameEnd = name + Long.BYTES + length;
        byte[] between = Arrays.copyOfRange(file, nameEnd, token);
        header.putLong(name, length + more);
        header.position(nameEnd);
        for (int blank = 0; blank < more; blank++) {
            header.put((byte) ' ');
        }
        header.position(nameEnd + more).put(between);
        header.putLong(token + more - Long.BYTES, to.length());
        header.position(token + more).put(to.getBytes(StandardCharsets.UTF_8));
    }

    private static int find(byte[] file, String text) {
        String header = new String(file, 0, Math.min(file.length, 1 << 20), StandardCharsets.ISO_8859_1);
        int at = header.indexOf(text);
        assertThat(at).as(text).isPositive();
        return at;
    }

    @Test
    void bothPathsContinueTheTokensThatAskForIt() {
        List<Integer> prompt = new ArrayList<>(ids("", true));
        prompt.add(token("<|prefix|>"));
        prompt.addAll(ids(BEFORE, false));
        prompt.add(token("<|suffix|>"));
        prompt.addAll(ids(AFTER, false));
        prompt.add(token("<|middle|>"));
        String limits = ",\"max_tokens\":6,\"temperature\":0}";
        String expected = answer("/v1/completions", "{\"prompt\":" + prompt + limits)
                .at("/choices/0/text")
                .stringValue();

        String texts = "\"prompt\":\"" + BEFORE + "\",\"suffix\":\"" + AFTER + "\"";
        JsonNode completion = answer("/v1/completions", "{" + texts + limits);
        JsonNode infill = answer("/infill", "{" + infill("") + ",\"n_predict\":6,\"temperature\":0}");

        JsonNode ollama = answer(
                "/api/generate", "{" + texts + ",\"stream\":false,\"options\":{\"num_predict\":6,\"temperature\":0}}");
        assertThat(ollama.at("/response").stringValue()).isEqualTo(expected);
        assertThat(ollama.at("/prompt_eval_count").intValue()).isEqualTo(prompt.size());
        assertThat(completion.at("/choices/0/text").stringValue())
                .isEqualTo(expected)
                .isNotBlank();
        assertThat(completion.at("/usage/prompt_tokens").intValue()).isEqualTo(prompt.size());
        assertThat(infill.at("/content").stringValue()).isEqualTo(expected);
    }

    @Test
    void whatIsFilledInBeginsWithThePrompt() {
        JsonNode plain = answer("/infill", "{" + infill("") + ",\"n_predict\":1}");
        JsonNode begun = answer("/infill", "{" + infill("fox") + ",\"n_predict\":1}");

        assertThat(begun.at("/tokens_evaluated").intValue())
                .isEqualTo(plain.at("/tokens_evaluated").intValue()
                        + ids("fox", false).size());
    }

    @Test
    void spellingsInTextsAreText() {
        JsonNode plain = answer("/infill", "{" + infill("<|middle|>") + ",\"n_predict\":1}");

        assertThat(plain.at("/tokens_evaluated").intValue())
                .isGreaterThan(answer("/infill", "{" + infill("") + ",\"n_predict\":1}")
                                .at("/tokens_evaluated")
                                .intValue()
                        + 1);
    }

    @Test
    void theDocumentKnowsTheFields() {
        var description = Description.of(demo);

        assertThat(description.request("/infill")).isEqualTo("LlamaCppInfillRequest");
        assertThat(description.complaints(
                        "LlamaCppInfillRequest",
                        DemoServer.json("{" + infill("fox") + ",\"n_predict\":1,\"input_extra\":[]}")))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/infill | {\"input_suffix\":\"a\"} | input_prefix is missing",
                "/infill | {\"input_prefix\":\"a\"} | input_suffix is missing",
                "/infill | {\"input_prefix\":\"a\",\"input_suffix\":\"a\",\"input_extra\":[{}]} | input_extra is",
                "/v1/completions | {\"prompt\":\"a\",\"suffix\":\"a\",\"echo\":true} | suffix and echo",
                "/api/generate | {\"prompt\":\"a\",\"suffix\":\"a\",\"raw\":true} | suffix is there, but",
                "/api/generate | {\"prompt\":\"a\",\"suffix\":\"a\",\"system\":\"a\"} | system is there, but",
            })
    void refusesWhatCannotBeFilledIn(String path, String body, String said) {
        var refused = demo.post(path, body);

        assertThat(refused.statusCode()).isEqualTo(400);
        String place = path.startsWith("/api/") ? "/error" : "/error/message";
        assertThat(DemoServer.json(refused.body()).at(place).stringValue()).startsWith(said);
    }

    @Test
    void aModelWithoutSuchTokensSaysSo() {
        try (var plain = new DemoServer()) {
            var infill = plain.post("/infill", "{" + infill("") + "}");
            var completion = plain.post("/v1/completions", "{\"prompt\":\"a\",\"suffix\":\"b\"}");

            assertThat(infill.statusCode()).isEqualTo(400);
            assertThat(infill.body()).contains("has no tokens to fill in text with");
            assertThat(DemoServer.json(completion.body()).at("/error/param").stringValue())
                    .isEqualTo("suffix");
        }
    }

    private static String infill(String begun) {
        return "\"input_prefix\":\"" + BEFORE + "\",\"input_suffix\":\"" + AFTER + "\",\"prompt\":\"" + begun + "\"";
    }

    private static int token(String spelling) {
        return demo.engine().tokenizer().idOf(spelling).orElseThrow();
    }

    private static List<Integer> ids(String text, boolean addsSpecial) {
        return answer(
                        "/tokenize",
                        "{\"content\":\"" + text + "\",\"add_special\":" + addsSpecial + ",\"parse_special\":false}")
                .at("/tokens")
                .valueStream()
                .map(JsonNode::intValue)
                .toList();
    }

    private static JsonNode answer(String path, String body) {
        var response = demo.post(path, body);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body());
    }
}
