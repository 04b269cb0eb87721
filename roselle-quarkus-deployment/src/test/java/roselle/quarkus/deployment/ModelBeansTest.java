package roselle.quarkus.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.embedding.EmbeddingModel;
import io.quarkus.test.QuarkusUnitTest;
import io.smallrye.health.SmallRyeHealthReporter;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import roselle.engine.Engine;

/** An application that names a model has the beans, and a check of its health. */
@Tag("long")
class ModelBeansTest {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(archive -> archive.addClass(DemoModel.class))
            .overrideConfigKey("quarkus.http.test-port", "0")
            .overrideConfigKey("quarkus.roselle.model", DemoModel.file().toString())
            .overrideConfigKey("quarkus.roselle.device", "cpu")
            .overrideConfigKey("quarkus.roselle.max-sequences", "4")
            .overrideConfigKey("quarkus.roselle.chat.temperature", "0")
            .overrideConfigKey("quarkus.roselle.chat.max-tokens", "24");

    @Inject
    ChatModel model;

    @Inject
    StreamingChatModel stream;

    @Inject
    Engine engine;

    @Inject
    SmallRyeHealthReporter health;

    @Inject
    Instance<EmbeddingModel> embeddings;

    @Test
    void answersWholeAndInPieces() {
        String whole = model.chat("What is 12 + 30?");
        assertThat(whole).contains("42");

        var pieces = new StringBuilder();
        var end = new CompletableFuture<ChatResponse>();
        stream.chat("What is 12 + 30?", new StreamingChatResponseHandler() {
            @Override
            public void onPartialResponse(String piece) {
                pieces.append(piece);
            }

            @Override
            public void onCompleteResponse(ChatResponse response) {
                end.complete(response);
            }

            @Override
            public void onError(Throwable failure) {
                end.completeExceptionally(failure);
            }
        });
        assertThat(end.join().aiMessage().text()).isEqualTo(whole);
        assertThat(pieces).hasToString(whole);
        assertThat(engine.status().totals().generatedTokens()).isPositive();
    }

    @Test
    void saysWhetherTheEngineIsUp() {
        assertThat(health.getReadiness().getPayload().toString())
                .contains("\"name\":\"roselle\",\"status\":\"UP\"")
                .contains("\"running\":0");
    }

    @Test
    void namesTheKeyOfAModelThatIsNotConfigured() {
        assertThatThrownBy(embeddings::get)
                .hasMessage("quarkus.roselle.embedding-model is not set: it names the model of this bean");
    }
}
