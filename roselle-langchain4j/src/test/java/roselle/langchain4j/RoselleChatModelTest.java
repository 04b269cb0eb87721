package roselle.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.InternalServerException;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.UnsupportedFeatureException;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.request.DefaultChatRequestParameters;
import dev.langchain4j.model.chat.request.ToolChoice;
import dev.langchain4j.model.chat.request.json.JsonArraySchema;
import dev.langchain4j.model.chat.request.json.JsonIntegerSchema;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.request.json.JsonSchema;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.PartialThinking;
import dev.langchain4j.model.chat.response.PartialToolCall;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.output.FinishReason;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import roselle.engine.Engine;

/** The demo model behind LangChain4j's interfaces. */
class RoselleChatModelTest {
    private static final ToolSpecification WEATHER = ToolSpecification.builder()
            .name("get_weather")
            .description("The weather in a city now")
            .parameters(JsonObjectSchema.builder()
                    .addStringProperty("city")
                    .required("city")
                    .build())
            .build();
    private static final String ASKED = "What is the weather in Munich?";

    private static Engine engine;
    private static RoselleChatModel model;

    /** Found as a service: every builder of these tests has a seed. */
    public static final class SeededBuilders implements RoselleChatModelBuilderFactory {
        @Override
        public RoselleChatModelBuilder get() {
            return new RoselleChatModelBuilder().seed(7L);
        }
    }

    @BeforeAll
    static void open() {
        engine = TestModels.demo();
        model = RoselleChatModel.builder()
                .engine(engine)
                .modelName("demo")
                .temperature(0.0)
                .build();
    }

    @AfterAll
    static void close() {
        engine.close();
    }

    private static ChatRequest.Builder ask(String text) {
        return ChatRequest.builder().messages(UserMessage.from(text));
    }

    @Test
    void answersWithUsageAndReason() {
        ChatResponse response = model.chat(ask("What is 12 + 30?").build());
        assertThat(response.aiMessage().text()).contains("42");
        assertThat(response.modelName()).isEqualTo("demo");
        assertThat(response.finishReason()).isEqualTo(FinishReason.STOP);
        assertThat(response.tokenUsage().inputTokenCount()).isGreaterThan(5);
        assertThat(response.tokenUsage().outputTokenCount()).isPositive();
    }

    @Test
    void remembersWhatWasSaid() {
        assertThat(model.chat(
                                SystemMessage.from("Be brief."),
                                UserMessage.from("My name is Anna."),
                                AiMessage.from("Nice to meet you, Anna."),
                                UserMessage.from("What is my name?"))
                        .aiMessage()
                        .text())
                .contains("Anna");
    }

    @Test
    void endsWhereTokensOrStopStringsSay() {
        var short3 = ChatRequestParameters.builder().maxOutputTokens(3).build();
        ChatResponse cut = model.chat(
                ask("Tell me a story about a fox.").parameters(short3).build());
        assertThat(cut.finishReason()).isEqualTo(FinishReason.LENGTH);
        assertThat(cut.tokenUsage().outputTokenCount()).isEqualTo(3);
        var stop = ChatRequestParameters.builder().stopSequences("fox").build();
        ChatResponse stopped =
                model.chat(ask("Tell me a story about a fox.").parameters(stop).build());
        assertThat(stopped.aiMessage().text()).isNotEmpty().doesNotContain("fox");
        assertThat(stopped.finishReason()).isEqualTo(FinishReason.STOP);
    }

