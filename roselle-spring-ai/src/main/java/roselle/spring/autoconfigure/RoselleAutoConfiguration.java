package roselle.spring.autoconfigure;

import io.micrometer.observation.ObservationRegistry;
import java.nio.file.Path;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import roselle.backend.DeviceOptions;
import roselle.embedding.EmbeddingConfig;
import roselle.embedding.EmbeddingEngine;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.spring.RoselleChatModel;
import roselle.spring.RoselleChatOptions;
import roselle.spring.RoselleEmbeddingModel;

/** Opens the engines that properties name, closes them with the application, and puts the models over them. */
@AutoConfiguration
@EnableConfigurationProperties(RoselleProperties.class)
public class RoselleAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnProperty("spring.ai.roselle.model")
    Engine roselleEngine(RoselleProperties properties) {
        return Engine.open(EngineConfig.of(model(properties))
                .with(device(properties))
                .with(new BatchOptions(
                        properties.context(),
                        properties.maxSequences(),
                        Math.max(BatchOptions.DEFAULT.stepTokens(), properties.maxSequences()),
                        BatchOptions.DEFAULT.chunkTokens(),
                        BatchOptions.DEFAULT.maxQueue())));
    }

    private static Path model(RoselleProperties properties) {
        if (properties.model() == null) {
            throw new IllegalArgumentException("spring.ai.roselle.model is empty: it names a model");
        }
        return properties.model();
    }

    private static DeviceOptions device(RoselleProperties properties) {
        return new DeviceOptions(properties.device(), DeviceOptions.DEFAULT.threads());
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(Engine.class)
    RoselleChatModel roselleChatModel(
            Engine engine, RoselleProperties properties, ObjectProvider<ObservationRegistry> observations) {
        RoselleProperties.Chat chat = properties.chat();
        RoselleChatOptions options = RoselleChatOptions.builder()
                .temperature(chat.temperature())
                .topP(chat.topP())
                .topK(chat.topK())
                .maxTokens(chat.maxTokens())
                .seed(chat.seed())
                .build();
        return new RoselleChatModel(
                engine, name(properties), options, observations.getIfUnique(() -> ObservationRegistry.NOOP));
    }

    private static String name(RoselleProperties properties) {
        if (properties.name() != null) {
            return properties.name();
        }
        return properties.model() == null ? "roselle" : fileName(properties.model());
    }

    private static String fileName(Path model) {
        String name = String.valueOf(model.toAbsolutePath().normalize().getFileName());
        return name.endsWith(".gguf") ? name.substring(0, name.length() - ".gguf".length()) : name;
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnProperty("spring.ai.roselle.embedding-model")
    EmbeddingEngine roselleEmbeddingEngine(RoselleProperties properties) {
        if (properties.embeddingModel() == null) {
            throw new IllegalArgumentException("spring.ai.roselle.embedding-model is empty: it names a model");
        }
        return EmbeddingEngine.open(
                EmbeddingConfig.of(properties.embeddingModel()).with(device(properties)));
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(EmbeddingEngine.class)
    RoselleEmbeddingModel roselleEmbeddingModel(
            EmbeddingEngine engine, RoselleProperties properties, ObjectProvider<ObservationRegistry> observations) {
        String name = properties.embeddingModel() == null ? "roselle" : fileName(properties.embeddingModel());
        return new RoselleEmbeddingModel(engine, name, observations.getIfUnique(() -> ObservationRegistry.NOOP));
    }
}
