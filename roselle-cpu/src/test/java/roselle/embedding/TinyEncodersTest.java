package roselle.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.option.Precision;
import roselle.execution.Float32Copy;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Each family of encoders computes what Hugging Face's implementation computed, alone and beside others, on each path. */
class TinyEncodersTest {
    static final Path MODELS = Path.of("../roselle-engine/src/test/resources/tiny-encoders");
    private static final double TOLERANCE = 1e-4;
    private static final int ANY = 1 << 20;

    static List<Path> models() throws IOException {
        try (Stream<Path> files = Files.list(MODELS)) {
            return files.filter(Files::isDirectory).sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("models")
    void equalsTheReferenceAloneAndTogether(Path model) {
        check(model, CpuOptions.of(2));
    }

    @Test
    void equalsTheReferenceByTheVectorApi() {
        check(MODELS.resolve("bert"), CpuOptions.of(2).with(CpuPath.VECTOR));
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("models")
    void equalsTheReferenceOnEachPath(Path model) {
        CpuDevice.paths().forEach(path -> check(model, CpuOptions.of(1).with(path)));
    }

    /** Numbers of float32 that are split into two of bfloat16 stay within what is borne of float32. */
    @ParameterizedTest
    @MethodSource("models")
    void equalsTheReferenceInSplitNumbers(Path model, @TempDir Path folder) throws IOException {
        assumeTrue(CpuDevice.paths().contains(CpuPath.AMX));
        checkAsAsked(
                Float32Copy.of(model, folder),
                CpuOptions.of(2).with(CpuPath.AMX).with(Precision.SPLIT));
    }

    /** NomicBERT was first released with GPT-2's names of sizes. */
    @Test
    void readsTheConfigurationOfAFirstRelease(@TempDir Path folder) throws IOException {
        Path model = MODELS.resolve("nomic-bert");
        int vocabulary = JsonMapper.shared()
                .readTree(Files.readString(model.resolve("config.json")))
                .get("vocab_size")
                .asInt();
        for (String file :
                List.of("model.safetensors", "modules.json", "1_Pooling/config.json", "expected.safetensors")) {
            Files.createDirectories(folder.resolve(file).getParent());
            Files.copy(model.resolve(file), folder.resolve(file));
        }
        Files.writeString(folder.resolve("config.json"), """
                {"model_type": "nomic_bert", "activation_function": "swiglu", "causal": false, "layer_norm_epsilon": 1e-12,
                 "n_embd": 32, "n_head": 2, "n_inner": 48, "n_layer": 2, "n_positions": 192, "max_trained_positions": 2048,
                 "qkv_proj_bias": false, "mlp_fc1_bias": false, "mlp_fc2_bias": false, "prenorm": false, "rotary_emb_base": 1000,
                 "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": false, "rotary_emb_scale_base": null,
                 "rotary_scaling_factor": null, "type_vocab_size": 2, "vocab_size": %d}""".formatted(vocabulary));
        check(folder, CpuOptions.of(1));
    }

    private static void check(Path model, CpuOptions options) {
        checkAsAsked(model, options.with(Precision.F32));
    }

    private static void checkAsAsked(Path model, CpuOptions options) {
        List<EncoderVerification.Difference> alone = verify(model, options, false);
        assertThat(alone).as("with %s", options).hasSize(3).allMatch(each -> each.isWithin(TOLERANCE));
        assertThat(verify(model, options, true)).as("the same bits together").isEqualTo(alone);
    }

    private static List<EncoderVerification.Difference> verify(Path model, CpuOptions options, boolean together) {
        try (Checkpoint reference = Checkpoints.open(model.resolve("expected.safetensors"));
                var device = new CpuDevice(options)) {
            return EncoderVerification.of(reference).run(model, device, together);
        }
    }

    @ParameterizedTest
    @MethodSource("models")
    void makesTheIdsAndTypesOfHuggingFacesTokenizer(Path model) throws IOException {
        JsonNode texts = JsonMapper.shared().readTree(Files.readString(model.resolve("texts.json")));
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            Tokenizer tokenizer = checkpoint.tokenizer();
            PairTemplate pairs = SentenceFolder.of(checkpoint).pairs();
            for (JsonNode each : texts) {
                if (pairs != null) {
                    var reader = new TextReader(checkpoint, ANY);
                    PairTemplate.Parts parts =
                            pairs.parts(each.path("instruction").asStringOpt().orElse(null));
                    String query = each.get("texts").get(0).asString();
                    String document = each.get("texts").get(1).asString();
                    assertThat(reader.prompt(parts, query, document, false)).isEqualTo(integers(each.get("ids")));
                    continue;
                }
                int[] first = tokenizer.encode(each.get("texts").get(0).asString(), EncodeOptions.PLAIN);
                int[] ids = integers(each.get("ids"));
                if (each.get("texts").size() == 1) {
                    assertThat(tokenizer.withSpecial(first)).isEqualTo(ids);
                    continue;
                }
                int[] second = tokenizer.encode(each.get("texts").get(1).asString(), EncodeOptions.PLAIN);
                var pair = tokenizer.pair(first, second);
                assertThat(pair.ids()).isEqualTo(ids);
                assertThat(pair.types()).isEqualTo(integers(each.get("types")));
            }
        }
    }

    static int[] integers(JsonNode list) {
        return list.valueStream().mapToInt(JsonNode::asInt).toArray();
    }
}
