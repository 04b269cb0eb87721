package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.api.GenerationEvent;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.api.SchedulingOptions;
import roselle.backend.Device;
import roselle.backend.Phase;
import roselle.backend.memory.Rows;
import roselle.backend.step.SampledTokens;
import roselle.backend.step.SamplingRows;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cuda.FakeDriver.Card;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Launcher;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineOnDevice;
import roselle.engine.EnginePlan;
import roselle.engine.Generation;
import roselle.engine.Overlap;
import roselle.execution.SingleSequence;
import roselle.model.architecture.Architectures;
import roselle.model.weights.Blueprint;
import roselle.tensor.DataType;

/** Engines on a fake device: each launch is as its kernel and the card want it, and all that was taken is returned. */
class FakeDeviceTest {
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources/tiny-models");
    /** Pieces are multiples of 256 bytes, small ones come from slabs of 2 MiB, and weights and scratch are whole units of 2 MiB. */
    private static final long ROUNDING_BYTES = 7 << 20;

    static List<Path> models() throws IOException {
        return in(MODELS).stream().filter(FakeDeviceTest::hasKernels).toList();
    }

    /** Of families that are made of parts which others have, and that GPUs have kernels for. */
    static List<Path> similarModels() throws IOException {
        return in(SIMILAR).stream().filter(FakeDeviceTest::hasKernels).toList();
    }

