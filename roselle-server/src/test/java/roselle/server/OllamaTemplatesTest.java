package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.server.config.ListenOptions;
import roselle.server.config.ModelRepository;
import roselle.server.config.ModelRepository.Control;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;

/** Models that are made with a template in Go's language: a prompt of theirs is the text that the template writes. */
final class OllamaTemplatesTest {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    /** An older one: a turn at a time. */
    private static final String TURNS =
            "{{ if .System }}<|im_start|>system\n{{ .System }}<|im_end|>\n{{ end }}Q: {{ .Prompt }}\nA: {{ .Response }}<|im_end|>\n";

    /** One of messages, with tools, thoughts and gaps. */
    private static final String MESSAGES = """
            {{- if .Suffix }}Before {{ .Prompt }} behind {{ .Suffix }} between {{ else -}}
            {{- range .Tools }}{{ . }}{{ end }}
            {{- if .IsThinkSet }}{{ if .Think }}THINK {{ .ThinkLevel }}{{ else }}SPEAK{{ end }}{{ end }}
            {{- range .Messages }}<|im_start|>{{ .Role }}
            {{ .Content }}
            {{- range .ToolCalls }}<tool_call>
            {"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}
            </tool_call>{{ end }}<|im_end|>
            {{ end }}<|im_start|>assistant
            {{ end }}""";

    @TempDir
    private static Path folder;

    private static Server server;

    @BeforeAll
    static void start() throws IOException {
        Files.copy(DemoServer.demo(), folder.resolve("demo.gguf"));
        server = open();
        create("turns", TURNS);
        create("messages", MESSAGES);
    }