    @Test
    void callsToolsAndAnswersFromTheirResults() {
        ChatResponse called = model.chat(ask(ASKED).toolSpecifications(WEATHER).build());
        assertThat(called.finishReason()).isEqualTo(FinishReason.TOOL_EXECUTION);
        AiMessage message = called.aiMessage();
        assertThat(message.text()).isNull();
        assertThat(message.toolExecutionRequests()).hasSize(1);
        var call = message.toolExecutionRequests().getFirst();
        assertThat(call.name()).isEqualTo("get_weather");
        assertThat(call.arguments()).isEqualToIgnoringWhitespace("{\"city\":\"Munich\"}");
        ChatResponse answer = model.chat(ChatRequest.builder()
                .messages(
                        UserMessage.from(ASKED),
                        message,
                        ToolExecutionResultMessage.from(call, "{\"temperature\": 21, \"sky\": \"sunny\"}"))
                .toolSpecifications(WEATHER)
                .build());
        assertThat(answer.aiMessage().text()).contains("sunny").contains("21");
    }

    @Test
    void callsAToolWhereItMustAndNoneWhereItMayNot() {
        ChatRequest.Builder request = ask("Tell me a story about a fox.").toolSpecifications(WEATHER);
        assertThat(model.chat(request.toolChoice(ToolChoice.REQUIRED).build())
                        .aiMessage()
                        .toolExecutionRequests())
                .isNotEmpty();
        assertThat(model.chat(ask(ASKED)
                                .toolSpecifications(WEATHER)
                                .toolChoice(ToolChoice.NONE)
                                .build())
                        .aiMessage()
                        .toolExecutionRequests())
                .isEmpty();
    }

    @Test
    void keepsToASchemaWithoutFurtherProperties() {
        var schema = JsonSchema.builder()
                .name("Answer")
                .rootElement(JsonObjectSchema.builder()
                        .addProperty(
                                "sums",
                                JsonArraySchema.builder()
                                        .items(new JsonIntegerSchema())
                                        .build())
                        .required("sums")
                        .build())
                .build();
        var parameters = ChatRequestParameters.builder()
                .responseFormat(schema)
                .maxOutputTokens(60)
                .build();
        ChatResponse response =
                model.chat(ask("What is 12 + 30?").parameters(parameters).build());
        assertThat(response.aiMessage().text()).startsWith("{").containsPattern("\"sums\":\\s*\\[");
        assertThat(Schemas.json(schema)).contains("\"additionalProperties\"").doesNotContain("true");
    }

    @Test
    void thinksWhereItIsAskedTo() {
        var think = RoselleChatRequestParameters.builder().think(true).build();
        AiMessage message =
                model.chat(ask("What is 12 + 30?").parameters(think).build()).aiMessage();
        assertThat(message.thinking()).isNotBlank();
        assertThat(message.text()).contains("42").doesNotContain(message.thinking());
    }

    /** What a handler hears of one stream. */
    private static final class Heard implements StreamingChatResponseHandler {
        private final CompletableFuture<ChatResponse> end = new CompletableFuture<>();
        private final StringBuilder text = new StringBuilder();
        private final StringBuilder thoughts = new StringBuilder();
        private final StringBuilder arguments = new StringBuilder();

        @Override
        public void onPartialResponse(String part) {
            text.append(part);
        }

        @Override
        public void onPartialThinking(PartialThinking part) {
            thoughts.append(part.text());
        }

        @Override
        public void onPartialToolCall(PartialToolCall part) {
            arguments.append(part.partialArguments());
        }

        @Override
        public void onCompleteResponse(ChatResponse response) {
            end.complete(response);
        }

        @Override
        public void onError(Throwable error) {
            end.completeExceptionally(error);
        }

        static Heard of(ChatRequest request) {
            var heard = new Heard();
            model.streaming().chat(request, heard);
            return heard;
        }
    }

    @Test
    void streamsWhatItAnswersWhole() {
        var think = RoselleChatRequestParameters.builder().think(true).build();
        ChatRequest request = ask("What is 12 + 30?").parameters(think).build();
        Heard heard = Heard.of(request);
        AiMessage whole = model.chat(request).aiMessage();
        assertThat(heard.end.join().aiMessage()).isEqualTo(whole);
        assertThat(heard.text).hasToString(whole.text());
        assertThat(heard.thoughts).hasToString(whole.thinking());
        Heard call = Heard.of(ask(ASKED).toolSpecifications(WEATHER).build());
        var complete = call.end.join().aiMessage().toolExecutionRequests().getFirst();
        assertThat(call.arguments).hasToString(complete.arguments());
    }

