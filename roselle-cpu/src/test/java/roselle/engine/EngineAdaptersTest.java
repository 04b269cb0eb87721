package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.CapacityException;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.api.InvalidRequestException;
import roselle.backend.DeviceOptions;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.tensor.Dequantizer;

/** An engine answers with the adapter that a request names, whoever else is in the batch and whatever the name meant before. */
class EngineAdaptersTest {
    private static final Path RESOURCES = Path.of("../roselle-engine/src/test/resources");
    private static final Path FIRST = RESOURCES.resolve("adapters/qwen3-bias");
    private static final Path SECOND = RESOURCES.resolve("adapters/qwen3-bias-patterns");
    private static final Path MODEL = RESOURCES.resolve("variant-models/qwen3-bias");
    private static final EngineConfig CONFIG = EngineConfig.of(MODEL).with(new DeviceOptions("cpu", 2, "auto", "f32"));

    @TempDir
    private Path folder;

    /** What an answer was, with the log-probability of each token: its bits. */
    private record Outcome(List<Integer> ids, List<Double> logprobs, int cached) {}

    private static int[] integers(Path adapter, String name) {
        try (Checkpoint expected = Checkpoints.open(adapter.resolve("expected.safetensors"))) {
            float[] numbers = Dequantizer.all(expected.tensor(name));
            return IntStream.range(0, numbers.length).map(i -> (int) numbers[i]).toArray();
        }
    }

    private static GenerationRequest request(int[] prompt, String adapter) {
        return GenerationRequest.builder()
                .tokens(prompt)
                .temperature(0)
                .maxTokens(8)
                .ignoreEos(true)
                .logprobs(0)
                .adapter(adapter)
                .build();
    }

    private static Outcome outcome(Generation generation) {
        var ids = new ArrayList<Integer>();
        var logprobs = new ArrayList<Double>();
        int cached = 0;
        while (generation.hasNext()) {
            GenerationEvent event = generation.next();
            if (event instanceof TokenGenerated token) {
                ids.add(token.id());
                logprobs.add((double) token.logprobs().getFirst().logprob());
            } else if (event instanceof Finished finished) {
                cached = finished.usage().cachedTokens();
            } else if (event instanceof Failed failed) {
                throw failed.exception();
            }
        }
        return new Outcome(ids, logprobs, cached);
    }

    private static Outcome answer(Engine engine, int[] prompt, String adapter) {
        try (Generation generation = engine.submit(request(prompt, adapter))) {
            return outcome(generation);
        }
    }

    private static List<Integer> greedy(Path adapter, int input) {
        return IntStream.of(integers(adapter, "greedy_" + input)).boxed().toList();
    }

    @Test
    void answersAsPeftDoesWithTheSameBitsAloneAndAmongSixtyFour() {
        int[] prompt = integers(FIRST, "input_1");
        Outcome base;
        Outcome first;
        Outcome second;
        try (Engine engine = Engine.open(CONFIG)) {
            engine.loadAdapter("first", FIRST);
            base = answer(engine, prompt, "");
            first = answer(engine, prompt, "first");
            assertThat(engine.adapters()).singleElement().satisfies(adapter -> {
                assertThat(adapter.name()).isEqualTo("first");
                assertThat(adapter.rank()).isEqualTo(4);
            });
        }
        try (Engine engine = Engine.open(CONFIG)) {
            engine.loadAdapter("second", SECOND);
            second = answer(engine, prompt, "second");
        }
        assertThat(first.ids).isEqualTo(greedy(FIRST, 1)).isNotEqualTo(base.ids);
        assertThat(second.ids).isEqualTo(greedy(SECOND, 1)).isNotEqualTo(first.ids);
        try (Engine engine = Engine.open(CONFIG)) {
            engine.loadAdapter("first", FIRST);
            engine.loadAdapter("second", SECOND);
            var names = List.of("first", "", "second");
            List<Generation> all = IntStream.range(0, 64)
                    .mapToObj(i -> engine.submit(request(prompt, names.get(i % 3))))
                    .toList();
            for (int i = 0; i < all.size(); i++) {
                Outcome outcome = outcome(all.get(i));
                Outcome alone = List.of(first, base, second).get(i % 3);
                assertThat(outcome.ids).as("request %d", i).isEqualTo(alone.ids);
                assertThat(outcome.logprobs).as("request %d", i).isEqualTo(alone.logprobs);
            }
        }
    }

