package roselle.langchain4j;

import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;

/** Collects what a {@link RoselleChatModel} is made of; it needs a model or an open engine. */
public class RoselleChatModelBuilder {
    private @Nullable Engine engine;
    private @Nullable EngineConfig config;
    private @Nullable String modelName;
    private final RoselleChatRequestParameters.Builder parameters = RoselleChatRequestParameters.builder();
    private List<ChatModelListener> listeners = List.of();

    /** For factories that set defaults of their own; others call {@link RoselleChatModel#builder}. */
    public RoselleChatModelBuilder() {}

    /** An engine that is open already, and stays open when the model is closed. */
    public RoselleChatModelBuilder engine(Engine value) {
        engine = value;
        return this;
    }

    /** A GGUF file, or a folder with safetensors, opened with every default. */
    public RoselleChatModelBuilder model(Path value) {
        return config(EngineConfig.of(value));
    }

    /** What to open, and how. */
    public RoselleChatModelBuilder config(EngineConfig value) {
        config = value;
        return this;
    }

    /** What metadata calls the model; the name of its file by default. */
    public RoselleChatModelBuilder modelName(String value) {
        modelName = value;
        return this;
    }

    /** Parameters of requests that do not say otherwise. */
    public RoselleChatModelBuilder defaultRequestParameters(ChatRequestParameters value) {
        parameters.overrideWith(value);
        return this;
    }

    public RoselleChatModelBuilder temperature(@Nullable Double value) {
        parameters.temperature(value);
        return this;
    }

    public RoselleChatModelBuilder topP(@Nullable Double value) {
        parameters.topP(value);
        return this;
    }

    public RoselleChatModelBuilder topK(@Nullable Integer value) {
        parameters.topK(value);
        return this;
    }

    public RoselleChatModelBuilder maxOutputTokens(@Nullable Integer value) {
        parameters.maxOutputTokens(value);
        return this;
    }

    public RoselleChatModelBuilder seed(@Nullable Long value) {
        parameters.seed(value);
        return this;
    }

    public RoselleChatModelBuilder listeners(List<ChatModelListener> value) {
        listeners = List.copyOf(value);
        return this;
    }

    /** The model; an engine is opened unless one was given. */
    public RoselleChatModel build() {
        return new RoselleChatModel(served());
    }

    /** The same as a stream. */
    public RoselleStreamingChatModel buildStreaming() {
        return new RoselleStreamingChatModel(served());
    }

    private ServedModel served() {
        if ((engine == null) == (config == null)) {
            throw new IllegalArgumentException("a chat model has either an engine or a model to open, and one of them");
        }
        String name = modelName != null ? modelName : config == null ? "roselle" : fileName(config.model());
        if (engine != null) {
            return served(engine, false, name);
        }
        Engine opened = Engine.open(config);
        try {
            return served(opened, true, name);
        } catch (RuntimeException failure) {
            opened.close();
            throw failure;
        }
    }

    private ServedModel served(Engine open, boolean isOurs, String name) {
        ChatRequestParameters defaults =
                RoselleChatRequestParameters.builder().modelName(name).build().overrideWith(parameters.build());
        return new ServedModel(open, isOurs, new ChatRequests(open, name), defaults, listeners);
    }

    /** A file's name, or a folder's, without what says the format. */
    static String fileName(Path model) {
        String name = String.valueOf(model.toAbsolutePath().normalize().getFileName());
        return name.endsWith(".gguf") ? name.substring(0, name.length() - ".gguf".length()) : name;
    }
}
