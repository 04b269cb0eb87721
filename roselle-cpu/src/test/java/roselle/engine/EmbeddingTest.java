package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.DeviceException;
import roselle.api.GenerationRequest;
import roselle.api.InvalidRequestException;
import roselle.api.Prompt;
import roselle.api.SchedulingOptions;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.Precision;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.tensor.Dequantizer;
import roselle.tensor.Tensor;

/** Vectors of texts: the mean of the last hidden states. */
class EmbeddingTest {
    private static final Path MODEL = Path.of("../roselle-engine/src/test/resources/tiny-models/llama");
    private static final Prompt TOKENS = Prompt.Tokens.of(5, 17, 99, 3, 250, 42, 7, 7, 7, 120, 81, 14, 0, 9, 33, 2, 61);

    /** The logits are a linear function of the hidden states, so their mean is that of the states' mean. */
    @ParameterizedTest
    @ValueSource(strings = {"llama", "qwen2", "olmo2"})
    void theMeanGivesTheMeanOfHuggingFacesLogits(String name) {
        Path folder = Path.of("../roselle-engine/src/test/resources/tiny-models", name);
        try (Checkpoint model = Checkpoints.open(folder);
                Checkpoint reference = Checkpoints.open(folder.resolve("expected.safetensors"));
                var engine = exact(folder)) {
            Tensor input = tensor(reference, "input_2");
            Tensor logits = tensor(reference, "logits_2");
            Tensor output = model.tensors().containsKey("lm_head.weight")
                    ? tensor(model, "lm_head.weight")
                    : tensor(model, "model.embed_tokens.weight");

            float[] mean = vector(engine, new Prompt.Tokens(ids(input)));

            double[] expected = meanOfRows(logits);
            var row = new float[mean.length];
            for (int token = 0; token < expected.length; token++) {
                Dequantizer.row(output, token, row, 0);
                double logit = 0;
                for (int column = 0; column < row.length; column++) {
                    logit += (double) row[column] * mean[column];
                }
                assertThat(logit).as("mean logit of token %d", token).isCloseTo(expected[token], within(5e-4));
            }
        }
    }

    /** An engine that rounds neither activations nor keys and values. */
    private static Engine exact(Path folder) {
        var config = TestConfig.of(folder).with(new CacheOptions("f32", 0, 16, true));
        return EngineOnDevice.open(config, new CpuDevice(CpuOptions.of(2).with(Precision.F32)));
    }

    private static Tensor tensor(Checkpoint checkpoint, String name) {
        return Objects.requireNonNull(checkpoint.tensors().get(name), name);
    }

    private static List<Integer> ids(Tensor tensor) {
        var ids = new ArrayList<Integer>();
        for (float id : Dequantizer.all(tensor)) {
            ids.add((int) id);
        }
        return ids;
    }

    private static double[] meanOfRows(Tensor matrix) {
        int rows = Math.toIntExact(matrix.shape().rows());
        var mean = new double[Math.toIntExact(matrix.shape().columns())];
        var row = new float[mean.length];
        for (int index = 0; index < rows; index++) {
            Dequantizer.row(matrix, index, row, 0);
            for (int column = 0; column < row.length; column++) {
                mean[column] += row[column] / (double) rows;
            }
        }
        return mean;
    }

    private static float[] vector(Engine engine, Prompt text) {
        try (Embedding embedding = engine.embed(text, SchedulingOptions.DEFAULT)) {
            return embedding.vector();
        }
    }

    @Test
    void theBitsDoNotDependOnChunksCacheOrNeighbours() {
        float[] alone;
        try (var engine = Engine.open(TestConfig.of(MODEL))) {
            alone = vector(engine, TOKENS);
            assertThat(vector(engine, TOKENS)).as("after itself").containsExactly(alone);
            var strangers = new ArrayList<Generation>();
            for (int seed = 0; seed < 20; seed++) {
                strangers.add(engine.submit(GenerationRequest.builder()
                        .prompt(Prompt.Tokens.of(seed, 2 * seed, 7))
                        .seed(seed)
                        .maxTokens(20)
                        .ignoreEos(true)
                        .build()));
            }
            assertThat(vector(engine, TOKENS)).as("among strangers").containsExactly(alone);
            strangers.forEach(Generation::close);
        }
        for (int chunk : new int[] {1, 5, 16}) {
            var config = TestConfig.of(MODEL).with(new BatchOptions(0, 4, 16, chunk, 10));
            try (var engine = Engine.open(config)) {
                assertThat(vector(engine, TOKENS)).as("in chunks of %d", chunk).containsExactly(alone);
            }
        }
    }

    @Test
    void aTextWithoutTokensIsRefused() {
        try (var engine = Engine.open(TestConfig.of(MODEL))) {
            assertThatThrownBy(() -> engine.embed(Prompt.Tokens.of(), SchedulingOptions.DEFAULT))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("no tokens");
        }
    }

    @Test
    void aClosedEngineFailsWhatWaits() {
        var engine = Engine.open(TestConfig.of(MODEL));
        Embedding embedding = engine.embed(TOKENS, SchedulingOptions.DEFAULT);
        embedding.close();
        engine.close();

        // Either it was done before, or it says what happened; it never hangs.
        try {
            assertThat(embedding.vector()).isNotEmpty();
        } catch (DeviceException ended) {
            assertThat(String.valueOf(ended.getMessage())).containsAnyOf("cancelled", "closed");
        }
    }
}
