package roselle.langchain4j;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.atLeast;

import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.common.AbstractStreamingChatModelIT;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.mockito.InOrder;

/** LangChain4j's own tests of streams, with the models of {@link ChatModelTckTest}. */
@Tag("long")
class StreamingChatModelTckTest extends AbstractStreamingChatModelIT {
    private final TckModels tck = new TckModels();

    @AfterAll
    void close() {
        tck.close();
    }

    @Override
    protected List<StreamingChatModel> models() {
        return List.of(tck.smollm2().buildStreaming());
    }

    @Override
    protected List<StreamingChatModel> modelsSupportingTools() {
        return List.of(tck.demo().buildStreaming());
    }

    @Override
    protected StreamingChatModel createModelWith(ChatRequestParameters parameters) {
        return tck.smollm2().defaultRequestParameters(parameters).buildStreaming();
    }

    @Override
    public StreamingChatModel createModelWith(ChatModelListener listener) {
        return tck.smollm2().listeners(List.of(listener)).buildStreaming();
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

    @Override
    protected void verifyToolCallbacks(StreamingChatResponseHandler handler, InOrder order, String id) {
        order.verify(handler, atLeast(1)).onPartialToolCall(any(), any());
        order.verify(handler).onCompleteToolCall(any());
    }

    @Override
    protected void verifyToolCallbacks(StreamingChatResponseHandler handler, InOrder order, String id1, String id2) {
        verifyToolCallbacks(handler, order, id1);
        verifyToolCallbacks(handler, order, id2);
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
    protected void should_respect_system_message(StreamingChatModel model) {}

    @Override
    @ParameterizedTest
    @MethodSource("models")
    @Disabled("SmolLM2-135M says that it has no favorite color; our own test has a conversation that is remembered")
    protected void should_respect_multiple_messages(StreamingChatModel model) {}

    @Override
    protected boolean supportsSingleImageInputAsBase64EncodedString() {
        return false;
    }

    @Override
    protected boolean supportsSingleImageInputAsPublicURL() {
        return false;
    }
}
