package roselle.langchain4j;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.exception.UnsupportedFeatureException;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.embedding.listener.EmbeddingModelListener;
import dev.langchain4j.model.embedding.request.EmbeddingInput;
import dev.langchain4j.model.embedding.request.EmbeddingInputType;
import dev.langchain4j.model.embedding.request.EmbeddingParameter;
import dev.langchain4j.model.embedding.request.EmbeddingRequest;
import dev.langchain4j.model.embedding.request.EmbeddingRequestParameters;
import dev.langchain4j.model.embedding.response.EmbeddingResponse;
import dev.langchain4j.model.embedding.response.EmbeddingResponseMetadata;
import dev.langchain4j.model.output.TokenUsage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.embedding.EmbeddingConfig;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.EmbeddingOptions;

/** An encoder in this process as LangChain4j's embedding model. {@link #close} closes the engine that {@link #open} opened, and no other. */
public final class RoselleEmbeddingModel implements EmbeddingModel, AutoCloseable {
    private final EmbeddingEngine engine;
    private final boolean ownsEngine;
    private final String name;
    private final List<EmbeddingModelListener> listeners;

    private RoselleEmbeddingModel(
            EmbeddingEngine engine, boolean ownsEngine, String name, List<EmbeddingModelListener> listeners) {
        this.engine = engine;
        this.ownsEngine = ownsEngine;
        this.name = name;
        this.listeners = List.copyOf(listeners);
    }

    /** Opens a folder as sentence-transformers writes it, with every default. */
    public static RoselleEmbeddingModel open(Path model) {
        EmbeddingEngine engine = EmbeddingEngine.open(EmbeddingConfig.of(model));
        try {
            requireEmbeddings(engine);
        } catch (RuntimeException failure) {
            engine.close();
            throw failure;
        }
        return new RoselleEmbeddingModel(engine, true, RoselleChatModelBuilder.fileName(model), List.of());
    }

    /** An engine that is open already, and stays open when the model is closed. */
    public static RoselleEmbeddingModel of(
            EmbeddingEngine engine, String name, List<EmbeddingModelListener> listeners) {
        requireEmbeddings(engine);
        return new RoselleEmbeddingModel(engine, false, name, listeners);
    }

    private static void requireEmbeddings(EmbeddingEngine engine) {
        if (!engine.labels().isEmpty()) {
            throw new IllegalArgumentException("the model scores texts as " + String.join(", ", engine.labels())
                    + ": a cross-encoder is a RoselleScoringModel");
        }
    }

    @Override
    public EmbeddingResponse doEmbed(EmbeddingRequest request) {
        List<String> texts = request.inputs().stream().map(EmbeddingInput::text).toList();
        EmbeddingRequestParameters asked = request.parameters();
        int dimensions = asked.dimensions() == null ? 0 : asked.dimensions();
        try {
            var results = engine.embed(
                    texts, new EmbeddingOptions(prompt(asked.inputType()), dimensions, false, Duration.ZERO));
            return EmbeddingResponse.builder()
                    .embeddings(results.vectors().stream().map(Embedding::from).toList())
                    .metadata(EmbeddingResponseMetadata.builder()
                            .modelName(name)
                            .tokenUsage(new TokenUsage(results.tokens()))
                            .build())
                    .build();
        } catch (RuntimeException failure) {
            throw Failures.of(failure);
        }
    }

    /** The name of the model's prompt for a kind of text; null for the model's default where none is asked for. */
    private @Nullable String prompt(@Nullable EmbeddingInputType type) {
        if (type == null) {
            return null;
        }
        String word = type.name().toLowerCase(Locale.ROOT);
        if (engine.prompts().containsKey(word)) {
            return word;
        }
        throw new UnsupportedFeatureException(
                "inputType " + type + " is not supported by this model: it has no prompt " + word);
    }

    @Override
    public Set<EmbeddingParameter<?>> supportedParameters() {
        return engine.prompts().isEmpty()
                ? Set.of(EmbeddingRequestParameters.DIMENSIONS)
                : Set.of(EmbeddingRequestParameters.DIMENSIONS, EmbeddingRequestParameters.INPUT_TYPE);
    }

    @Override
    public List<EmbeddingModelListener> listeners() {
        return listeners;
    }

    @Override
    public int dimension() {
        return engine.width();
    }

    @Override
    public String modelName() {
        return name;
    }

    @Override
    public void close() {
        if (ownsEngine) {
            engine.close();
        }
    }
}
