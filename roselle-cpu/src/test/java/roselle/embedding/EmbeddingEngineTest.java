package roselle.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.api.InvalidRequestException;
import roselle.backend.Device;
import roselle.backend.DeviceOptions;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuPath;
import roselle.execution.Float32Copy;
import roselle.tensor.Dequantizer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What an engine of embeddings promises its callers. */
class EmbeddingEngineTest {
    private static final Path BERT = TinyEncodersTest.MODELS.resolve("bert");
    private static final DeviceOptions CPU = new DeviceOptions("cpu", 2, "auto", "f32");

    private static EmbeddingEngine open(Path model) {
        return EmbeddingEngine.open(EmbeddingConfig.of(model).with(CPU));
    }

    private static List<List<String>> texts(Path model) throws IOException {
        JsonNode all = JsonMapper.shared().readTree(Files.readString(model.resolve("texts.json")));
        return all.valueStream()
                .map(each ->
                        each.get("texts").valueStream().map(JsonNode::asString).toList())
                .toList();
    }

    private static float[] expected(Path model, String name) {
        try (Checkpoint reference = Checkpoints.open(model.resolve("expected.safetensors"))) {
            return Dequantizer.all(reference.tensor(name));
        }
    }

    @Test
    void embedsTextsAsTheReferenceDoes() throws IOException {
        for (String name : List.of("bert", "bert-cls-dense", "bert-max")) {
            Path model = TinyEncodersTest.MODELS.resolve(name);
            try (var engine = open(model)) {
                List<String> texts = texts(model).stream().map(List::getFirst).toList();
                List<float[]> vectors = engine.embed(texts);
                for (int i = 0; i < texts.size(); i++) {
                    assertThat(vectors.get(i))
                            .hasSize(engine.width())
                            .containsExactly(expected(model, "embedding_" + i), within(1e-4f));
                }
            }
        }
    }