    /** Embeddings, logits, matrices of their own, products with an activation, experts: two adapters and base rows in one step. */
    @ParameterizedTest
    @CsvSource({
        "qwen3-bias, qwen3-bias-tied, qwen3-bias",
        "phi-norms, phi-norms-untied, phi-norms-saved",
        "granite-bias, granite-bias-head, granite-bias",
        "gpt2-inner, gpt2-inner-activated, gpt2-inner-activated",
        "starcoder2-window, starcoder2-window-activated, starcoder2-window-activated",
        "mixtral-window, mixtral-window-experts, mixtral-window-separate",
        "qwen3-moe-dense, qwen3-moe-dense-experts, qwen3-moe-dense-experts",
    })
    void otherPlacesHaveTheSameBitsAloneAndAmongOthers(String model, String first, String second) {
        EngineConfig config = EngineConfig.of(
                        RESOURCES.resolve("variant-models").resolve(model))
                .with(new DeviceOptions("cpu", 2, "auto", "f32"));
        Path adapters = RESOURCES.resolve("adapters");
        var names = List.of(first, "", second);
        int[] prompt = integers(adapters.resolve(first), "input_1");
        var alone = new ArrayList<Outcome>();
        for (String name : names) {
            try (Engine engine = Engine.open(config)) {
                if (!name.isEmpty()) {
                    engine.loadAdapter(name, adapters.resolve(name));
                }
                alone.add(answer(engine, prompt, name));
            }
        }
        assertThat(alone.get(0).ids).isEqualTo(greedy(adapters.resolve(first), 1));
        assertThat(alone.get(2).ids).isEqualTo(greedy(adapters.resolve(second), 1));
        assertThat(alone.get(1).logprobs).isNotEqualTo(alone.get(0).logprobs);
        try (Engine engine = Engine.open(config)) {
            names.stream()
                    .filter(name -> !name.isEmpty())
                    .distinct()
                    .forEach(name -> engine.loadAdapter(name, adapters.resolve(name)));
            List<Generation> all = IntStream.range(0, 21)
                    .mapToObj(i -> engine.submit(request(prompt, names.get(i % 3))))
                    .toList();
            for (int i = 0; i < all.size(); i++) {
                Outcome outcome = outcome(all.get(i));
                assertThat(outcome.ids).as("request %d", i).isEqualTo(alone.get(i % 3).ids);
                assertThat(outcome.logprobs).as("request %d", i).isEqualTo(alone.get(i % 3).logprobs);
            }
        }
    }

    @Test
    void neverServesKeysAndValuesOfAnotherAdapterUnderTheSameName() {
        int[] prompt = integers(FIRST, "input_1");
        try (Engine engine = Engine.open(CONFIG)) {
            engine.loadAdapter("mine", FIRST);
            answer(engine, prompt, "mine");
            assertThat(answer(engine, prompt, "mine").cached).isPositive();
            assertThatThrownBy(() -> engine.loadAdapter("mine", SECOND))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("unload it first");
            engine.unloadAdapter("mine");
            assertThatThrownBy(() -> engine.submit(request(prompt, "mine")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage("there is no adapter mine: load it first");
            engine.loadAdapter("mine", SECOND);
            Outcome other = answer(engine, prompt, "mine");
            assertThat(other.cached).isZero();
            assertThat(other.ids).isEqualTo(greedy(SECOND, 1));
            engine.loadAdapter("again", FIRST);
            Outcome again = answer(engine, prompt, "again");
            assertThat(again.cached)
                    .as("what the same files computed under another name")
                    .isPositive();
            assertThat(again.ids).isEqualTo(greedy(FIRST, 1));
        }
    }

    @Test
    void givesUpWhatWasUsedLongestAgoAndReadsItAgain() throws IOException {
        copy(FIRST);
        int[] prompt = integers(FIRST, "input_0");
        long larger = 0;
        try (Engine engine = Engine.open(CONFIG)) {
            larger = Math.max(
                    engine.loadAdapter("first", FIRST).bytes(),
                    engine.loadAdapter("second", SECOND).bytes());
        }
        try (Engine engine = Engine.open(CONFIG.withAdapterMemory(larger))) { // room for one of them
            engine.loadAdapter("first", folder);
            engine.loadAdapter("second", SECOND);
            assertThat(answer(engine, prompt, "first").ids).isEqualTo(greedy(FIRST, 0));
            assertThat(answer(engine, prompt, "second").ids).isEqualTo(greedy(SECOND, 0));
            assertThat(answer(engine, prompt, "first").ids).isEqualTo(greedy(FIRST, 0));
            assertThat(answer(engine, prompt, "second").ids).isEqualTo(greedy(SECOND, 0));
            Files.delete(folder.resolve("adapter_model.safetensors"));
            Files.copy(SECOND.resolve("adapter_model.safetensors"), folder.resolve("adapter_model.safetensors"));
            Files.delete(folder.resolve("adapter_config.json"));
            Files.copy(SECOND.resolve("adapter_config.json"), folder.resolve("adapter_config.json"));
            assertThatThrownBy(() -> engine.submit(request(prompt, "first")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("are not what they were");
            assertThat(answer(engine, prompt, "second").ids).isEqualTo(greedy(SECOND, 0));
        }
    }

    @Test
    void refusesAnAdapterThatDoesNotFit() {
        try (Engine engine = Engine.open(CONFIG.withAdapterMemory(1000))) {
            assertThatThrownBy(() -> engine.loadAdapter("first", FIRST))
                    .isInstanceOf(CapacityException.class)
                    .hasMessageContaining("of the 1000 that adapters may take");
            assertThat(engine.adapters()).isEmpty();
            assertThat(answer(engine, integers(FIRST, "input_0"), "").ids).hasSize(8);
        }
    }

    @Test
    void countsMatricesOfItsOwnAsFloats() {
        var config = EngineConfig.of(RESOURCES.resolve("variant-models/phi-norms"))
                .with(new DeviceOptions("cpu", 1, "auto", "f32"));
        try (Engine engine = Engine.open(config)) {
            long bytes = engine.loadAdapter("saved", RESOURCES.resolve("adapters/phi-norms-saved"))
                    .bytes();
            assertThat(bytes).isGreaterThan(2 * 96 * 32 * (long) Float.BYTES); // an embedding and an output
        }
    }

    private void copy(Path adapter) throws IOException {
        try (Stream<Path> files = Files.list(adapter)) {
            for (Path file : files.toList()) {
                Files.copy(file, folder.resolve(file.getFileName()));
            }
        }
    }
}
