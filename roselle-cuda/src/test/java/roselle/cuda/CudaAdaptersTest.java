package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.backend.Device;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cuda.driver.NativeDriver;
import roselle.cuda.kernel.CubinCache;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineOnDevice;
import roselle.engine.Generation;
import roselle.engine.Overlap;
import roselle.execution.Verification;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/** A CUDA device adds what PEFT adds, and a request's adapter gives it the same bits alone and among others. */
@Tag("gpu")
class CudaAdaptersTest {
    private static final Path RESOURCES = Path.of("../roselle-engine/src/test/resources");
    private static final List<String> ADAPTERS = List.of("", "qwen3-bias", "qwen3-bias-patterns");

    private static Device device(DataType type) {
        return new CudaDevice(new NativeDriver(), 0, type, CubinCache.ofUser());
    }

    private static Path adapter(String name) {
        return RESOURCES.resolve("adapters").resolve(name);
    }

    private static Path model(String adapter) {
        return RESOURCES.resolve("variant-models").resolve(adapter.replace("-patterns", ""));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "deepseek-yarn",
                "gemma2-caps",
                "granite-bias",
                "neox-serial",
                "phi3-partial",
                "qwen3-bias",
                "qwen3-bias-patterns"
            })
    void logitsArePeftsWholeAndInChunks(String name) {
        for (int chunk : new int[] {0, 1, 7}) {
            try (Checkpoint expected = Checkpoints.open(adapter(name).resolve("expected.safetensors"));
                    Device device = device(DataType.F32)) {
                for (var difference :
                        Verification.of(expected).run(model(name), Optional.of(adapter(name)), device, chunk)) {
                    assertThat(difference.largest()).as("chunk %d", chunk).isLessThan(1e-3);
                    assertThat(difference.agreeing()).as("chunk %d", chunk).isEqualTo(difference.greedy());
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DataType.class,
            names = {"BF16", "F16", "F32"})
    void requestsHaveTheSameBitsAloneAndAmongSixtyFour(DataType type) {
        EngineConfig config = EngineConfig.of(model("qwen3-bias")).with(Overlap.ON);
        var alone = new ArrayList<List<String>>();
        for (String name : ADAPTERS) {
            try (Engine engine = EngineOnDevice.open(config, device(type))) {
                load(engine);
                alone.add(answer(engine.submit(request(name))));
            }
        }
        assertThat(alone).doesNotHaveDuplicates();
        try (Engine engine = EngineOnDevice.open(config, device(type))) {
            load(engine);
            for (int round = 0; round < 3; round++) { // the second is recorded, the third replayed
                int neighbours = 1 + 10 * round; // rows one behind the other that have the same adapter
                List<Generation> all = IntStream.range(0, 64)
                        .mapToObj(i -> engine.submit(request(ADAPTERS.get(i / neighbours % ADAPTERS.size()))))
                        .toList();
                for (int i = 0; i < all.size(); i++) {
                    assertThat(answer(all.get(i)))
                            .as("round %d, request %d", round, i)
                            .isEqualTo(alone.get(i / neighbours % ADAPTERS.size()));
                }
            }
        }
    }

    private static void load(Engine engine) {
        ADAPTERS.stream().filter(name -> !name.isEmpty()).forEach(name -> engine.loadAdapter(name, adapter(name)));
    }

    private static GenerationRequest request(String adapter) {
        try (Checkpoint expected = Checkpoints.open(adapter("qwen3-bias").resolve("expected.safetensors"))) {
            float[] prompt = Dequantizer.all(expected.tensor("input_1"));
            return GenerationRequest.builder()
                    .tokens(IntStream.range(0, prompt.length)
                            .map(i -> (int) prompt[i])
                            .toArray())
                    .temperature(0)
                    .maxTokens(24)
                    .ignoreEos(true)
                    .logprobs(0)
                    .adapter(adapter)
                    .build();
        }
    }

    /** Tokens with the bits of their log-probabilities. */
    private static List<String> answer(Generation generation) {
        var tokens = new ArrayList<String>();
        try (generation) {
            while (generation.hasNext()) {
                GenerationEvent event = generation.next();
                if (event instanceof TokenGenerated token) {
                    tokens.add(token.id() + " " + token.logprobs().getFirst().logprob());
                } else if (event instanceof Failed failed) {
                    throw failed.exception();
                }
            }
        }
        return tokens;
    }
}