    /** Float32 in two numbers of bfloat16 is as good as float32: cosines of 1, texts in the same order. */
    @Test
    void splitNumbersKeepCosinesAndRanks(@TempDir Path folder) throws IOException {
        assumeTrue(CpuDevice.paths().contains(CpuPath.AMX));
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            texts.add("the story of a ship ".repeat(i % 9) + (char) ('a' + i % 26) + i);
        }
        var split = new DeviceOptions("cpu", 1, "amx", "auto");
        List<float[]> want;
        try (var engine = open(BERT)) {
            want = engine.embed(texts);
        }
        try (var engine = EmbeddingEngine.open(
                EmbeddingConfig.of(Float32Copy.of(BERT, folder)).with(split))) {
            List<float[]> got = engine.embed(texts);
            for (int i = 0; i < texts.size(); i++) {
                assertThat(product(got.get(i), want.get(i))).isCloseTo(1, within(1e-6)); // of length 1
            }
            assertThat(ranks(got)).isEqualTo(ranks(want));
        }
    }

    /** The texts in the order of how near they are to the first. */
    private static List<Integer> ranks(List<float[]> vectors) {
        return IntStream.range(0, vectors.size())
                .boxed()
                .sorted(Comparator.comparingDouble(i -> -product(vectors.getFirst(), vectors.get(i))))
                .toList();
    }

    private static double product(float[] some, float[] others) {
        double sum = 0;
        for (int i = 0; i < some.length; i++) {
            sum += (double) some[i] * others[i];
        }
        return sum;
    }

    @Test
    void scoresPairsAsTheReferenceDoes() throws IOException {
        Path model = TinyEncodersTest.MODELS.resolve("bert-labels");
        try (var engine = open(model)) {
            assertThat(engine.labels()).containsExactly("no", "perhaps", "yes");
            List<List<String>> pairs = texts(model);
            for (int i = 0; i < pairs.size(); i++) {
                List<String> pair = pairs.get(i);
                TextResults scores = engine.score(pair.get(0), List.of(pair.get(1)), EmbeddingOptions.DEFAULT);
                assertThat(scores.vectors().getFirst()).containsExactly(expected(model, "logits_" + i), within(1e-4f));
            }
        }
    }

    @Test
    void givesATextTheSameBitsWhateverElseIsComputed() throws Exception {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            texts.add("the story of a ship ".repeat(1 + i % 9) + i);
        }
        var alone = new ArrayList<float[]>();
        try (var engine = open(BERT)) {
            for (String text : texts) {
                alone.add(engine.embed(List.of(text)).getFirst());
            }
        }
        try (var engine = open(BERT);
                var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            var together = new ArrayList<Future<List<float[]>>>();
            for (int i = 0; i < 8; i++) {
                List<String> own = new ArrayList<>(texts);
                Collections.rotate(own, -i);
                together.add(callers.submit(() -> engine.embed(own)));
            }
            for (int i = 0; i < together.size(); i++) {
                List<float[]> vectors = together.get(i).get();
                for (int j = 0; j < texts.size(); j++) {
                    assertThat(vectors.get(j)).isEqualTo(alone.get((i + j) % texts.size()));
                }
            }
            EmbeddingStatus status = engine.status();
            assertThat(status.texts()).isEqualTo(8L * texts.size());
            assertThat(status.steps()).isLessThan(status.texts());
            assertThat(status.waiting()).isZero();
        }
    }

    @Test
    void cutsVectorsAndTextsOnlyWhenAsked() {
        String tooLong = "the story ".repeat(200);
        try (var engine = open(BERT)) {
            assertThatThrownBy(() -> engine.embed(List.of(tooLong)))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("the model takes 190");
            var truncating = new EmbeddingOptions(null, 8, true, Duration.ZERO);
            TextResults cut = engine.embed(List.of(tooLong), truncating);
            assertThat(cut.tokens()).isEqualTo(190);
            double squares = 0;
            for (float number : cut.vectors().getFirst()) {
                squares += (double) number * number;
            }
            assertThat(cut.vectors().getFirst()).hasSize(8);
            assertThat(squares).isCloseTo(1, within(1e-6));
            assertThatThrownBy(() -> engine.embed(List.of("Hi."), new EmbeddingOptions(null, 33, false, Duration.ZERO)))
                    .hasMessage("dimensions is 33: the model's vectors have 32");
        }
    }

    @Test
    void putsTheModelsPromptsBeforeTexts() {
        try (var engine = open(BERT)) {
            var query = new EmbeddingOptions("query", 0, false, Duration.ZERO);
            float[] prompted =
                    engine.embed(List.of("the story"), query).vectors().getFirst();
            assertThat(prompted)
                    .isEqualTo(engine.embed(List.of("tell: the story")).getFirst());
            assertThat(prompted).isNotEqualTo(engine.embed(List.of("the story")).getFirst());
            assertThatThrownBy(
                            () -> engine.embed(List.of("Hi."), new EmbeddingOptions("quary", 0, false, Duration.ZERO)))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("the prompt is quary");
        }
    }

    @Test
    void failsWhatIsLateAndGoesOn() {
        try (var engine = open(BERT)) {
            var atOnce = new EmbeddingOptions(null, 0, false, Duration.ofNanos(1));
            assertThatThrownBy(() -> engine.embed(List.of("Hi."), atOnce))
                    .isInstanceOf(CapacityException.class)
                    .hasMessageContaining("the deadline passed");
            assertThat(engine.status().expired()).isEqualTo(1);
            assertThat(engine.embed(List.of("Hi."))).hasSize(1);
        }
    }

    @Test
    void computesNoFurtherWhatIsTakenBack() {
        try (var engine = open(BERT)) {
            EncoderInput text = engine.read("the story of a ship", EmbeddingOptions.DEFAULT);
            int many = 60_000; // far more than are computed before they are taken back
            PendingTexts pending = engine.submit(Collections.nCopies(many, text), EmbeddingOptions.DEFAULT, "a");
            assertThat(pending.tokens()).isEqualTo(many * text.length());
            pending.close();
            assertThatThrownBy(pending::await).isInstanceOf(CancellationException.class);
            assertThat(engine.embed(List.of("Hi."))).hasSize(1);
            assertThat(engine.status().texts()).isLessThan(many);
            assertThat(engine.status().waiting()).isZero();
            assertThat(engine.status().isAlive()).isTrue();
        }
    }

    @Test
    void saysThatItHasEnded() {
        var engine = open(BERT);
        engine.close();
        engine.close();
        assertThat(engine.status().isAlive()).isFalse();
        assertThat(engine.status().failure()).isEmpty();
    }

    @Test
    void refusesMoreThanMayWaitAndAnythingAfterItsEnd() throws InterruptedException, ExecutionException {
        var config = new EmbeddingConfig(BERT, CPU, 0, 0, 64, 2);
        var engine = EmbeddingEngine.open(config);
        assertThatThrownBy(() -> engine.embed(List.of("a", "b", "c"))).isInstanceOf(CapacityException.class);
        assertThat(engine.embed(List.of("a", "b"))).hasSize(2);
        engine.close();
        assertThatThrownBy(() -> engine.embed(List.of("a")))
                .isInstanceOf(DeviceException.class)
                .hasMessage("the engine was closed");
    }

    @Test
    void refusesTokensThatTheModelDoesNotHave() {
        try (var engine = open(BERT)) {
            assertThatThrownBy(() -> engine.embedIds(List.of(new int[] {2, 100_000, 3}), EmbeddingOptions.DEFAULT))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("a token id is 100000");
            assertThatThrownBy(() -> engine.embedIds(List.of(new int[0]), EmbeddingOptions.DEFAULT))
                    .hasMessageContaining("no tokens");
        }
    }

    /** Texts of a device that gives way wait for a rest to end, and hear at once where the engine closes meanwhile. */
    @Test
    void restsBehindAStepForAsLongAsTheDeviceSays() throws Exception {
        var stepNanos = new LinkedBlockingQueue<Long>();
        EmbeddingEngine engine = open(BERT, resting(new CpuDevice(1), stepNanos));
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            assertThat(engine.embed(List.of("a story"))).hasSize(1);
            assertThat(stepNanos.take()).isPositive();
            Future<List<float[]>> second = callers.submit(() -> engine.embed(List.of("a ship")));
            while (engine.status().waiting() == 0 && !second.isDone()) {
                Thread.onSpinWait();
            }
            engine.close();
            assertThatThrownBy(second::get).hasCauseInstanceOf(DeviceException.class);
            assertThat(stepNanos).isEmpty();
        }
    }

    private static EmbeddingEngine open(Path model, Device device) {
        var config = EmbeddingConfig.of(model);
        Checkpoint checkpoint = Checkpoints.open(model);
        return EmbeddingEngine.open(
                EncoderSizes.of(config, checkpoint, device), checkpoint, device, EmbeddingPlan.Observer.NONE);
    }

    /** A device that wants a day's rest after each step, and tells what steps took. */
    private static Device resting(Device device, Collection<Long> stepNanos) {
        return (Device) Proxy.newProxyInstance(
                Device.class.getClassLoader(), new Class<?>[] {Device.class}, (_, method, arguments) -> {
                    if (method.getName().equals("restNanos")) {
                        stepNanos.add((Long) arguments[1]);
                        return Duration.ofDays(1).toNanos();
                    }
                    return method.invoke(device, arguments);
                });
    }
}
