// Anthropic's official Java client against a running server: java -cp ... AnthropicClient http://127.0.0.1:8000
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.JsonValue;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.errors.BadRequestException;
import com.anthropic.errors.NotFoundException;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.messages.ContentBlock;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCountTokensParams;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import com.anthropic.models.messages.StopReason;
import com.anthropic.models.messages.Tool;
import com.anthropic.models.messages.ToolResultBlockParam;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.ToolUseBlock;
import java.util.List;
import java.util.Map;

final class AnthropicClient {
    /** What the model answers with, where it is held to this class. */
    static final class Animal {
        public int legs;
    }

    private static final String STORY = "Tell me a story about a fox.";
    private static final String QUESTION = "What is the weather in Oslo?";

    private final com.anthropic.client.AnthropicClient client;

    private AnthropicClient(String url) {
        client = AnthropicOkHttpClient.builder()
                .baseUrl(url)
                .apiKey("unused")
                .maxRetries(0)
                .build();
    }

    private static void require(boolean isTrue, Object what) {
        if (!isTrue) {
            throw new AssertionError(what);
        }
    }

    /** The client's builders know no temperature any more. */
    private static MessageCreateParams.Builder asked(int maxTokens, String text) {
        return MessageCreateParams.builder()
                .model("demo")
                .maxTokens(maxTokens)
                .putAdditionalBodyProperty("temperature", JsonValue.from(0))
                .addUserMessage(text);
    }

    private static Tool weather() {
        var city = Tool.InputSchema.Properties.builder()
                .putAdditionalProperty("city", JsonValue.from(Map.of("type", "string")))
                .build();
        return Tool.builder()
                .name("get_weather")
                .description("The weather in a city now")
                .inputSchema(Tool.InputSchema.builder().properties(city).addRequired("city").build())
                .build();
    }

    private static String text(Message message) {
        return message.content().stream()
                .flatMap(block -> block.text().stream())
                .map(block -> block.text())
                .reduce("", String::concat);
    }

    private void models() {
        require(client.models().list().items().getFirst().id().equals("demo"), "models");
        require(client.models().retrieve("demo").id().equals("demo"), "a model");
    }

    private void messagesAndStreamingAgree() {
        Message whole = client.messages().create(asked(16, STORY).build());
        require(whole.stopReason().orElseThrow().equals(StopReason.MAX_TOKENS), whole);
        require(whole.usage().outputTokens() == 16, whole);
        var accumulator = MessageAccumulator.create();
        try (StreamResponse<RawMessageStreamEvent> stream =
                client.messages().createStreaming(asked(16, STORY).build())) {
            stream.stream().forEach(accumulator::accumulate);
        }
        require(text(accumulator.message()).equals(text(whole)), accumulator.message());
        require(accumulator.message().usage().outputTokens() == 16, accumulator.message());
    }

    private void countsTokens() {
        long counted = client.messages()
                .countTokens(MessageCountTokensParams.builder()
                        .model("demo")
                        .addUserMessage(STORY)
                        .build())
                .inputTokens();
        var usage = client.messages().create(asked(2, STORY).build()).usage();
        require(counted == usage.inputTokens() + usage.cacheReadInputTokens().orElse(0L), counted);
    }

    private void toolsThereAndBack() {
        Message message = client.messages().create(asked(60, QUESTION).addTool(weather()).build());
        require(message.stopReason().orElseThrow().equals(StopReason.TOOL_USE), message);
        ContentBlock last = message.content().getLast();
        ToolUseBlock call = last.asToolUse();
        require(call.name().equals("get_weather") && call._input().equals(JsonValue.from(Map.of("city", "Oslo"))), call);
        var result = ToolResultBlockParam.builder()
                .toolUseId(call.id())
                .content("{\"temperature\": 7}")
                .build();
        Message answer = client.messages()
                .create(asked(60, QUESTION)
                        .addTool(weather())
                        .addMessage(message)
                        .addUserMessageOfBlockParams(List.of(ContentBlockParam.ofToolResult(result)))
                        .build());
        require(text(answer).contains("Oslo"), answer);
    }

    private void givesTypes() {
        var answer = client.messages().create(asked(60, STORY).outputConfig(Animal.class).build());
        require(answer.content().getFirst().asText().text() instanceof Animal, answer);
    }

    private void thinks() {
        Message answer = client.messages()
                .create(asked(2000, "What is 12 + 30?").enabledThinking(1024).build());
        require(answer.content().getFirst().isThinking(), answer);
        require(text(answer).contains("42"), answer);
    }

    private void tellsErrors() {
        try {
            client.messages().create(asked(2, STORY).model("other").build());
            throw new AssertionError("another model answered");
        } catch (NotFoundException expected) {
            require(expected.getMessage().contains("no model other"), expected);
        }
        try {
            client.messages().create(asked(2, STORY).container("x").build());
            throw new AssertionError("a container was accepted");
        } catch (BadRequestException expected) {
            require(expected.getMessage().contains("container is"), expected);
        }
    }

    public static void main(String[] args) {
        var tests = new AnthropicClient(args[0]);
        tests.models();
        tests.messagesAndStreamingAgree();
        tests.countsTokens();
        tests.toolsThereAndBack();
        tests.givesTypes();
        tests.thinks();
        tests.tellsErrors();
        System.out.println("passed tellsErrors");
        System.exit(0); // threads of its HTTP client wait for more
    }
}
