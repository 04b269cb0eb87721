package roselle.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.embedding.common.AbstractEmbeddingModelIT;
import dev.langchain4j.model.embedding.listener.EmbeddingModelListener;
import dev.langchain4j.model.output.TokenUsage;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import roselle.embedding.EmbeddingConfig;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.EmbeddingOptions;

/** LangChain4j's own tests of embedding models, and ours, with a tiny encoder; and scores of a tiny cross-encoder. */
class RoselleEmbeddingModelTest extends AbstractEmbeddingModelIT {
    private final EmbeddingEngine engine = EmbeddingEngine.open(EmbeddingConfig.of(TestModels.encoder("bert")));
    private final EmbeddingEngine closed = EmbeddingEngine.open(EmbeddingConfig.of(TestModels.encoder("bert")));

    @AfterAll
    void close() {
        engine.close();
    }

    @Override
    protected List<EmbeddingModel> models() {
        return List.of(RoselleEmbeddingModel.of(engine, "bert", List.of()));
    }

    @Override
    protected EmbeddingModel modelWith(EmbeddingModelListener listener) {
        return RoselleEmbeddingModel.of(engine, "bert", List.of(listener));
    }

    @Override
    protected EmbeddingModel failingModelWith(EmbeddingModelListener listener) {
        closed.close();
        return RoselleEmbeddingModel.of(closed, "closed", List.of(listener));
    }

    @Override
    protected boolean supportsInputTypeParameter() {
        return !engine.prompts().isEmpty();
    }

    @Override
    protected int dimensionsParameter() {
        return engine.width() / 2;
    }

    @Override
    protected boolean supportsImageInput() {
        return false;
    }

    @Test
    void givesTheEnginesVectors() {
        var texts = List.of("the sky is blue", "grass is green");
        var ours = models().getFirst()
                .embedAll(texts.stream().map(TextSegment::from).toList())
                .content();
        assertThat(ours.stream().map(each -> each.vector()).toList()).containsExactlyElementsOf(engine.embed(texts));
    }

    @Test
    void scoresPairs() {
        try (var scorer = EmbeddingEngine.open(EmbeddingConfig.of(TestModels.encoder("bert-cross")))) {
            var model = RoselleScoringModel.of(scorer);
            var scores = model.scoreAll(
                    List.of(TextSegment.from("Berlin is a city"), TextSegment.from("grass is green")),
                    "What is Berlin?");
            var logits = scorer.score(
                    "What is Berlin?", List.of("Berlin is a city", "grass is green"), EmbeddingOptions.DEFAULT);
            assertThat(scores.content())
                    .containsExactly((double) logits.vectors().get(0)[0], (double)
                            logits.vectors().get(1)[0]);
            assertThat(scores.tokenUsage()).isEqualTo(new TokenUsage(logits.tokens()));
            assertThatThrownBy(() -> RoselleEmbeddingModel.of(scorer, "cross", List.of()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("RoselleScoringModel");
        }
        assertThatThrownBy(() -> RoselleScoringModel.of(engine)).isInstanceOf(IllegalArgumentException.class);
    }
}