    private static boolean hasKernels(Path model) {
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            return Architectures.read(checkpoint).spec().special().isEmpty();
        }
    }

    private static final Path SIMILAR = MODELS.resolveSibling("similar-models");

    @ParameterizedTest
    @CsvSource({
        "deepseek_v32, attention to chosen positions",
        "minimax_m3_vl_text, attention to chosen blocks",
        "deepseek_v4, attention to keys of several tokens"
    })
    void whatHasNoKernelsIsRefusedByName(String model, String words) {
        var driver = new FakeDriver(Card.HOPPER);
        assertThatThrownBy(() -> EngineOnDevice.open(config(MODELS.resolve(model)), driver.open(DataType.F32)))
                .isInstanceOf(DeviceException.class)
                .hasMessageContaining(words)
                .hasMessageContaining("--device cpu");
        try (var device = driver.open(DataType.F32);
                Checkpoint checkpoint = Checkpoints.open(MODELS.resolve(model))) {
            Blueprint blueprint = Architectures.read(checkpoint);
            assertThatThrownBy(() -> SingleSequence.open(checkpoint, blueprint, device, 1, 16))
                    .as("without an engine, as for verification")
                    .isInstanceOf(DeviceException.class)
                    .hasMessageContaining(words);
        }
        assertThat(driver.leaks()).isEmpty();
    }

    private static List<Path> in(Path root) throws IOException {
        try (Stream<Path> folders = Files.list(root)) {
            return folders.filter(Files::isDirectory).sorted().toList();
        }
    }

    @Test
    void adaptersTakeTheirPartOfTheDevicesMemory() {
        EnginePlan without = planned(0);
        EnginePlan with = planned(1L << 30);
        assertThat(with.totalBytes()).isEqualTo(without.totalBytes() + (1L << 30));
        assertThat(with.describe()).contains("adapters   1.00 GiB at most");
        assertThat(without.describe()).doesNotContain("adapters");
    }

    private static EnginePlan planned(long adapterMemory) {
        var config = config(MODELS.resolve("llama")).withAdapterMemory(adapterMemory);
        try (Engine engine = EngineOnDevice.open(config, new FakeDriver(Card.HOPPER).open(DataType.BF16))) {
            return engine.plan();
        }
    }

    @Test
    void adaptersThatTheDeviceHasNoRoomForAreRefusedBeforeAnythingIsLoaded() {
        var driver = new FakeDriver(Card.HOPPER);
        var config = config(MODELS.resolve("llama")).withAdapterMemory(4L << 30);
        assertThatThrownBy(() -> EngineOnDevice.open(config, driver.open(DataType.BF16)))
                .isInstanceOf(CapacityException.class)
                .hasMessageContaining("(4.00 GiB of them for adapters: --lora-memory)");
        assertThat(driver.leaks()).isEmpty();
    }

    static EngineConfig config(Path model) {
        return config(model, LONGEST);
    }

    private static EngineConfig config(Path model, int context) {
        return EngineConfig.of(model).with(new BatchOptions(context, 8, 128, 0, 64));
    }

    private static final int LONGEST = 256;

    /** As many as the requests want, where the model has learned no fewer. */
    private static int positions(Path model) {
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            return Math.min(LONGEST, Architectures.read(checkpoint).spec().context());
        }
    }

    static GenerationRequest request(int promptTokens, int maxTokens) {
        var ids = new int[promptTokens];
        for (int i = 0; i < promptTokens; i++) {
            ids[i] = 3 + i % 17;
        }
        return GenerationRequest.builder()
                .tokens(ids)
                .maxTokens(maxTokens)
                .ignoreEos(true)
                .build();
    }

    /** Runs some requests to their ends at the same time: long prompts, short ones, some sampled by the device. */
    static void generate(Engine engine) {
        var generations = new ArrayList<Generation>();
        for (int i = 0; i < 6; i++) {
            generations.add(engine.submit(request(1 + 23 * i, 4 + i)));
        }
        generations.forEach(FakeDeviceTest::finish);
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("similarModels")
    void everyLaunchOfSimilarModelsKeepsTheRulesToo(Path model) {
        everyLaunchKeepsTheRulesAndNothingIsTakenOnceTheEngineIsReady(model);
    }

    @ParameterizedTest
    @MethodSource("models")
    void everyLaunchKeepsTheRulesAndNothingIsTakenOnceTheEngineIsReady(Path model) {
        var config = config(model, positions(model));
        for (Card card : List.of(Card.AMPERE, Card.ADA, Card.HOPPER)) {
            for (DataType type : List.of(DataType.BF16, DataType.F16, DataType.F32)) {
                for (Overlap overlap : List.of(Overlap.OFF, Overlap.ON)) {
                    var driver = new FakeDriver(card);
                    try (Engine engine = EngineOnDevice.open(config.with(overlap), driver.open(type))) {
                        int before = taken(driver);
                        generate(engine);
                        embed(engine);
                        assertThat(taken(driver))
                                .as("%s, %s", type, card.name())
                                .isEqualTo(before);
                    }
                    assertThat(driver.leaks()).isEmpty();
                    assertThat(driver.takeLaunches()).isNotEmpty();
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"llama", "mixtral", "qwen3_moe", "gpt_oss", "deepseek_v3"})
    void stepsOfMoreRowsThanAGridHasBlocksAlongYKeepTheRulesToo(String model) {
        var huge = EngineConfig.of(MODELS.resolve(model)).with(new BatchOptions(70_200, 4, 70_100, 0, 4));
        for (Card card : List.of(Card.AMPERE, Card.HOPPER)) {
            var driver = new FakeDriver(card.withBytes(16L << 30));
            try (Engine engine = EngineOnDevice.open(huge, driver.open(DataType.BF16))) {
                run(engine, request(70_001, 3));
            }
            assertThat(driver.leaks()).isEmpty();
            assertThat(driver.takeLaunches())
                    .as("rows of experts, and of the prompt's positions")
                    .anyMatch(launch -> launch.grid().y() == Launcher.MAX_BLOCKS);
        }
    }

    @Test
    void samplesFromMoreRowsThanAGridHasBlocksAlongY() {
        int rows = 66_000;
        int vocabulary = 16;
        var driver = new FakeDriver(Card.HOPPER.withBytes(16L << 30));
        driver.sampleToken(11);
        try (Device backend = driver.open(DataType.BF16)) {
            Rows logits = Rows.of(backend.allocate(DataType.F32, (long) rows * vocabulary), vocabulary);
            var sampling = new SamplingRows(rows, 64);
            sampling.begin(rows);
            for (int row = 0; row < rows; row++) {
                sampling.settlePlace(row);
            }
            var tokens = new SampledTokens(rows);
            backend.sample(logits, sampling, tokens);
            assertThat(tokens.token).containsOnly(11);
        }
        assertThat(driver.leaks()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("models")
    void whatIsPlannedIsWhatIsTakenOnceTheEngineIsReady(Path model) {
        var large = EngineConfig.of(model)
                .with(new BatchOptions(256, 64, 4096, 0, 64))
                .withAdapterMemory(0);
        for (DataType type : List.of(DataType.BF16, DataType.F32)) {
            for (Card card : List.of(Card.AMPERE, Card.HOPPER)) {
                var driver = new FakeDriver(card);
                try (Engine engine = EngineOnDevice.open(large, driver.open(type))) {
                    long taken = driver.deviceMemory().usedBytes();
                    long planned = engine.plan().totalBytes();
                    assertThat(planned).isGreaterThan(9 << 20);
                    assertThat(taken).as("%s on %s", type, card.name()).isBetween(planned, planned + ROUNDING_BYTES);
                }
            }
        }
    }

    @Test
    void tellsWhereTheTimeOfAStartWent() {
        long begin = System.nanoTime();
        long files = KernelSource.all().stream()
                .filter(KernelSource::isForEveryModel)
                .count();
        var driver = new FakeDriver(Card.HOPPER);
        try (Engine engine = EngineOnDevice.open(config(MODELS.resolve("gpt2")), driver.open(DataType.BF16))) {
            var timeline = engine.timeline();
            assertThat(timeline.phases().stream().map(Phase::name))
                    .containsExactly("model", "plan", "memory", "weights", "engine");
            assertThat(timeline.deviceParts().stream().map(Phase::name))
                    .containsExactly(
                            "context",
                            "kernels of " + files + " files kept and 0 compiled",
                            "weights read",
                            "their way to the device");
            assertThat(timeline.phases()).allMatch(phase -> phase.nanos() >= 0);
            assertThat(timeline.totalNanos()).isLessThanOrEqualTo(System.nanoTime() - begin);
            assertThat(timeline.describe())
                    .hasLineCount(2)
                    .startsWith("start      ")
                    .contains("of these   context ");
        }
    }

    /** How often memory, host memory and events were taken. */
    private static int taken(FakeDriver driver) {
        return driver.count("cuMemAlloc") + driver.count("cuMemHostAlloc") + driver.count("cuEventCreate");
    }

    private static void embed(Engine engine) {
        var text = new Prompt.Tokens(List.of(3, 4, 5, 6, 7));
        assertThat(engine.embed(text, SchedulingOptions.DEFAULT).vector()).isNotNull();
    }

    @Test
    void plainStepsOfOneShapeAreRecordedOnceAndReplayed() {
        var driver = new FakeDriver(Card.HOPPER);
        try (Engine engine = EngineOnDevice.open(config(MODELS.resolve("gpt2")), driver.open(DataType.BF16))) {
            run(engine, request(5, 40));
            assertThat(driver.count("cuStreamBeginCapture")).isEqualTo(1);
            assertThat(driver.count("cuGraphLaunch")).isGreaterThanOrEqualTo(37);
            int launches = driver.count("cuLaunchKernelEx");
            run(engine, request(5, 40));
            assertThat(driver.count("cuStreamBeginCapture")).isEqualTo(1);
            assertThat(driver.count("cuLaunchKernelEx") - launches)
                    .as("launches outside of graphs: the prompt's, and a sampling for each token")
                    .isLessThan(40 + 100);
            List<Generation> together;
            synchronized (driver) { // which stops the first at its first call until the second is there
                together = List.of(engine.submit(request(3, 60)), engine.submit(request(3, 60)));
            }
            together.forEach(FakeDeviceTest::finish);
            assertThat(driver.count("cuStreamBeginCapture"))
                    .as("for one row, and for two")
                    .isEqualTo(2);
        }
    }

    @Test
    void aStepNeedsNoCopiesBeyondTheTilesOfAPrompt() {
        for (String model : List.of("gpt2", "gemma3")) { // with one kind of layers, and with two
            var driver = new FakeDriver(Card.HOPPER);
            try (Engine engine = EngineOnDevice.open(config(MODELS.resolve(model)), driver.open(DataType.BF16))) {
                run(engine, request(5, 20));
                int before = driver.count("cuMemcpyHtoDAsync");
                int returned = driver.count("cuMemcpyDtoHAsync");
                int received = driver.reach().received();
                run(engine, request(3, 30));
                assertThat(driver.reach().received() - received)
                        .as("steps, and what they sample, brought by a kernel")
                        .isGreaterThanOrEqualTo(60);
                assertThat(driver.count("cuMemcpyHtoDAsync") - before).isLessThanOrEqualTo(2);
                assertThat(driver.count("cuMemcpyDtoHAsync")).isEqualTo(returned);
            }
        }
    }

    private static void run(Engine engine, GenerationRequest request) {
        finish(engine.submit(request));
    }

    private static void finish(Generation generation) {
        GenerationEvent last = null;
        for (GenerationEvent event : generation) {
            last = event;
        }
        assertThat(last).isInstanceOf(GenerationEvent.Finished.class);
    }
}
