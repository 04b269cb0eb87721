package roselle.langchain4j;

import dev.langchain4j.internal.InternalStreamingChatResponseHandlerUtils;
import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import java.util.List;
import java.util.Set;
import roselle.api.GenerationRequest;
import roselle.engine.Engine;

/**
 * A model in this process as LangChain4j's streaming chat model; {@link RoselleChatModelBuilder#buildStreaming} makes it, or
 * {@link RoselleChatModel#streaming}. Cancelling a stream frees its place in the batch within a step.
 */
public final class RoselleStreamingChatModel implements StreamingChatModel, AutoCloseable {
    private final ServedModel served;

    RoselleStreamingChatModel(ServedModel served) {
        this.served = served;
    }

    /** Returns at once; a virtual thread of the request calls the handler. What cannot be asked for is thrown, not told. */
    @Override
    public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
        GenerationRequest asked = served.requests().of(request);
        var answer = new ChatAnswer(served.requests().modelName(request));
        Thread.ofVirtual().name("roselle-langchain4j").start(() -> stream(asked, answer, handler));
    }

    private void stream(GenerationRequest request, ChatAnswer answer, StreamingChatResponseHandler handler) {
        ChatResponse response;
        try (var generation = served.engine().submit(request)) {
            var stream = new ChatStream(generation, handler);
            for (var event : generation) {
                answer.take(event);
                stream.tell(event);
                if (stream.isCancelled()) {
                    return;
                }
            }
            response = answer.response();
        } catch (RuntimeException failure) {
            InternalStreamingChatResponseHandlerUtils.withLoggingExceptions(
                    () -> handler.onError(Failures.of(failure)));
            return;
        }
        InternalStreamingChatResponseHandlerUtils.onCompleteResponse(handler, response);
    }

    /** The engine, which other models may share. */
    public Engine engine() {
        return served.engine();
    }

    @Override
    public ChatRequestParameters defaultRequestParameters() {
        return served.defaults();
    }

    @Override
    public List<ChatModelListener> listeners() {
        return served.listeners();
    }

    @Override
    public Set<Capability> supportedCapabilities() {
        return ServedModel.CAPABILITIES;
    }

    @Override
    public void close() {
        served.close();
    }
}
