package roselle.server.encoder;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import roselle.api.Prompt;
import roselle.api.SchedulingOptions;
import roselle.engine.Embedding;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;

/** Vectors of texts from a model that generates: the mean of its last hidden states over all tokens, as long as the model is wide. */
public final class DecoderVectors {
    /** Texts of one request that are in an engine at a time, so that a long list does not fill its queue. */
    private static final int AT_A_TIME = 32;

    private final Deque<Embedding> running = new ArrayDeque<>();
    private final int dimensions;
    private final Taker taker;

    private DecoderVectors(int dimensions, Taker taker) {
        this.dimensions = dimensions;
        this.taker = taker;
    }

    /** Takes a text's vector, which is not scaled, and how many tokens the text has. */
    @FunctionalInterface
    public interface Taker {
        void take(float[] vector, int tokens);
    }

    /**
     * Waits for the vectors of texts, in their order.
     *
     * @param dimensions that they must have, since they cannot be cut; 0 for any
     */
    public static void read(
            AdmittedRequest admitted,
            ServedModel decoder,
            List<Prompt> texts,
            SchedulingOptions scheduling,
            int dimensions,
            Taker taker) {
        new DecoderVectors(dimensions, taker).read(admitted, decoder, texts, scheduling);
    }

    private void read(AdmittedRequest admitted, ServedModel decoder, List<Prompt> texts, SchedulingOptions scheduling) {
        try {
            for (Prompt text : texts) {
                if (running.size() == AT_A_TIME) {
                    take();
                }
                running.add(admitted.embed(decoder, text, scheduling));
            }
            while (!running.isEmpty()) {
                take();
            }
        } finally {
            running.forEach(Embedding::close);
        }
    }

    /** Waits for the oldest text's vector. */
    private void take() {
        try (Embedding embedding = running.remove()) {
            float[] vector = embedding.vector();
            if (dimensions != 0 && dimensions != vector.length) {
                throw ApiException.invalid(
                        "dimensions",
                        "dimensions is " + dimensions + ", but the model's vectors have " + vector.length
                                + " and cannot be cut");
            }
            taker.take(vector, embedding.tokens());
        }
    }
}
