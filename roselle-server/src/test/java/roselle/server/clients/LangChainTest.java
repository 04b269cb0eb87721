package roselle.server.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.ModelNotFoundException;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiEmbeddingModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** LangChain4j's module for OpenAI. */
final class LangChainTest {
    private static final String FOX = "Tell me a story about a fox.";

    private static ClientServer server;

    @BeforeAll
    static void start() {
        server = new ClientServer();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static OpenAiChatModel model(String name) {
        return OpenAiChatModel.builder()
                .baseUrl(server.root() + "/v1")
                .apiKey("unused")
                .modelName(name)
                .temperature(0.0)
                .maxCompletionTokens(16)
                .maxRetries(0)
                .build();
    }

    @Test
    void chats() {
        ChatResponse answer = model("demo")
                .chat(ChatRequest.builder().messages(UserMessage.from(FOX)).build());

        assertThat(answer.aiMessage().text()).isNotBlank();
        assertThat(answer.tokenUsage().outputTokenCount()).isEqualTo(16);
    }

    @Test
    void streamsTheSameText() throws Exception {
        var streaming = OpenAiStreamingChatModel.builder()
                .baseUrl(server.root() + "/v1")
                .apiKey("unused")
                .modelName("demo")
                .temperature(0.0)
                .maxCompletionTokens(16)
                .build();
        var text = new StringBuilder();
        var whole = new CompletableFuture<ChatResponse>();

        streaming.chat(FOX, new StreamingChatResponseHandler() {
            @Override
            public void onPartialResponse(String piece) {
                text.append(piece);
            }

            @Override
            public void onCompleteResponse(ChatResponse response) {
                whole.complete(response);
            }

            @Override
            public void onError(Throwable error) {
                whole.completeExceptionally(error);
            }
        });

        assertThat(whole.get(300, TimeUnit.SECONDS).aiMessage().text()).isEqualTo(text.toString());
        assertThat(text.toString()).isEqualTo(model("demo").chat(FOX));
    }

    @Test
    void embeds() {
        var embedding = OpenAiEmbeddingModel.builder()
                .baseUrl(server.root() + "/v1")
                .apiKey("unused")
                .modelName("demo")
                .maxRetries(0)
                .build();

        assertThat(embedding.embed("a fox").content().vector()).isNotEmpty();
    }

    @Test
    void anUnknownModelIsNotFound() {
        assertThatThrownBy(() -> model("other").chat(FOX)).isInstanceOf(ModelNotFoundException.class);
    }
}
