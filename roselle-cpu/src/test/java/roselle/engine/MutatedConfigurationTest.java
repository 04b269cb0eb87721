package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.CapacityException;
import roselle.api.CheckpointException;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationRequest;
import roselle.backend.DeviceOptions;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.model.architecture.Architectures;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Whatever a configuration says, a model opens and answers, or is refused in a sentence: never an internal error. */
class MutatedConfigurationTest {
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources/tiny-models");
    private static final Path VARIANTS = Path.of("../roselle-engine/src/test/resources/variant-models");
    private static final long SEED = 20261123;
    private static final JsonMapper JSON = new JsonMapper();
    private static final String[] VALUES = {
        "null",
        "true",
        "false",
        "0",
        "1",
        "-1",
        "2",
        "3",
        "4",
        "5",
        "8",
        "16",
        "63",
        "64",
        "128",
        "1000",
        "100000",
        "1000000000",
        "2147483647",
        "-2147483648",
        "2147483648",
        "9223372036854775807",
        "-9223372036854775808",
        "0.0",
        "0.5",
        "-0.5",
        "1e-40",
        "1e38",
        "1e300",
        "-1e300",
        "\"\"",
        "\"x\"",
        "\"silu\"",
        "\"yarn\"",
        "\"linear\"",
        "\"dynamic\"",
        "\"llama3\"",
        "\"longrope\"",
        "\"full_attention\"",
        "[]",
        "[0]",
        "[-1, 1]",
        "[1, 2, 3]",
        "[\"sliding_attention\", \"full_attention\"]",
        "{}",
        "{\"rope_type\": \"yarn\", \"factor\": 2}"
    };

    @TempDir
    private Path folder;

    private final List<Path> models = new ArrayList<>();
    private final List<ObjectNode> configurations = new ArrayList<>();
    private final TreeMap<String, JsonNode> fields = new TreeMap<>();

    @ParameterizedTest
    @CsvSource({
        "llama,       bos_token_id,        []",
        "llama,       eos_token_id,        []",
        "llama,       pad_token_id,        []"
    })
    void opensWithIdsThatNameNothing(String model, String field, String value) throws IOException {
        Path altered = altered(MODELS.resolve(model), field, value);
        assertThat(outcome(altered)).isEqualTo("answers");
    }

    @ParameterizedTest
    @CsvSource({
        "mistral,     sliding_window,      -5,         sliding_window is -5",
        "gemma2,      sliding_window,      -5,         sliding_window is -5",
        "phi3,        sliding_window,      -5,         sliding_window is -5",
        "deepseek_v3, topk_group,          1,          cannot choose 3 experts from 1 of 4 groups",
        "deepseek_v3, n_group,             3,          experts in 3 groups",
        "deepseek_v3, n_shared_experts,    -1,         n_shared_experts is -1",
        "deepseek_v3, q_lora_rank,         -1,         q_lora_rank is -1",
        "llama,       head_dim,            1,          an even part of a head",
        "gemma3n_text, intermediate_size,  -5,         intermediate_size is -5",
        "qwen3_5_text, layer_types,        [],         linear_attn.A_log"
    })
    void refusesImpossibleSizes(String model, String field, String value, String message) throws IOException {
        Path altered = altered(MODELS.resolve(model), field, value);
        assertThatThrownBy(() -> open(altered).close())
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(message);
    }

    @Test
    void threeHundredConfigurationsEndInAnAnswerOrASentence() throws IOException {
        run(300, SEED, 12);
    }

    @Test
    @Tag("long")
    void tenThousandConfigurationsEndInAnAnswerOrASentence() throws IOException {
        run(10_000, SEED + 1, 1);
    }

    /** Plans models, and opens one of {@code planned} to hear its answer. */
    private void run(int count, long seed, int planned) throws IOException {
        collect();
        var random = new Random(seed);
        var outcomes = new TreeMap<String, Integer>();
        for (int round = 0; round < count; round++) {
            int model = random.nextInt(models.size());
            ObjectNode config = configurations.get(model).deepCopy();
            int changes = 1 + random.nextInt(3);
            for (int i = 0; i < changes; i++) {
                mutate(config, random);
            }
            String text = JSON.writeValueAsString(config);
            Path altered = copy(models.get(model), text);
            String outcome;
            try {
                outcome = round % planned == 0 ? outcome(altered) : plan(altered);
            } catch (Throwable failure) {
                throw new AssertionError(
                        "seed " + seed + ", round " + round + ", " + models.get(model) + ": " + text, failure);
            }
            outcomes.merge(outcome, 1, Integer::sum);
        }
        assertThat(outcomes).containsKeys("answers", "CheckpointException");
    }