    @Test
    void endsAStreamThatIsCancelled() {
        var ended = new CompletableFuture<Boolean>();
        var handler = new StreamingChatResponseHandler() {
            @Override
            public void onPartialResponse(PartialResponse part, PartialResponseContext context) {
                if (ended.isDone()) {
                    ended.obtrudeValue(false);
                }
                context.streamingHandle().cancel();
                ended.complete(context.streamingHandle().isCancelled());
            }

            @Override
            public void onCompleteResponse(ChatResponse response) {
                ended.obtrudeValue(false);
            }

            @Override
            public void onError(Throwable error) {
                ended.completeExceptionally(error);
            }
        };
        model.streaming().chat(ask("Tell me a story about a fox.").build(), handler);
        assertThat(ended.join()).isTrue();
        model.chat("What is 12 + 30?"); // a step later
        assertThat(ended.join()).isTrue();
        assertThat(engine.status().running()).isZero();
    }

    @Test
    void refusesByNameWhatItCannotHonour() {
        assertThatThrownBy(() -> model.chat(ask("Hi").modelName("other").build()))
                .isExactlyInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("modelName other");
        assertThatThrownBy(() -> model.chat(UserMessage.from(ImageContent.from("https://example.org/cat.png"))))
                .isExactlyInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("image");
        var foreign = new DefaultChatRequestParameters(DefaultChatRequestParameters.builder()) {};
        assertThatThrownBy(() -> model.chat(ask("Hi").parameters(foreign).build()))
                .isExactlyInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining(foreign.getClass().getName());
        var hot = ChatRequestParameters.builder().temperature(-1.0).build();
        assertThatThrownBy(() -> model.chat(ask("Hi").parameters(hot).build()))
                .isExactlyInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("temperature");
        assertThatThrownBy(() -> RoselleChatModel.builder()
                        .engine(engine)
                        .defaultRequestParameters(ChatRequestParameters.builder()
                                .modelName("other")
                                .build())
                        .build())
                .isExactlyInstanceOf(UnsupportedFeatureException.class);
    }

    @Test
    void tellsAFaultOfTheRequestOrOfTheEngine() {
        assertThatThrownBy(() -> model.chat("word ".repeat(2000)))
                .isExactlyInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("tokens");
        Engine closed = TestModels.demo();
        closed.close();
        var broken = RoselleChatModel.builder().engine(closed).build();
        assertThatThrownBy(() -> broken.chat("Hi")).isExactlyInstanceOf(InternalServerException.class);
    }

    @Test
    void takesParametersOfTheRequestBeforeItsOwnAndThoseOfAService() {
        var own = (RoselleChatRequestParameters) model.defaultRequestParameters();
        assertThat(own.seed()).isEqualTo(7);
        assertThat(own.modelName()).isEqualTo("demo");
        var asked = RoselleChatRequestParameters.builder()
                .minP(0.1)
                .temperature(0.5)
                .build();
        var both = own.overrideWith(asked);
        assertThat(both.seed()).isEqualTo(7);
        assertThat(both.minP()).isEqualTo(0.1);
        assertThat(both.temperature()).isEqualTo(0.5);
        assertThat(asked.defaultedBy(own)).isEqualTo(both).hasSameHashCodeAs(both);
    }

    @Test
    void closesOnlyAnEngineOfItsOwn() {
        RoselleChatModel.builder().engine(engine).build().close();
        assertThat(model.chat(SystemMessage.from("Be brief."), UserMessage.from("What is 12 + 30?"))
                        .aiMessage()
                        .text())
                .contains("42");
    }
}
