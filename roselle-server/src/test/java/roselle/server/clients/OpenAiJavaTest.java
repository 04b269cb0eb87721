package roselle.server.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonTypeName;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.chat.completions.ChatCompletionToolChoiceOption;
import com.openai.models.completions.CompletionCreateParams;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.responses.ResponseCreateParams;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** OpenAI's own client for Java. */
final class OpenAiJavaTest {
    private static ClientServer server;
    private static OpenAIClient client;

    @BeforeAll
    static void start() {
        server = new ClientServer();
        client = OpenAIOkHttpClient.builder()
                .baseUrl(server.root() + "/v1")
                .apiKey("unused")
                .maxRetries(0)
                .build();
    }

    @AfterAll
    static void stop() {
        client.close();
        server.close();
    }

    private static ChatCompletionCreateParams.Builder fox() {
        return ChatCompletionCreateParams.builder()
                .model("demo")
                .addUserMessage("Tell me a story about a fox.")
                .temperature(0.0)
                .maxCompletionTokens(16);
    }

    private static String chat() {
        var answer = client.chat().completions().create(fox().build());
        return answer.choices().getFirst().message().content().orElseThrow();
    }

    @Test
    void listsModels() {
        assertThat(client.models().list().data())
                .singleElement()
                .satisfies(model -> assertThat(model.id()).isEqualTo("demo"));
    }

    @Test
    void chatsWithLogprobsAndUsage() {
        var answer = client.chat()
                .completions()
                .create(fox().logprobs(true).topLogprobs(2).build());

        var choice = answer.choices().getFirst();
        assertThat(choice.message().content().orElseThrow()).isEqualTo(chat());
        assertThat(choice.finishReason().asString()).isEqualTo("length");
        assertThat(choice.logprobs().orElseThrow().content().orElseThrow()).hasSize(16);
        assertThat(answer.usage().orElseThrow().completionTokens()).isEqualTo(16);
    }

    @Test
    void streamsTheSameText() {
        var options = ChatCompletionStreamOptions.builder().includeUsage(true).build();
        try (var stream = client.chat()
                .completions()
                .createStreaming(fox().streamOptions(options).build())) {
            List<ChatCompletionChunk> chunks = stream.stream().toList();

            String text = chunks.stream()
                    .flatMap(chunk -> chunk.choices().stream())
                    .flatMap(choice -> choice.delta().content().stream())
                    .collect(Collectors.joining());
            assertThat(text).isEqualTo(chat());
            assertThat(chunks.getLast().usage().orElseThrow().completionTokens())
                    .isEqualTo(16);
        }
    }

    @Test
    void leavingAStreamCancelsTheAnswer() throws InterruptedException {
        var endless = fox().maxCompletionTokens(900)
                .putAdditionalBodyProperty("ignore_eos", com.openai.core.JsonValue.from(true));
        try (var stream = client.chat().completions().createStreaming(endless.build())) {
            assertThat(stream.stream().limit(3).toList()).hasSize(3);
        }

        long end = System.nanoTime() + 120_000_000_000L;
        while (server.engine().status().running() > 0 && System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        assertThat(server.engine().status().running()).isZero();
    }

    @Test
    void continuesTexts() {
        var answer = client.completions()
                .create(CompletionCreateParams.builder()
                        .model("demo")
                        .prompt("Once upon a time")
                        .maxTokens(8)
                        .echo(true)
                        .build());

        assertThat(answer.choices().getFirst().text()).startsWith("Once upon a time");
    }

    @Test
    void embedsTexts() {
        var answer = client.embeddings()
                .create(EmbeddingCreateParams.builder()
                        .model("demo")
                        .inputOfArrayOfStrings(List.of("a fox", "a boat"))
                        .build());

        assertThat(answer.data()).hasSize(2);
        double squares = answer.data().getFirst().embedding().stream()
                .mapToDouble(number -> number * number)
                .sum();
        assertThat(squares).isCloseTo(1, within(1e-4));
    }

    @Test
    void respondsAndGoesOn() {
        var first = client.responses()
                .create(ResponseCreateParams.builder()
                        .model("demo")
                        .input("Tell me a story about a fox.")
                        .temperature(0.0)
                        .maxOutputTokens(16)
                        .build());
        var second = client.responses()
                .create(ResponseCreateParams.builder()
                        .model("demo")
                        .input("And then?")
                        .previousResponseId(first.id())
                        .maxOutputTokens(16)
                        .build());

        assertThat(text(first)).isEqualTo(chat());
        assertThat(second.previousResponseId()).contains(first.id());
        assertThat(text(second)).isNotBlank();
    }

    /** What a caller wants to have read. */
    enum Colour {
        RED,
        GREEN
    }

    record Apples(Colour colour, int quantity, boolean areWashed) {}

    /** A tool, by the class of its arguments. */
    @JsonClassDescription("Order apples")
    @JsonTypeName("order_apples")
    record OrderApples(Colour colour, int quantity) {}

    @Test
    void answersAreOfClasses() {
        Apples apples = client.chat()
                .completions()
                .create(fox().maxCompletionTokens(200)
                        .responseFormat(Apples.class)
                        .build())
                .choices()
                .getFirst()
                .message()
                .content()
                .orElseThrow();
        assertThat(apples.colour()).isNotNull();
        var response = client.responses()
                .create(ResponseCreateParams.builder()
                        .model("demo")
                        .input("Order two red apples.")
                        .text(Apples.class)
                        .build());
        assertThat(response.output().stream() // thoughts may come before
                        .flatMap(item -> item.message().stream())
                        .findFirst()
                        .orElseThrow()
                        .content()
                        .getFirst()
                        .asOutputText()
                        .colour())
                .isNotNull();
    }

    @Test
    void callsAreOfClasses() {
        var answer = client.chat()
                .completions()
                .create(fox().maxCompletionTokens(200)
                        .addTool(OrderApples.class)
                        .toolChoice(ChatCompletionToolChoiceOption.Auto.REQUIRED)
                        .build());
        var call =
                answer.choices().getFirst().message().toolCalls().orElseThrow().getFirst();
        assertThat(call.asFunction().function().name()).isEqualTo("order_apples");
        assertThat(call.asFunction().function().arguments(OrderApples.class).colour())
                .isNotNull();
    }

    private static String text(com.openai.models.responses.Response response) {
        return response.output().stream()
                .flatMap(item -> item.message().stream())
                .flatMap(message -> message.content().stream())
                .flatMap(part -> part.outputText().stream())
                .map(part -> part.text())
                .collect(Collectors.joining());
    }

    @Test
    void errorsAreOfTheClientsOwnKinds() {
        assertThatThrownBy(() -> client.chat()
                        .completions()
                        .create(fox().temperature(-1.0).build()))
                .isInstanceOfSatisfying(
                        BadRequestException.class,
                        error -> assertThat(error.param()).contains("temperature"));
        assertThatThrownBy(() ->
                        client.chat().completions().create(fox().model("other").build()))
                .isInstanceOfSatisfying(
                        NotFoundException.class,
                        error -> assertThat(error.code()).contains("model_not_found"));
    }
}
