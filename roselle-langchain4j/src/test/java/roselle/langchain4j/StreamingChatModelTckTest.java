package roselle.langchain4j;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.argThat;
import static org.mockito.Mockito.atLeast;

import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.common.AbstractStreamingChatModelIT;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
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
        return List.of(tck.smollm2().buildStreaming(), tck.conformance().buildStreaming());
    }

    private List<StreamingChatModel> smollm2() {
        return List.of(tck.smollm2().buildStreaming());
    }

    private List<StreamingChatModel> conformance() {
        return List.of(tck.conformance().buildStreaming());
    }

    @Override
    protected List<StreamingChatModel> modelsSupportingTools() {
        return conformance();
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
        order.verify(handler, atLeast(1))
                .onPartialToolCall(argThat(part -> part.id().equals(id)), any());
        order.verify(handler)
                .onCompleteToolCall(
                        argThat(call -> call.toolExecutionRequest().id().equals(id)));
    }

    @Override
    protected void verifyToolCallbacks(StreamingChatResponseHandler handler, InOrder order, String id1, String id2) {
        verifyToolCallbacks(handler, order, id1);
        verifyToolCallbacks(handler, order, id2);
    }

    /** SmolLM2 has the adapter. */
    @Override
    @ParameterizedTest
    @MethodSource("smollm2")
    protected void should_respect_modelName_in_chat_request(StreamingChatModel model) {
        super.should_respect_modelName_in_chat_request(model);
    }

    /** SmolLM2-135M does not know that a message is to be translated. */
    @Override
    @ParameterizedTest
    @MethodSource("conformance")
    protected void should_respect_system_message(StreamingChatModel model) {
        super.should_respect_system_message(model);
    }

    /** SmolLM2-135M says that it has no favorite color. */
    @Override
    @ParameterizedTest
    @MethodSource("conformance")
    protected void should_respect_multiple_messages(StreamingChatModel model) {
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
