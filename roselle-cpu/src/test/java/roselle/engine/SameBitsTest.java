package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.api.GenerationRequest;
import roselle.api.TokenLogprob;
import roselle.backend.Device;
import roselle.backend.DeviceOptions;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Operations;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.gemm.InterpretedTiles;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.execution.StackingDevice;
import roselle.model.architecture.Architectures;
import roselle.scheduler.Preemption;
import roselle.scheduler.Scheduler;
import roselle.tensor.DataType;
import roselle.testing.ChangedOperations;
import roselle.testing.ConvertedStories;
import roselle.testing.RandomLlama;

/** A request's tokens and log-probabilities do not depend on what else runs, nor on how its work is cut. */
class SameBitsTest {
    /** Names the device to test in place of the CPU: {@code cuda}. */
    private static final String DEVICE = "roselle.test.device";

    private static final int PROMPT = 40;
    private static final int ANSWER = 10;
    private static final long SEED = 20260704;

    @TempDir
    private Path folder;

    /** What a request gave: ids and the bits of their log-probabilities, and how much of its prompt was cached. */
    private record Answer(List<Integer> ids, List<List<Integer>> bits, int cached) {
        List<Object> withoutCache() {
            return List.of(ids, bits);
        }
    }

    private static final Path RESOURCES = Path.of("../roselle-engine/src/test/resources");

    static Stream<Path> models() throws IOException {
        return in("tiny-models").filter(SameBitsTest::hasKernels);
    }

