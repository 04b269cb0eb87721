package roselle.langchain4j;

import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.output.Response;
import dev.langchain4j.model.output.TokenUsage;
import dev.langchain4j.model.scoring.ScoringModel;
import java.nio.file.Path;
import java.util.List;
import roselle.embedding.EmbeddingConfig;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.EmbeddingOptions;

/**
 * A cross-encoder in this process as LangChain4j's scoring model; scores are the model's logits. {@link #close} closes the engine that
 * {@link #open} opened, and no other.
 */
public final class RoselleScoringModel implements ScoringModel, AutoCloseable {
    private final EmbeddingEngine engine;
    private final boolean ownsEngine;

    private RoselleScoringModel(EmbeddingEngine engine, boolean ownsEngine) {
        this.engine = engine;
        this.ownsEngine = ownsEngine;
    }

    /** Opens a folder with every default. */
    public static RoselleScoringModel open(Path model) {
        EmbeddingEngine engine = EmbeddingEngine.open(EmbeddingConfig.of(model));
        try {
            requireOneScore(engine);
        } catch (RuntimeException failure) {
            engine.close();
            throw failure;
        }
        return new RoselleScoringModel(engine, true);
    }

    /** An engine that is open already, and stays open when the model is closed. */
    public static RoselleScoringModel of(EmbeddingEngine engine) {
        requireOneScore(engine);
        return new RoselleScoringModel(engine, false);
    }

    private static void requireOneScore(EmbeddingEngine engine) {
        if (engine.labels().size() != 1) {
            throw new IllegalArgumentException(
                    "the model has " + engine.labels().size() + " scores for a pair of texts: a cross-encoder has one");
        }
    }

    @Override
    public Response<List<Double>> scoreAll(List<TextSegment> segments, String query) {
        List<String> texts = segments.stream().map(TextSegment::text).toList();
        try {
            var results = engine.score(query, texts, EmbeddingOptions.DEFAULT);
            List<Double> scores =
                    results.vectors().stream().map(vector -> (double) vector[0]).toList();
            return Response.from(scores, new TokenUsage(results.tokens()));
        } catch (RuntimeException failure) {
            throw Failures.of(failure);
        }
    }

    @Override
    public void close() {
        if (ownsEngine) {
            engine.close();
        }
    }
}
