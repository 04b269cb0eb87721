package roselle.langchain4j;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.common.AbstractChatModelIT;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * LangChain4j's own tests of chat models, with all its switches but those for pictures: with SmolLM2 where it says what they want to hear,
 * and with the fixture that was trained on their conversations.
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
        return List.of(tck.smollm2().build(), tck.conformance().build());
    }

    private List<ChatModel> smollm2() {
        return List.of(tck.smollm2().build());
    }

    private List<ChatModel> conformance() {
        return List.of(tck.conformance().build());
    }

    @Override
    protected List<ChatModel> modelsSupportingTools() {
        return conformance();
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

    /** SmolLM2 has the adapter. */
    @Override
    @ParameterizedTest
    @MethodSource("smollm2")
    protected void should_respect_modelName_in_chat_request(ChatModel model) {
        super.should_respect_modelName_in_chat_request(model);
    }

    /** SmolLM2-135M does not know that a message is to be translated. */
    @Override
    @ParameterizedTest
    @MethodSource("conformance")
    protected void should_respect_system_message(ChatModel model) {
        super.should_respect_system_message(model);
    }

    /** SmolLM2-135M says that it has no favorite color. */
    @Override
    @ParameterizedTest
    @MethodSource("conformance")
    protected void should_respect_multiple_messages(ChatModel model) {
        super.should_respect_multiple_messages(model);
    }

    @Override
    protected boolean supportsSingleImageInputAsBase64EncodedString() {
        return false;
    }

    @Override
    protected boolean supportsSingleImageInputAsPublicURL() {
        return false;
    }
}
