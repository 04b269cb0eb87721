package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.backend.Device;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cuda.driver.NativeDriver;
import roselle.cuda.kernel.CubinCache;
import roselle.embedding.EmbeddingConfig;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.EncoderOnDevice;
import roselle.embedding.EncoderVerification;
import roselle.embedding.EncoderVerification.Difference;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/** Each family of encoders computes on a GPU what Hugging Face's implementation computed, with the same bits alone and beside others. */
@Tag("gpu")
class CudaEncodersTest {
    private static final double TOLERANCE = 1e-4; // in float32

    static List<Path> models() throws IOException {
        return FakeEncodersTest.models();
    }

    private static Device device(DataType type) {
        return new CudaDevice(new NativeDriver(), 0, type, CubinCache.ofUser());
    }

    @ParameterizedTest
    @MethodSource("models")
    void equalsTheReferenceAloneAndTogether(Path model) {
        assertThat(differences(model, DataType.F32)).allMatch(each -> each.isWithin(TOLERANCE));
    }

    @ParameterizedTest
    @MethodSource("models")
    void isNearTheReferenceIn16Bits(Path model) {
        isNear(model, DataType.BF16, 0.1, Difference.LEAST_ROUNDED_COSINE);
        isNear(model, DataType.F16, 0.02, Difference.LEAST_COSINE);
    }

    /** Numbers of hidden states are up to about 4, of logits more, where the bound grows with them. */
    private static void isNear(Path model, DataType type, double bound, double leastCosine) {
        List<Difference> differences = differences(model, type);
        for (int i = 0; i < differences.size(); i++) {
            Difference each = differences.get(i);
            double size = Math.max(1, guessesTokens(model) ? largestState(model, i) / 4 : 1);
            List<Double> far = each.states().stream()
                    .filter(state -> !(state <= size * bound))
                    .toList();
            assertThat(far).as("input %d in %s", i, type.label()).hasSizeLessThanOrEqualTo(atMostFar(model));
            assertThat(each.result()).as("input %d in %s", i, type.label()).isLessThanOrEqualTo(bound);
            assertThat(each.cosine()).as("input %d in %s", i, type.label()).isGreaterThanOrEqualTo(leastCosine);
        }
    }

    /** Where masked tokens are guessed, the states are logits of the whole vocabulary. */
    private static boolean guessesTokens(Path model) {
        return model.getFileName().toString().startsWith("splade");
    }

    /**
     * Tokens whose experts may be others once numbers are rounded: of nomic-bert-moe, two of 472 have a second and a third choice
     * whose shares are 0.0001 and 0.0003 apart.
     */
    private static int atMostFar(Path model) {
        return model.getFileName().toString().endsWith("-moe") ? 2 : 0;
    }

    private static double largestState(Path model, int input) {
        try (Checkpoint reference = Checkpoints.open(model.resolve("expected.safetensors"))) {
            double largest = 0;
            for (float state : Dequantizer.all(reference.tensor("hidden_" + input))) {
                largest = Math.max(largest, Math.abs(state));
            }
            return largest;
        }
    }

    private static List<Difference> differences(Path model, DataType type) {
        try (Checkpoint reference = Checkpoints.open(model.resolve("expected.safetensors"));
                Device device = device(type)) {
            var verification = EncoderVerification.of(reference);
            List<Difference> alone = verification.run(model, device, false);
            assertThat(alone).hasSize(3);
            assertThat(verification.run(model, device, true))
                    .as("the same bits together, in %s", type.label())
                    .isEqualTo(alone);
            return alone;
        }
    }

    /** Few tokens are a recorded step, which is replayed for other texts of as many. */
    @Test
    void textsOfFewTokensHaveTheSameBitsHoweverTheyCome() {
        for (String model : List.of("bert", "embedding-gemma", "mpnet")) {
            var config = EmbeddingConfig.of(Path.of("../roselle-engine/src/test/resources/tiny-encoders", model));
            List<int[]> texts = List.of(new int[] {7}, new int[] {5, 9}, new int[] {3, 4, 6}, new int[] {8, 2});
            try (EmbeddingEngine engine = EncoderOnDevice.open(config, device(DataType.BF16))) {
                List<float[]> alone = new ArrayList<>();
                texts.forEach(text -> alone.add(embed(engine, List.of(text)).getFirst()));
                var many = new ArrayList<int[]>();
                var expected = new ArrayList<float[]>();
                for (int i = 0; i < 64; i++) {
                    many.add(i % 5 == 4 ? new int[37 + i] : texts.get(i % 5));
                    expected.add(i % 5 == 4 ? new float[0] : alone.get(i % 5));
                }
                for (int round = 0; round < 5; round++) {
                    for (List<Integer> order : List.of(List.of(0, 1, 2, 3), List.of(3, 2, 1, 0), List.of(2, 0, 3, 1))) {
                        List<float[]> got =
                                embed(engine, order.stream().map(texts::get).toList());
                        for (int i = 0; i < order.size(); i++) {
                            assertThat(got.get(i)).isEqualTo(alone.get(order.get(i)));
                        }
                    }
                    List<float[]> beside = embed(engine, many);
                    for (int i = 0; i < many.size(); i++) {
                        if (expected.get(i).length > 0) {
                            assertThat(beside.get(i)).isEqualTo(expected.get(i));
                        }
                    }
                }
            }
        }
    }

    private static List<float[]> embed(EmbeddingEngine engine, List<int[]> texts) {
        return engine.embedIds(texts, EmbeddingOptions.DEFAULT).vectors();
    }
}
