package roselle.spring;

import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.Embedding;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.ai.embedding.EmbeddingResponseMetadata;
import org.springframework.ai.embedding.observation.DefaultEmbeddingModelObservationConvention;
import org.springframework.ai.embedding.observation.EmbeddingModelObservationContext;
import org.springframework.ai.embedding.observation.EmbeddingModelObservationConvention;
import org.springframework.ai.embedding.observation.EmbeddingModelObservationDocumentation;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.EmbeddingOptions;

/** An encoder in this process as Spring AI's embedding model. */
public final class RoselleEmbeddingModel implements EmbeddingModel {
    private static final EmbeddingModelObservationConvention CONVENTION =
            new DefaultEmbeddingModelObservationConvention();

    private final EmbeddingEngine engine;
    private final String name;
    private final ObservationRegistry observations;

    /** An embedding model of an engine, which stays its owner's. */
    public RoselleEmbeddingModel(EmbeddingEngine engine, String name, ObservationRegistry observations) {
        this.engine = engine;
        this.name = name;
        this.observations = observations;
    }

    @Override
    public EmbeddingResponse call(EmbeddingRequest request) {
        // Conventions ask for the options' model.
        var asked = new EmbeddingRequest(request.getInstructions(), withName(request.getOptions()));
        var context = EmbeddingModelObservationContext.builder()
                .embeddingRequest(asked)
                .provider("roselle")
                .build();
        return EmbeddingModelObservationDocumentation.EMBEDDING_MODEL_OPERATION
                .observation(null, CONVENTION, () -> context, observations)
                .observe(() -> {
                    EmbeddingResponse response = answer(asked);
                    context.setResponse(response);
                    return response;
                });
    }

    private org.springframework.ai.embedding.EmbeddingOptions withName(
            org.springframework.ai.embedding.@Nullable EmbeddingOptions asked) {
        var options =
                org.springframework.ai.embedding.EmbeddingOptions.builder().model(name);
        if (asked == null) {
            return options.build();
        }
        if (asked.getModel() != null && !asked.getModel().equals(name)) {
            throw new InvalidRequestException(
                    Reason.UNSUPPORTED, "model", "model is " + asked.getModel() + ": it is " + name);
        }
        return asked.getDimensions() == null
                ? options.build()
                : options.dimensions(asked.getDimensions()).build();
    }

    private EmbeddingResponse answer(EmbeddingRequest request) {
        Integer dimensions =
                request.getOptions() == null ? null : request.getOptions().getDimensions();
        var results = engine.embed(
                request.getInstructions(),
                new EmbeddingOptions(null, dimensions == null ? 0 : dimensions, false, Duration.ZERO));
        List<Embedding> embeddings = IntStream.range(0, results.vectors().size())
                .mapToObj(index -> new Embedding(results.vectors().get(index), index))
                .toList();
        return new EmbeddingResponse(
                embeddings, new EmbeddingResponseMetadata(name, new DefaultUsage(results.tokens(), 0)));
    }

    @Override
    public float[] embed(Document document) {
        String text = getEmbeddingContent(document);
        if (text == null) {
            throw new InvalidRequestException(
                    Reason.UNSUPPORTED, "document", "the document has media, which are not supported: only text is");
        }
        return embed(text);
    }

    @Override
    public int dimensions() {
        return engine.width();
    }
}