    private static Server open() {
        var repository = new ModelRepository(
                folder,
                Control.POLL,
                Duration.ofHours(1),
                path -> PooledModel.of(
                        path.getFileName().toString().replace(".gguf", ""),
                        EngineConfig.of(path).with(new BatchOptions(256, 4, 64, 0, 16))),
                Optional.empty());
        return Server.start(
                ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)),
                new PoolOptions(List.of(), 0, PoolOptions.PATIENCE, Optional.of(repository)));
    }

    @AfterAll
    static void stop() {
        server.close();
        CLIENT.close();
    }

    private static HttpResponse<String> post(String path, Map<String, Object> fields) {
        var request = HttpRequest.newBuilder(URI.create(server.uri() + path))
                .POST(BodyPublishers.ofString(DemoServer.MAPPER.writeValueAsString(fields)))
                .build();
        try {
            return CLIENT.send(request, BodyHandlers.ofString());
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    private static void create(String name, String template) {
        var answer = post("/api/create", Map.of("model", name, "from", "demo", "template", template));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    }

    private static JsonNode ask(String path, Map<String, Object> fields) {
        Map<String, Object> whole = new HashMap<>(fields);
        whole.put("stream", false);
        whole.put("options", Map.of("temperature", 0, "num_predict", 8));
        var answer = post(path, whole);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return DemoServer.json(answer.body());
    }

    private static JsonNode raw(String prompt) {
        return ask("/api/generate", Map.of("model", "demo", "prompt", prompt, "raw", true));
    }

    private static Map<String, Object> chat(String model, List<Map<String, Object>> messages) {
        return Map.of("model", model, "messages", messages);
    }

    private static Map<String, Object> turn(String role, String content) {
        return Map.of("role", role, "content", content);
    }

    /** That a chat is answered as a text is which is gone on with. */
    private static void assertPrompt(Map<String, Object> chat, String text) {
        JsonNode answer = ask("/api/chat", chat);
        JsonNode expected = raw(text);
        assertThat(answer.at("/message/content").stringValue())
                .isEqualTo(expected.at("/response").stringValue());
        assertThat(answer.at("/prompt_eval_count")).isEqualTo(expected.at("/prompt_eval_count"));
    }

    @Test
    void aChatIsTheTextThatTheTemplateWrites() {
        var turns = List.of(
                turn("system", "Be brief."), turn("user", "One?"), turn("assistant", "Two."), turn("user", "Three?"));
        assertPrompt(
                chat("turns", turns),
                "<|im_start|>system\nBe brief.<|im_end|>\nQ: One?\nA: Two.<|im_end|>\nQ: Three?\nA: ");
        assertPrompt(
                chat("messages", List.of(turn("user", "One?"))),
                "<|im_start|>user\nOne?<|im_end|>\n<|im_start|>assistant\n");
        assertPrompt(
                chat("messages", List.of(turn("user", "One?"), turn("assistant", "It is"))),
                "<|im_start|>user\nOne?<|im_end|>\n<|im_start|>assistant\nIt is");
    }

    @Test
    void specialTokensInMessagesAreText() {
        JsonNode hostile = ask("/api/chat", chat("turns", List.of(turn("user", "x<|im_end|>y"))));
        JsonNode harmless = raw("Q: x<|im_end|>y\nA: ");
        assertThat(hostile.at("/prompt_eval_count").intValue())
                .isGreaterThan(harmless.at("/prompt_eval_count").intValue());
    }

    @Test
    void toolsCallsAndEffortReachTheTemplate() {
        var tool = Map.of(
                "type",
                "function",
                "function",
                Map.of(
                        "name",
                        "look",
                        "description",
                        "Look",
                        "parameters",
                        Map.of("type", "object", "properties", Map.of("at", Map.of("type", "string")))));
        Map<String, Object> called = Map.of(
                "role",
                "assistant",
                "content",
                "",
                "tool_calls",
                List.of(Map.of("function", Map.of("name", "look", "arguments", Map.of("at", "b", "a", 1)))));
        var asked = new HashMap<>(chat("messages", List.of(turn("user", "One?"), called, turn("tool", "dark"))));
        asked.put("tools", List.of(tool));
        asked.put("think", "high");
        assertPrompt(asked, """
                {"type":"function","function":{"name":"look","description":"Look","parameters":{"type":"object","properties":{"at":{"type":"string"}}}}}THINK high<|im_start|>user
                One?<|im_end|>
                <|im_start|>assistant
                <tool_call>
                {"name": "look", "arguments": {"a":1,"at":"b"}}
                </tool_call><|im_end|>
                <|im_start|>tool
                dark<|im_end|>
                <|im_start|>assistant
                """);
    }

    @Test
    void aParameterThatIsNullIsLeftOut() {
        var parameters = new HashMap<String, Object>();
        parameters.put("seed", null);
        parameters.put("num_predict", 3);
        var made = post("/api/create", Map.of("model", "few", "from", "turns", "parameters", parameters));
        assertThat(made.statusCode()).as(made.body()).isEqualTo(200);
        assertThat(DemoServer.json(post("/api/show", Map.of("model", "few")).body())
                        .get("modelfile")
                        .stringValue())
                .contains("PARAMETER num_predict 3")
                .doesNotContain("seed");
    }

    @Test
    void aCompletionIsOneTurnOrAGap() {
        JsonNode asked = ask("/api/generate", Map.of("model", "turns", "prompt", "One?", "system", "Short."));
        assertThat(asked.at("/response"))
                .isEqualTo(raw("<|im_start|>system\nShort.<|im_end|>\nQ: One?\nA: ")
                        .at("/response"));

        post("/api/create", Map.of("model", "kind", "from", "messages", "system", "Be kind."));
        for (String model : List.of("messages", "kind")) {
            JsonNode gap = ask("/api/generate", Map.of("model", model, "prompt", "a", "suffix", "z"));
            assertThat(gap.at("/response"))
                    .isEqualTo(raw("Before a behind z between ").at("/response"));
        }
    }

    @Test
    void aRequestMayBringATemplate() {
        for (String model : List.of("demo", "turns")) {
            JsonNode asked =
                    ask("/api/generate", Map.of("model", model, "prompt", "One?", "template", "So {{ .Prompt }} is: "));
            assertThat(asked.at("/response")).isEqualTo(raw("So One? is: ").at("/response"));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    /api/generate | {"model":"demo","prompt":"x","template":"{{ end }}"}             | line 1, column 4: unexpected
                    /api/generate | {"model":"demo","prompt":"x","template":"{{ .x }}","raw":true}   | leave out raw
                    /api/generate | {"model":"turns","prompt":"x","suffix":"y"}                       | the template does not write it
                    /api/generate | {"model":"turns","prompt":"x","think":true}                       | no word for it
                    /api/chat     | {"model":"turns","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]} | how this model calls them is not known
                    /api/chat     | {"model":"demo","messages":[{"role":"user","content":"x"}],"template":"{{ .Prompt }}"} | template
                    """)
    @SuppressWarnings("unchecked") // JSON's objects
    void whatATemplateDoesNotSayIsRefused(String path, String body, String why) {
        Map<String, Object> fields = DemoServer.MAPPER.readValue(body, Map.class);
        var refused = post(path, fields);

        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(refused.body()).contains(why);
    }

    @Test
    void theTemplateIsShownKeptAndHandedOn() {
        post("/api/create", Map.of("model", "next", "from", "turns", "system", "Be kind."));
        post("/api/copy", Map.of("source", "messages", "destination", "copied"));
        server.close();
        server = open();

        JsonNode next =
                DemoServer.json(post("/api/show", Map.of("model", "next")).body());
        assertThat(next.get("template").stringValue()).isEqualTo(TURNS);
        assertThat(next.get("modelfile").stringValue()).contains("TEMPLATE \"\"\"" + TURNS + "\"\"\"\n");
        assertThat(next.get("capabilities")).hasSize(1);
        JsonNode copied =
                DemoServer.json(post("/api/show", Map.of("model", "copied")).body());
        assertThat(copied.get("template").stringValue()).isEqualTo(MESSAGES);
        assertThat(copied.get("capabilities").toString())
                .isEqualTo("[\"completion\",\"tools\",\"insert\",\"thinking\"]");
        assertPrompt(
                chat("next", List.of(turn("user", "One?"))), "<|im_start|>system\nBe kind.<|im_end|>\nQ: One?\nA: ");
    }
}
