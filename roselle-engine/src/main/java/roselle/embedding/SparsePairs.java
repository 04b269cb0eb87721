package roselle.embedding;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.path.Checkpoints;

/** Sparse vectors as pairs of a token's id and its weight, and the heads that give them. */
final class SparsePairs {
    private static final String HEAD = "sparse_linear.safetensors";
    private static final String PICKLE = "sparse_linear.pt";

    private SparsePairs() {}

    /** How the logits of masked tokens become a vector: of each token of the vocabulary the highest counts. */
    static EncoderOutput ofMaskedTokens(Metadata pooling) {
        require(pooling, "pooling_strategy", "max", List.of("max"));
        String activation = require(pooling, "activation_function", "relu", List.of("relu", "log1p_relu"));
        boolean isTwice = activation.equals("log1p_relu");
        return EncoderOutput.ofVocabulary(new OutputStep.Each(x -> {
            double once = Math.log1p(Math.max(0, x));
            return isTwice ? Math.log1p(once) : once;
        }));
    }

    private static String require(Metadata pooling, String field, String assumed, List<String> known) {
        String value = pooling.string(field, assumed);
        if (!known.contains(value)) {
            throw new CheckpointException(
                    pooling.origin() + ": " + field + " is " + value + "; supported is " + String.join(" or ", known));
        }
        return value;
    }

    /** A weight of each token, by a layer beside the model (BGE-M3; Chen et al., 2024); null where there is none. */
    static @Nullable EncoderOutput ofTokens(Path folder, int width) {
        if (!Files.exists(folder.resolve(HEAD))) {
            return null;
        }
        try (Checkpoint head = Checkpoints.open(folder.resolve(HEAD))) {
            OutputStep weight = Classifiers.dense(head, "", 1, width, true, x -> Math.max(0, x));
            return new EncoderOutput(List.of(weight), Pooling.TOKENS, List.of(), List.of());
        }
    }

    /** Why a folder gives no sparse vectors. */
    static String absence(Path folder) {
        return Files.exists(folder.resolve(PICKLE))
                ? PICKLE + " is a pickle, which is code and is not read: convert it to " + HEAD
                : "the model has no sparse vectors: it has neither " + HEAD + " nor SpladePooling among its modules";
    }

    /** What is not 0 of a vector of the vocabulary. */
    static float[] of(float[] vector) {
        var pairs = new float[2 * vector.length];
        int at = 0;
        for (int id = 0; id < vector.length; id++) {
            if (vector[id] != 0) {
                pairs[at++] = id;
                pairs[at++] = vector[id];
            }
        }
        return Arrays.copyOf(pairs, at);
    }

    /** Of each token of a text the highest weight that it has there; tokens without text have none. */
    static float[] of(EncoderInput text, float[] weights, IntPredicate isSpecial) {
        var highest = new TreeMap<Integer, Float>();
        for (int token = 0; token < weights.length; token++) {
            if (weights[token] > 0 && !isSpecial.test(text.id(token))) {
                highest.merge(text.id(token), weights[token], Math::max);
            }
        }
        var pairs = new float[2 * highest.size()];
        int at = 0;
        for (Map.Entry<Integer, Float> each : highest.entrySet()) {
            pairs[at++] = each.getKey();
            pairs[at++] = each.getValue();
        }
        return pairs;
    }
}
