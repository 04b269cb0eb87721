package roselle.helidon;

import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.embedding.EmbeddingModel;
import io.helidon.config.Config;
import io.helidon.health.HealthCheck;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import roselle.backend.DeviceOptions;
import roselle.embedding.EmbeddingConfig;
import roselle.embedding.EmbeddingEngine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.langchain4j.RoselleChatModel;
import roselle.langchain4j.RoselleEmbeddingModel;

/**
 * The models that an application's configuration names, opened, as LangChain4j's models.
 *
 * {@snippet :
 * var models = RoselleModels.create(config.get("roselle"));
 * ChatModel model = models.chatModel();
 * }
 *
 * <p>{@link #close} closes what was opened here. For the registry of services an application has a service of its own that supplies a model
 * of these: the registry takes no instances of contracts that no service of the application has.
 */
public final class RoselleModels implements AutoCloseable {
    private final Optional<RoselleChatModel> chat;
    private final Optional<EmbeddingEngine> encoder;
    private final Optional<RoselleEmbeddingModel> embedding;
    private final Optional<StreamingChatModel> streaming;

    private RoselleModels(
            Optional<RoselleChatModel> chat,
            Optional<EmbeddingEngine> encoder,
            Optional<RoselleEmbeddingModel> embedding) {
        this.chat = chat;
        this.encoder = encoder;
        this.embedding = embedding;
        streaming = chat.map(RoselleChatModel::streaming);
    }

    /**
     * Opens the models of a node of the configuration: {@code model}, {@code name}, {@code embedding-model}, {@code device},
     * {@code context}, {@code max-sequences}, and below {@code chat} {@code temperature}, {@code top-p}, {@code top-k}, {@code max-tokens},
     * {@code seed}.
     *
     * @throws IllegalArgumentException if the node names no model at all, or has a key that is none of these
     */
    public static RoselleModels create(Config config) {
        ConfigKeys.requireKnown(config);
        Optional<Path> model = path(config, "model");
        Optional<Path> embeddingModel = path(config, "embedding-model");
        if (model.isEmpty() && embeddingModel.isEmpty()) {
            throw new IllegalArgumentException(
                    config.key() + " names no model: it has neither model nor embedding-model");
        }
        Optional<RoselleChatModel> chat = model.map(file -> chatModel(file, config));
        try {
            Optional<EmbeddingEngine> encoder = embeddingModel.map(
                    folder -> EmbeddingEngine.open(EmbeddingConfig.of(folder).with(device(config))));
            return new RoselleModels(
                    chat,
                    encoder,
                    encoder.map(engine -> RoselleEmbeddingModel.of(
                            engine, String.valueOf(embeddingModel.orElseThrow().getFileName()), List.of())));
        } catch (RuntimeException failure) {
            chat.ifPresent(RoselleChatModel::close);
            throw failure;
        }
    }

    private static Optional<Path> path(Config config, String key) {
        return config.get(key).asString().asOptional().map(Path::of);
    }

    private static DeviceOptions device(Config config) {
        return new DeviceOptions(config.get("device").asString().orElse("auto"), DeviceOptions.DEFAULT.threads());
    }

    private static RoselleChatModel chatModel(Path model, Config config) {
        BatchOptions defaults = BatchOptions.DEFAULT;
        int sequences = config.get("max-sequences").asInt().orElse(defaults.maxSequences());
        Config chat = config.get("chat");
        var builder = RoselleChatModel.builder()
                .config(EngineConfig.of(model)
                        .with(device(config))
                        .with(new BatchOptions(
                                config.get("context").asInt().orElse(0),
                                sequences,
                                Math.max(defaults.stepTokens(), sequences),
                                defaults.chunkTokens(),
                                defaults.maxQueue())))
                .temperature(orNull(chat.get("temperature").asDouble().asOptional()))
                .topP(orNull(chat.get("top-p").asDouble().asOptional()))
                .topK(orNull(chat.get("top-k").asInt().asOptional()))
                .maxOutputTokens(orNull(chat.get("max-tokens").asInt().asOptional()))
                .seed(orNull(chat.get("seed").asLong().asOptional()));
        config.get("name").asString().ifPresent(builder::modelName);
        return builder.build();
    }

    private static <T> @Nullable T orNull(Optional<T> value) {
        return value.orElse(null);
    }

    /**
     * The chat model.
     *
     * @throws IllegalStateException if the configuration names no {@code model}
     */
    public RoselleChatModel chatModel() {
        return required(chat, "model");
    }

    /**
     * The chat model as a stream, over the same engine.
     *
     * @throws IllegalStateException if the configuration names no {@code model}
     */
    public StreamingChatModel streamingChatModel() {
        return required(streaming, "model");
    }

    /**
     * The embedding model.
     *
     * @throws IllegalStateException if the configuration names no {@code embedding-model}
     */
    public EmbeddingModel embeddingModel() {
        return required(embedding, "embedding-model");
    }

    private static <T> T required(Optional<T> model, String key) {
        return model.orElseThrow(() -> new IllegalStateException("the configuration has no " + key));
    }

    /** Whether the engine takes requests, for {@code /observe/health}. */
    public HealthCheck healthCheck() {
        return new EngineHealth(chatModel().engine());
    }

    @Override
    public void close() {
        chat.ifPresent(RoselleChatModel::close);
        encoder.ifPresent(EmbeddingEngine::close);
    }
}
