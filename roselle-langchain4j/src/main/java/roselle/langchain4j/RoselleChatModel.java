package roselle.langchain4j;

import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.ChatResponse;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import roselle.api.GenerationRequest;
import roselle.engine.Engine;

/**
 * A model in this process as LangChain4j's chat model.
 *
 * {@snippet :
 * try (var model = RoselleChatModel.builder().model(Path.of("model.gguf")).temperature(0.0).build()) {
 *     System.out.println(model.chat("What is the capital of Germany?"));
 * }
 * }
 *
 * <p>Any number of threads may ask; their requests share the engine's batch. {@link #close} closes the engine that the builder opened, and
 * no other.
 */
public final class RoselleChatModel implements ChatModel, AutoCloseable {
    private final ServedModel served;

    RoselleChatModel(ServedModel served) {
        this.served = served;
    }

    /** A builder: ours, or that of the first {@link RoselleChatModelBuilderFactory} on the path. */
    public static RoselleChatModelBuilder builder() {
        Iterator<RoselleChatModelBuilderFactory> factories =
                ServiceLoader.load(RoselleChatModelBuilderFactory.class).iterator();
        return factories.hasNext() ? factories.next().get() : new RoselleChatModelBuilder();
    }

    @Override
    public ChatResponse doChat(ChatRequest request) {
        GenerationRequest asked = served.requests().of(request);
        var answer = new ChatAnswer(served.requests().modelName(request));
        try (var generation = served.engine().submit(asked)) {
            generation.awaitWhole();
            for (var event : generation) {
                answer.take(event);
            }
            return answer.response();
        } catch (RuntimeException failure) {
            throw Failures.of(failure);
        }
    }

    /** The same model as a stream, which stays open as long as this one does. */
    public RoselleStreamingChatModel streaming() {
        return new RoselleStreamingChatModel(served.borrowed());
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
