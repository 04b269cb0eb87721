package roselle.quarkus;

import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.embedding.listener.EmbeddingModelListener;
import io.quarkus.arc.All;
import io.quarkus.arc.DefaultBean;
import io.quarkus.runtime.LaunchMode;
import io.quarkus.runtime.StartupEvent;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import roselle.backend.DeviceOptions;
import roselle.embedding.EmbeddingConfig;
import roselle.embedding.EmbeddingEngine;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.langchain4j.RoselleChatModel;
import roselle.langchain4j.RoselleEmbeddingModel;

/**
 * Opens the engines that the configuration names when the application starts, and has LangChain4j's models over them as beans; a bean of
 * the application's own takes the place of each.
 */
@Singleton
public class RoselleModels {
    private final RoselleConfig config;
    private final boolean keeps = LaunchMode.current() == LaunchMode.DEVELOPMENT;
    private @Nullable Engine engine;
    private @Nullable EmbeddingEngine embeddingEngine;

    RoselleModels(RoselleConfig config) {
        this.config = config;
    }

    void open(@Observes StartupEvent start) {
        engine = config.model().map(model -> open(config(model))).orElse(null);
        embeddingEngine = config.embeddingModel()
                .map(model -> openEncoder(encoder(model)))
                .orElse(null);
    }

    private Engine open(EngineConfig wanted) {
        return keeps ? KeptEngines.CHAT.keep(wanted, Engine::open) : Engine.open(wanted);
    }

    private EmbeddingEngine openEncoder(EmbeddingConfig wanted) {
        return keeps ? KeptEngines.EMBEDDING.keep(wanted, EmbeddingEngine::open) : EmbeddingEngine.open(wanted);
    }

    private EngineConfig config(Path model) {
        BatchOptions defaults = BatchOptions.DEFAULT;
        return EngineConfig.of(model)
                .with(device())
                .with(new BatchOptions(
                        config.context(),
                        config.maxSequences(),
                        Math.max(defaults.stepTokens(), config.maxSequences()),
                        defaults.chunkTokens(),
                        defaults.maxQueue()));
    }

    private EmbeddingConfig encoder(Path model) {
        return EmbeddingConfig.of(model).with(device());
    }

    private DeviceOptions device() {
        return new DeviceOptions(config.device(), DeviceOptions.DEFAULT.threads());
    }

    @PreDestroy
    void close() {
        if (!keeps && engine != null) {
            engine.close();
        }
        if (!keeps && embeddingEngine != null) {
            embeddingEngine.close();
        }
    }

    /** The engine behind the chat models, for requests of the library's own kind. */
    @Produces
    @DefaultBean
    @Singleton
    Engine engine() {
        return required(engine, "model");
    }

    @Produces
    @DefaultBean
    @Singleton
    EmbeddingEngine embeddingEngine() {
        return required(embeddingEngine, "embedding-model");
    }

    private static <T> T required(@Nullable T engine, String key) {
        if (engine == null) {
            throw new IllegalStateException("quarkus.roselle." + key + " is not set: it names the model of this bean");
        }
        return engine;
    }

    /** Both kinds of chat models; what injects either gets the same engine. */
    @Produces
    @DefaultBean
    @Singleton
    RoselleChatModel chatModel(Engine shared, @All List<ChatModelListener> listeners) {
        RoselleConfig.Chat chat = config.chat();
        return RoselleChatModel.builder()
                .engine(shared)
                .modelName(config.name()
                        .or(() -> config.model().map(RoselleModels::fileName))
                        .orElse("roselle"))
                .temperature(orNull(chat.temperature()))
                .topP(orNull(chat.topP()))
                .topK(orNull(chat.topK()))
                .maxOutputTokens(orNull(chat.maxTokens()))
                .seed(chat.seed().isPresent() ? chat.seed().getAsLong() : null)
                .listeners(listeners)
                .build();
    }

    @Produces
    @DefaultBean
    @Singleton
    StreamingChatModel streamingChatModel(RoselleChatModel model) {
        return model.streaming();
    }

    @Produces
    @DefaultBean
    @Singleton
    EmbeddingModel embeddingModel(EmbeddingEngine shared, @All List<EmbeddingModelListener> listeners) {
        return RoselleEmbeddingModel.of(
                shared, config.embeddingModel().map(RoselleModels::fileName).orElse("roselle"), listeners);
    }

    /** The engine's health is asked for only where there is one. */
    Optional<Engine> opened() {
        return Optional.ofNullable(engine);
    }

    private static @Nullable Double orNull(OptionalDouble value) {
        return value.isPresent() ? value.getAsDouble() : null;
    }

    private static @Nullable Integer orNull(OptionalInt value) {
        return value.isPresent() ? value.getAsInt() : null;
    }

    private static String fileName(Path model) {
        String name = String.valueOf(model.toAbsolutePath().normalize().getFileName());
        return name.endsWith(".gguf") ? name.substring(0, name.length() - ".gguf".length()) : name;
    }
}
