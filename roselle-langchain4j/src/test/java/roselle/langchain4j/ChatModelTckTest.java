package roselle.langchain4j;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.common.AbstractChatModelIT;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * LangChain4j's own tests of chat models: SmolLM2 says what the tests want to hear, and the demo model makes the calls that are forced,
 * because SmolLM2's chat template knows no tools.
 */
@Tag("long")
class ChatModelTckTest extends AbstractChatModelIT {
    private final TckModels tck = new TckModels();

    @AfterAll
    void close() {
        tck.close();
    }

    @Override
    protected List<ChatModel> models() {
        return List.of(tck.smollm2().build());
    }

    @Override
    protected List<ChatModel> modelsSupportingTools() {
        return List.of(tck.demo().build());
    }

    @Override
    protected ChatModel createModelWith(ChatRequestParameters parameters) {
        return tck.smollm2().defaultRequestParameters(parameters).build();
    }

    @Override
    protected ChatRequestParameters createIntegrationSpecificParameters(int maxOutputTokens) {
        return RoselleChatRequestParameters.builder()
                .maxOutputTokens(maxOutputTokens)
                .build();
    }

    @Override
    protected String customModelName() {
        return TckModels.ADAPTER;
    }

    /** Free calls of the tests' tools are beyond both models; {@link RoselleChatModelTest} has calls that the demo model was trained on. */
    @Override
    protected boolean supportsTools() {
        return false;
    }

    @Override
    @ParameterizedTest
    @MethodSource("models")
    @Disabled("SmolLM2-135M does not know that a message is to be translated; our own test has a system message")
    protected void should_respect_system_message(ChatModel model) {}

    @Override
    @ParameterizedTest
    @MethodSource("models")
    @Disabled("SmolLM2-135M says that it has no favorite color; our own test has a conversation that is remembered")
    protected void should_respect_multiple_messages(ChatModel model) {}

    @Override
    protected boolean supportsSingleImageInputAsBase64EncodedString() {
        return false;
    }

    @Override
    protected boolean supportsSingleImageInputAsPublicURL() {
        return false;
    }
}