    private void collect() throws IOException {
        for (Path root : List.of(MODELS, VARIANTS)) {
            try (Stream<Path> all = Files.list(root)) {
                all.filter(model -> Files.exists(model.resolve("config.json")))
                        .sorted()
                        .forEach(this::collect);
            }
        }
    }

    private void collect(Path model) {
        try {
            var config = (ObjectNode) JSON.readTree(Files.readString(model.resolve("config.json")));
            models.add(model);
            configurations.add(config);
            config.properties().forEach(field -> fields.put(field.getKey(), field.getValue()));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private void mutate(ObjectNode object, Random random) {
        List<String> names = List.copyOf(object.propertyNames());
        if (random.nextInt(8) == 0 || names.isEmpty()) {
            List<String> known = List.copyOf(fields.keySet());
            String name = known.get(random.nextInt(known.size()));
            object.set(name, fields.get(name));
            return;
        }
        String name = names.get(random.nextInt(names.size()));
        JsonNode value = object.get(name);
        if (value instanceof ObjectNode inner && random.nextInt(4) > 0) {
            mutate(inner, random);
            return;
        }
        switch (random.nextInt(10)) {
            case 0 -> object.remove(name);
            case 1 -> object.set(name, object.get(names.get(random.nextInt(names.size()))));
            case 2 -> object.put(name, value.asLong(0) + 1);
            case 3 -> object.put(name, value.asLong(0) - 1);
            default -> object.set(name, JSON.readTree(VALUES[random.nextInt(VALUES.length)]));
        }
    }

    private Path altered(Path model, String field, String value) throws IOException {
        var config = (ObjectNode) JSON.readTree(Files.readString(model.resolve("config.json")));
        config.set(field, JSON.readTree(value));
        return copy(model, JSON.writeValueAsString(config));
    }

    private Path copy(Path model, String config) throws IOException {
        Path weights = folder.resolve("model.safetensors");
        Files.deleteIfExists(weights);
        Files.createSymbolicLink(weights, model.resolve("model.safetensors").toAbsolutePath());
        Files.writeString(folder.resolve("config.json"), config);
        return folder;
    }

    private static EngineConfig config(Path model) {
        return TestConfig.of(model)
                .with(new DeviceOptions("cpu", 1))
                .with(new CacheOptions("f32", 8L << 20, 16, true))
                .with(new BatchOptions(48, 2, 16, 0, 4));
    }

    private static Engine open(Path model) {
        var device = new CpuDevice(CpuOptions.of(1).with(CpuPath.VECTOR));
        Checkpoint checkpoint;
        try {
            checkpoint = Checkpoints.open(model);
        } catch (Throwable failure) {
            device.close();
            throw failure;
        }
        return EngineOnDevice.load(checkpoint, config(model), device);
    }

    /** What becomes of a model before its weights are loaded. */
    private static String plan(Path model) {
        try (Checkpoint checkpoint = Checkpoints.open(model);
                var device = new CpuDevice(CpuOptions.of(1).with(CpuPath.VECTOR))) {
            EngineSizes.of(config(model), checkpoint, Architectures.read(checkpoint), device, 1L << 30);
            return "fits";
        } catch (CheckpointException | CapacityException refused) {
            return refusal(refused);
        }
    }

    private static String refusal(RuntimeException refused) {
        assertThat(refused.getMessage()).doesNotContain("Exception", "\n");
        return refused.getClass().getSimpleName();
    }

    /** What becomes of a model: an answer, or the name of the refusal. */
    private static String outcome(Path model) {
        try (var engine = open(model)) {
            var request =
                    GenerationRequest.builder().tokens(0, 0, 0).temperature(0).maxTokens(2);
            try (var generation = engine.submit(request.build())) {
                for (var event : generation) {
                    if (event instanceof Failed failed) { // weights multiplied with what was not theirs
                        assertThat(failed.message()).startsWith("the model produced");
                    }
                }
            }
            return "answers";
        } catch (CheckpointException | CapacityException refused) {
            return refusal(refused);
        }
    }
}