    /** GPUs refuse in words what few families need. */
    private static boolean hasKernels(Path model) {
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            return System.getProperty(DEVICE) == null
                    || Architectures.read(checkpoint).spec().special().isEmpty();
        }
    }

    /** Of families that are made of parts which others have, but for those whose text part is another family's. */
    static Stream<Path> similarModels() throws IOException {
        return in("similar-models").filter(SameBitsTest::hasKernels).filter(model -> !isWrapped(model));
    }

    private static boolean isWrapped(Path model) {
        try {
            return Files.readString(model.resolve("config.json")).contains("\"text_config\"");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static Stream<Path> in(String folder) throws IOException {
        try (Stream<Path> folders = Files.list(RESOURCES.resolve(folder))) {
            return folders.filter(Files::isDirectory).sorted().toList().stream();
        }
    }

    /**
     * What is asked of which model.
     *
     * @param scoresPrompt whether the prompt's own tokens are scored too; they then do not come from the cache
     * @param stacks what a device that has shared experts in stacks has loaded
     */
    private record Subject(Path model, String kvType, CpuPath path, boolean scoresPrompt, List<String> stacks) {
        Subject(Path model, String kvType, CpuPath path, boolean scoresPrompt) {
            this(model, kvType, path, scoresPrompt, List.of());
        }

        /** One whose shared experts are the last of their stacks, which it names. */
        Subject stacked() {
            return new Subject(model, kvType, path, scoresPrompt, new ArrayList<>());
        }

        Device device() {
            return stacks instanceof ArrayList<String> loaded ? StackingDevice.of(plain(), true, loaded) : plain();
        }

        private Device plain() {
            String device = System.getProperty(DEVICE);
            if (device != null) {
                return Devices.open(new DeviceOptions(device, 0));
            }
            boolean isInterpreted = path == CpuPath.AMX && !CpuDevice.paths().contains(path);
            return isInterpreted
                    ? InterpretedTiles.backend(2)
                    : new CpuDevice(CpuOptions.of(2).with(path));
        }
    }

    /** A decoder with windows, sinks and experts, one with latent attention at chosen positions, one with states: the others are long. */
    @ParameterizedTest
    @ValueSource(strings = {"gpt_oss", "deepseek_v32", "qwen3_5_moe"})
    void aRequestGivesTheSameBitsHoweverItRuns(String name) {
        check(new Subject(RESOURCES.resolve("tiny-models").resolve(name), "auto", CpuPath.AUTO, false));
    }

    @Test
    void aSharedExpertInTheStackGivesTheSameBitsToo() throws IOException {
        var subject = new Subject(model("deepseek_v3"), "auto", CpuPath.AUTO, false).stacked();
        check(subject);
        assertThat(subject.stacks()).as("eight experts and the shared one").anyMatch(name -> name.startsWith("9 "));
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("models")
    void aRequestToAnyModelGivesTheSameBitsHoweverItRuns(Path model) {
        check(new Subject(model, "auto", CpuPath.AUTO, false));
    }

    /** Every model with two types of codes on two paths: each type meets each path in several models. */
    @Tag("long")
    @ParameterizedTest
    @MethodSource("models")
    void everyModelGivesTheSameBitsWithCodesOfKeysAndValues(Path model) throws IOException {
        int place = models().toList().indexOf(model);
        List<String> types = List.of("fp8", "int8", "int4");
        List<CpuPath> paths = CpuDevice.paths();
        for (int i = place; i < place + 2; i++) {
            String type = types.get(i % types.size());
            check(new Subject(model, type, paths.get(i % paths.size()), place % 2 == 0));
        }
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("similarModels")
    void aRequestToSimilarModelsGivesTheSameBitsToo(Path model) {
        check(new Subject(model, "f16", CpuPath.AUTO, false));
    }

    /** A decoder that sees all: those with windows, with latent attention and with states are long. */
    @Test
    void chunksOfSizesAroundPagesAndTilesGiveTheSameBits() throws IOException {
        checkChunks("llama", IntStream.of(2, 3, 4, 7, 8, 15, 17, 31, 32, PROMPT - 1, PROMPT, PROMPT + 1));
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"llama", "gemma3", "deepseek_v3", "deepseek_v32", "qwen3_5", "lfm2"})
    void chunksOfEverySizeGiveTheSameBits(String name) throws IOException {
        checkChunks(name, IntStream.rangeClosed(1, PROMPT + 1));
    }

    private static void checkChunks(String name, IntStream sizes) throws IOException {
        int[] chunks = sizes.toArray();
        for (boolean scoresPrompt : new boolean[] {false, true}) {
            var subject = new Subject(model(name), "auto", CpuPath.AUTO, scoresPrompt);
            int vocabulary = vocabulary(subject.model());
            Answer alone = alone(subject, BatchOptions.DEFAULT, vocabulary);
            for (int chunk : chunks) {
                assertThat(alone(subject, new BatchOptions(0, 4, 64, chunk, 100), vocabulary)
                                .withoutCache())
                        .as("%s in chunks of %d", subject, chunk)
                        .isEqualTo(alone.withoutCache());
            }
        }
    }

    @Test
    void aPromptIsScoredWithTheSameBitsHoweverItRuns() throws IOException {
        check(new Subject(llama(), "f32", CpuPath.AUTO, true));
        check(new Subject(llama(), "f16", CpuPath.VECTOR, true));
    }

    @Tag("long")
    @Tag("shared-data")
    @ParameterizedTest
    @CsvSource({"F32, auto, AUTO", "Q8_0, f16, AUTO", "Q4_0, bf16, AUTO", "Q8_0, bf16, VECTOR", "F16, f16, VECTOR"})
    void storiesGiveTheSameBitsInEachFormat(DataType weights, String kvType, CpuPath path) throws IOException {
        check(new Subject(ConvertedStories.write(weights, folder), kvType, path, weights == DataType.Q8_0));
    }

    /** The ways to multiply that this machine offers. */
    static List<CpuPath> paths() {
        return CpuDevice.paths();
    }

    @Test
    void superBlocksGiveTheSameBits() throws IOException {
        check(new Subject(RandomLlama.write(DataType.Q4_K, folder), "f16", CpuPath.AUTO, false));
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("paths")
    void superBlocksGiveTheSameBitsOnEachPath(CpuPath path) throws IOException {
        check(new Subject(RandomLlama.write(DataType.Q4_K, folder), "f16", path, false));
    }

    @Tag("long")
    @Test
    void tilesGiveTheSameBits() throws IOException {
        assumeTrue(InterpretedTiles.arePossible());
        check(new Subject(RandomLlama.write(DataType.Q8_0, folder), "f16", CpuPath.AMX, true));
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("models")
    void everyModelGivesTheSameBitsWithHalfTheCache(Path model) throws IOException {
        int place = models().toList().indexOf(model);
        List<CpuPath> paths = CpuDevice.paths();
        for (int i = 0; i < 2; i++) { // each model meets both types, each path both in several models
            check(new Subject(model, i == 0 ? "f16" : "bf16", paths.get((place + i) % paths.size()), i == 1));
        }
    }

    @Tag("long")
    @ParameterizedTest
    @EnumSource(
            value = DataType.class,
            names = {"BF16", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4"})
    void everyFormatGivesTheSameBits(DataType weights) throws IOException {
        Path model = RandomLlama.write(weights, folder);
        List<CpuPath> paths = CpuDevice.paths();
        CpuPath own = paths.get(List.of(DataType.values()).indexOf(weights)
                % paths.size()); // GemmTest multiplies each format on each of them
        for (CpuPath path : EnumSet.of(own, CpuPath.AUTO)) {
            check(new Subject(model, path == CpuPath.VECTOR ? "bf16" : "f32", path, path == CpuPath.VECTOR));
        }
    }

    /** Tokens that are drawn from: the first ones of a model. */
    private static int vocabulary(Path model) {
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            return Math.min(300, Architectures.read(checkpoint).spec().vocabulary());
        }
    }

    private static void check(Subject subject) {
        int vocabulary = vocabulary(subject.model());
        Answer alone = alone(subject, BatchOptions.DEFAULT, vocabulary);
        assertThat(alone.ids()).hasSize(ANSWER);
        for (int chunk : new int[] {1, 5, 16, 33}) {
            var batch = new BatchOptions(0, 4, 64, chunk, 100);
            assertThat(alone(subject, batch, vocabulary).withoutCache())
                    .as("%s in chunks of %d", subject, chunk)
                    .isEqualTo(alone.withoutCache());
        }
        assertThat(afterItself(subject, vocabulary).withoutCache())
                .as("%s with a prefix hit", subject)
                .isEqualTo(alone.withoutCache());
        assertThat(amongStrangers(subject, vocabulary, subject.device(), StepHook.NONE)
                        .withoutCache())
                .as("%s in a batch of 64", subject)
                .isEqualTo(alone.withoutCache());
        assertThat(amongStrangers(subject, vocabulary, subject.device(), preemption())
                        .withoutCache())
                .as("%s preempted every third step", subject)
                .isEqualTo(alone.withoutCache());
    }

    @Test
    void aKernelWhoseBitsDependOnTheNumberOfRowsIsFound() throws IOException {
        for (boolean scoresPrompt : new boolean[] {false, true}) {
            var subject = new Subject(llama(), "auto", CpuPath.AUTO, scoresPrompt);
            Answer alone = alone(subject, BatchOptions.DEFAULT, 300);
            assertThat(amongStrangers(subject, 300, saboteur(), StepHook.NONE).withoutCache())
                    .isNotEqualTo(alone.withoutCache());
        }
    }

    private static Path llama() throws IOException {
        return model("llama");
    }

    private static Path model(String name) throws IOException {
        return models().filter(path -> path.endsWith(name)).findFirst().orElseThrow();
    }

    private static Device cpu() {
        return new CpuDevice(2);
    }

    /** Takes the pages of every sequence that runs before every third step, so that nobody makes four steps in a row. */
    private static StepHook preemption() {
        var steps = new int[1];
        return new StepHook() {
            @Override
            public void beforeStep(Scheduler scheduler) {
                if (++steps[0] % 3 == 0) {
                    while (scheduler.running() > 0) {
                        Preemption.ofYoungest(scheduler);
                    }
                }
            }

            @Override
            public boolean letsAhead() {
                return steps[0] % 3 != 2;
            }
        };
    }

    /** Adds the last bit to every number of each product of many rows. */
    private static Device saboteur() {
        return ChangedOperations.of(cpu(), new ChangedOperations.Change() {
            @Override
            public void after(Operations honest, Method operation, Object[] arguments) {
                boolean isProduct = List.of("linear", "logits").contains(operation.getName());
                if (isProduct && (int) arguments[4] > 1) {
                    honest.scaleLogits((Rows) arguments[3], Math.nextUp(1f), 0f, (int) arguments[4]);
                }
            }
        });
    }

    private static EngineConfig config(Subject subject, BatchOptions batch) {
        return TestConfig.of(subject.model()).with(batch).with(new CacheOptions(subject.kvType(), 64L << 20, 16, true));
    }

    private static Answer alone(Subject subject, BatchOptions batch, int vocabulary) {
        try (var engine = EngineOnDevice.open(config(subject, batch), subject.device())) {
            return answer(engine.submit(request(subject, vocabulary)));
        }
    }

    private static Answer afterItself(Subject subject, int vocabulary) {
        try (var engine = EngineOnDevice.open(config(subject, BatchOptions.DEFAULT), subject.device())) {
            Answer first = answer(engine.submit(request(subject, vocabulary)));
            Answer second = answer(engine.submit(request(subject, vocabulary)));
            if (!subject.scoresPrompt()) {
                assertThat(second.cached()).as("cached tokens").isPositive();
            }
            assertThat(first.withoutCache()).isEqualTo(second.withoutCache());
            return second;
        }
    }

    private static Answer amongStrangers(Subject subject, int vocabulary, Device device, StepHook hook) {
        var random = new Random(SEED);
        var gate = new Gate(hook);
        try (var engine = EngineOnDevice.open(config(subject, new BatchOptions(0, 64, 128, 24, 100)), device, gate)) {
            var strangers = new ArrayList<Generation>();
            Generation own = null;
            int place = random.nextInt(64);
            for (int i = 0; i < 64; i++) {
                if (i == place) {
                    own = engine.submit(request(subject, vocabulary));
                }
                int[] prompt =
                        random.ints(1 + random.nextInt(50), 3, vocabulary).toArray();
                strangers.add(engine.submit(GenerationRequest.builder()
                        .tokens(prompt)
                        .seed(i)
                        .frequencyPenalty(i % 5 == 1 ? 0.5 : 0)
                        .typicalP(i % 7 == 2 ? 0.9 : 1)
                        .ignoreEos(true)
                        .maxTokens(1 + random.nextInt(20))
                        .build()));
            }
            gate.open();
            Answer answer = answer(Objects.requireNonNull(own));
            strangers.forEach(SameBitsTest::answer);
            return answer;
        }
    }

    private static GenerationRequest request(Subject subject, int vocabulary) {
        int[] prompt = new Random(SEED + 1).ints(PROMPT, 3, vocabulary).toArray();
        return GenerationRequest.builder()
                .tokens(prompt)
                .temperature(0.9)
                .topP(0.95)
                .seed(7)
                .ignoreEos(true)
                .maxTokens(ANSWER)
                .logprobs(3)
                .promptLogprobs(subject.scoresPrompt())
                .build();
    }

    private static Answer answer(Generation generation) {
        var ids = new ArrayList<Integer>();
        var bits = new ArrayList<List<Integer>>();
        int cached = -1;
        try (generation) {
            for (var event : generation) {
                switch (event) {
                    case TokenGenerated token -> {
                        ids.add(token.id());
                        bits.add(bits(token.logprobs()));
                    }
                    case PromptScored scored -> scored.logprobs().forEach(each -> bits.add(bits(each)));
                    case Finished finished -> cached = finished.usage().cachedTokens();
                    case roselle.api.GenerationEvent.Failed failed -> throw new AssertionError(failed.message());
                    case roselle.api.GenerationEvent.ChoiceEnded _,
                            Reasoning _,
                            ToolCallStarted _,
                            ToolCallDelta _,
                            ToolCall _ -> {}
                }
            }
        }
        return new Answer(ids, bits, cached);
    }

    private static List<Integer> bits(List<TokenLogprob> logprobs) {
        var bits = new ArrayList<Integer>();
        for (TokenLogprob each : logprobs) {
            bits.add(each.id());
            bits.add(Float.floatToRawIntBits(each.logprob()));
        }
        return bits;
    }
}
