package roselle.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.CheckpointException;
import roselle.backend.DeviceOptions;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.Precision;
import roselle.tensor.Dequantizer;
import roselle.tokenizer.EncodeOptions;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Encoders as llama.cpp's converter writes them compute what Hugging Face's implementation computed from the same weights. */
class GgufEncodersTest {
    private static final Path FILES = Path.of("../roselle-engine/src/test/resources/encoder-gguf");
    private static final String WITHOUT_POOLER = "bert-labels.gguf";
    private static final Set<String> NOT_NORMALISED = Set.of("distilbert", "nomic-bert");
    private static final double TOLERANCE = 1e-4;

    static List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(FILES)) {
            return files.filter(file -> file.toString().endsWith(".gguf"))
                    .filter(file -> !file.endsWith(WITHOUT_POOLER))
                    .sorted()
                    .toList();
        }
    }

    private static String name(Path file) {
        return file.getFileName().toString().replace(".gguf", "");
    }

    /** What the folder that was converted gives, or what is behind a head that the converter reads otherwise. */
    private static Path reference(Path file) {
        Path own = file.resolveSibling(name(file) + ".safetensors");
        return Files.exists(own)
                ? own
                : TinyEncodersTest.MODELS.resolve(name(file)).resolve("expected.safetensors");
    }

    @ParameterizedTest
    @MethodSource("files")
    void equalsTheReference(Path file) {
        assertThat(Encoders.isOne(file)).isTrue();
        try (Checkpoint reference = Checkpoints.open(reference(file));
                var device = new CpuDevice(CpuOptions.of(2).with(Precision.F32))) {
            var differences = EncoderVerification.of(reference).run(file, device, true);
            // some folders do not normalise what a GGUF always does: then the direction alone is the same
            assertThat(differences)
                    .hasSize(3)
                    .allMatch(each -> each.hidden() <= TOLERANCE)
                    .allMatch(each -> each.cosine() >= EncoderVerification.Difference.LEAST_COSINE);
            if (!NOT_NORMALISED.contains(name(file))) {
                assertThat(differences).allMatch(each -> each.isWithin(TOLERANCE));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bert", "nomic-bert", "roberta", "bert-labels", "qwen3-embedding", "qwen3-reranker"})
    void makesTheIdsOfHuggingFacesTokenizer(String name) throws IOException {
        JsonNode texts = JsonMapper.shared()
                .readTree(Files.readString(TinyEncodersTest.MODELS.resolve(name).resolve("texts.json")));
        try (Checkpoint checkpoint = Checkpoints.open(FILES.resolve(name + ".gguf"))) {
            var tokenizer = checkpoint.tokenizer();
            PairTemplate template = PairTemplate.of(checkpoint).orElse(null);
            for (JsonNode each : texts) {
                String first = each.get("texts").get(0).asString();
                int[] ids = TinyEncodersTest.integers(each.get("ids"));
                int[] plain = tokenizer.encode(first, EncodeOptions.PLAIN);
                if (each.get("texts").size() == 1) {
                    assertThat(tokenizer.withSpecial(plain)).isEqualTo(ids);
                    continue;
                }
                String second = each.get("texts").get(1).asString();
                if (template != null) {
                    String instruction = each.path("instruction").asStringOpt().orElse(null);
                    assertThat(new TextReader(checkpoint, 1 << 20)
                                    .prompt(template.parts(instruction), first, second, false))
                            .isEqualTo(ids);
                    continue;
                }
                var pair = tokenizer.pair(plain, tokenizer.encode(second, EncodeOptions.PLAIN));
                assertThat(pair.ids()).isEqualTo(ids);
                if (name.startsWith("bert")) { // of the others all tokens are of one type
                    assertThat(pair.types()).isEqualTo(TinyEncodersTest.integers(each.get("types")));
                }
            }
        }
    }

    /** The folder's tokenizer, which is held to Hugging Face's, keeps a space at the end; a GGUF says that such are dropped. */
    @Test
    void unigramsMakeTheIdsOfTheFoldersTokenizer() {
        try (Checkpoint file = Checkpoints.open(FILES.resolve("xlm-roberta.gguf"));
                Checkpoint folder = Checkpoints.open(TinyEncodersTest.MODELS.resolve("xlm-roberta"))) {
            for (String text : List.of("Hi.", "The quick brown fox doesn't jump", "a story of a ship")) {
                int[] ids = file.tokenizer().encode(text, EncodeOptions.PLAIN);
                int[] expected = folder.tokenizer().encode(text, EncodeOptions.PLAIN);
                assertThat(ids).isEqualTo(expected);
                assertThat(file.tokenizer().withSpecial(ids))
                        .isEqualTo(folder.tokenizer().withSpecial(expected));
                assertThat(file.tokenizer().pair(ids, ids).ids())
                        .isEqualTo(folder.tokenizer().pair(expected, expected).ids());
            }
            int[] ended = file.tokenizer().encode("a  story ", EncodeOptions.PLAIN);
            assertThat(ended).isEqualTo(file.tokenizer().encode("a story", EncodeOptions.PLAIN));
        }
    }

    @Test
    void aDecoderRanksInItsOwnPrompt() {
        try (var engine = EmbeddingEngine.open(config(FILES.resolve("qwen3-reranker.gguf")));
                Checkpoint reference = Checkpoints.open(reference(FILES.resolve("qwen3-reranker.gguf")))) {
            assertThat(engine.labels()).containsExactly("yes");
            String document = "The giant panda is a bear that lives in China.";
            float[] logits = engine.score("what is a panda?", List.of(document), EmbeddingOptions.DEFAULT)
                    .vectors()
                    .getFirst();
            assertThat(logits).containsExactly(Dequantizer.all(reference.tensor("logits_0")), within(1e-4f));
        }
    }

    private static EmbeddingConfig config(Path file) {
        return EmbeddingConfig.of(file).with(new DeviceOptions("cpu", 1, "auto", "f32"));
    }

    @Test
    void aClassifierWithoutItsPoolerIsRefused() {
        Path file = FILES.resolve(WITHOUT_POOLER);
        assertThat(Encoders.isOne(file)).isTrue();
        assertThatThrownBy(() -> EmbeddingEngine.open(config(file)).close())
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("a classifier without the layer before its scores");
    }
}
