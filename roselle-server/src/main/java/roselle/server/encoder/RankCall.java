package roselle.server.encoder;

import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.TextResults;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.config.ServedEncoder;

/**
 * Texts that a query ranks.
 *
 * @param truncates whether the end of what is too long is left out
 * @param isRaw whether scores are logits instead of numbers from 0 to 1
 * @param instruction what the ranking is for, for decoders that are told so; null for the model's own
 */
public record RankCall(
        String query,
        List<String> texts,
        boolean truncates,
        boolean isRaw,
        @Nullable String instruction) {
    public RankCall {
        texts = List.copyOf(texts);
    }

    /** Asks an encoder that ranks. */
    public Ranking ask(AdmittedRequest admitted, ServedEncoder encoder) {
        EmbeddingOptions options =
                EmbeddingOptions.DEFAULT.withTruncate(truncates).withInstruction(instruction);
        TextResults results = admitted.encode(
                encoder,
                options,
                engine -> texts.stream()
                        .map(text -> engine.readPair(query, text, options))
                        .toList());
        List<Double> scores = results.vectors().stream()
                .map(logits -> Scores.of(logits, isRaw).getFirst())
                .toList();
        return new Ranking(scores, results.tokens());
    }
}
