package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.DeviceException;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.InvalidRequestException;
import roselle.backend.DeviceOptions;
import roselle.batch.StepResult;
import roselle.cpu.CpuDevice;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;

/** What lies at the edges: a full context, stop strings of many choices, ids without tokens, a close in the middle. */
class EngineEdgesTest {
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources/tiny-models");
    private static final Path DEMO = Path.of("../roselle-engine/src/test/resources/demo-model");
    private static final long SEED = 20261121;

    @TempDir
    private Path folder;

    private static EngineConfig config(Path model, int context) {
        return TestConfig.of(model)
                .with(new DeviceOptions("cpu", 2))
                .with(new CacheOptions("f32", 8L << 20, 16, true))
                .with(new BatchOptions(context, 8, 64, 0, 100));
    }

    private static List<GenerationEvent> events(Generation generation) {
        var events = new ArrayList<GenerationEvent>();
        try (generation) {
            generation.forEach(events::add);
        }
        return events;
    }

    @ParameterizedTest
    @ValueSource(strings = {"llama", "gemma3", "deepseek_v3"})
    void theContextIsFilledToItsLastToken(String name) {
        int context = 75; // not a whole number of pages
        try (var engine = Engine.open(config(MODELS.resolve(name), context))) {
            for (int length : new int[] {1, 16, 63, 74}) {
                int[] prompt = new Random(SEED).ints(length, 3, 300).toArray();
                var request = GenerationRequest.builder().tokens(prompt).temperature(0);
                var events = events(engine.submit(request.ignoreEos(true).build()));
                assertThat(events).filteredOn(TokenGenerated.class::isInstance).hasSize(context - length);
                assertThat(((Finished) events.getLast()).reasons()).containsExactly(FinishReason.LENGTH);
            }
            assertThatThrownBy(() -> engine.submit(
                            GenerationRequest.builder().tokens(new int[context]).build()))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContainingAll("75 tokens", "holds 75");
        }
    }

    @Test
    void eachChoiceEndsBeforeItsOwnStopString() {
        List<String> stops = List.of(" the", "and a");
        try (var engine = Engine.open(config(DEMO, 200))) {
            var free = answers(events(engine.submit(story().build())));
            var events = events(engine.submit(story().stopStrings(stops).build()));
            var stopped = answers(events);
            for (int choice = 0; choice < free.size(); choice++) {
                assertThat(stopped.get(choice)).isEqualTo(before(free.get(choice), stops));
            }
            assertThat(stopped).as("some were stopped").isNotEqualTo(free);
            assertThat(events).filteredOn(ChoiceEnded.class::isInstance).hasSize(4);
            assertThat(events).last().isInstanceOf(Finished.class);
        }
    }

    private static GenerationRequestBuilder story() {
        return GenerationRequest.builder()
                .user("Tell me a story about a fox.")
                .temperature(1)
                .seed(SEED)
                .choices(4)
                .maxTokens(60);
    }

    private static List<String> answers(List<GenerationEvent> events) {
        var answers = Stream.generate(StringBuilder::new).limit(4).toList();
        for (GenerationEvent event : events) {
            switch (event) {
                case TokenGenerated token -> answers.get(token.choice()).append(token.text());
                case ChoiceEnded end -> answers.get(end.choice()).append(end.text());
                default -> {}
            }
        }
        return answers.stream().map(StringBuilder::toString).toList();
    }

    private static String before(String text, List<String> stops) {
        int end = text.length();
        for (String stop : stops) {
            int at = text.indexOf(stop);
            end = at < 0 ? end : Math.min(end, at);
        }
        return text.substring(0, end);
    }

    @Test
    void moreChoicesThanEverFitAreNoMatterOfTrying() {
        var batch = new BatchOptions(64, 4, 64, 0, 6);
        try (var engine = Engine.open(config(MODELS.resolve("llama"), 64).with(batch))) {
            var request = GenerationRequest.builder().tokens(5, 6).maxTokens(2);
            assertThatThrownBy(() -> engine.submit(request.choices(11).build()))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContainingAll("n is 11", "at most 10");
            assertThat(events(engine.submit(request.choices(10).build())))
                    .last()
                    .isInstanceOf(Finished.class);
        }
    }

    /** A step that fails leaves no reader waiting, whatever state it left behind. */
    @Test
    @Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aDefectOfTheLoopIsToldToEveryReader() {
        var steps = new int[1];
        StepHook defect = scheduler -> {
            if (++steps[0] == 4) {
                scheduler.plan(System.nanoTime());
                scheduler.commit(new StepResult(8, 72)); // of nothing, for a step of something
            }
        };
        try (var engine = EngineOnDevice.open(config(MODELS.resolve("llama"), 64), new CpuDevice(2), defect)) {
            var first = engine.submit(GenerationRequest.builder()
                    .tokens(5, 6)
                    .ignoreEos(true)
                    .choices(3)
                    .build());
            assertThat(events(first).getLast())
                    .isInstanceOfSatisfying(
                            Failed.class, failed -> assertThat(failed.message()).contains("must be opened again"));
            assertThat(engine.status().isAlive()).isFalse();
            assertThatThrownBy(() -> engine.submit(
                            GenerationRequest.builder().tokens(5, 6).build()))
                    .isInstanceOf(DeviceException.class);
        }
    }

    @Test
    void theLongestDeadlineIsAYear() {
        var request = GenerationRequest.builder().tokens(5, 6).maxTokens(2);
        assertThatThrownBy(() -> request.deadline(Duration.ofSeconds(Long.MAX_VALUE)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("at most 365 days");
        try (var engine = Engine.open(config(MODELS.resolve("llama"), 64))) {
            var events =
                    events(engine.submit(request.deadline(Duration.ofDays(365)).build()));
            assertThat(events).last().isInstanceOf(Finished.class);
        }
    }

    /** Models often have more logits than their tokenizer has tokens, and holes among those. */
    @Test
    void anIdWithoutATokenHasNoText() throws IOException {
        try (var engine = Engine.open(config(withFewTokens(), 64))) {
            for (int id : new int[] {4, 310}) {
                var request = GenerationRequest.builder()
                        .tokens(1, 2, 5)
                        .temperature(0)
                        .ignoreEos(true)
                        .logitBias(Map.of(id, 100f))
                        .logprobs(20)
                        .promptLogprobs(true)
                        .maxTokens(3);
                var events = events(engine.submit(request.build()));
                assertThat(events)
                        .filteredOn(TokenGenerated.class::isInstance)
                        .hasSize(3)
                        .allSatisfy(event -> assertThat(event).isInstanceOfSatisfying(TokenGenerated.class, token -> {
                            assertThat(token.id()).isEqualTo(id);
                            assertThat(token.text()).isEmpty();
                        }));
                assertThat(events).last().isInstanceOf(Finished.class);
            }
        }
    }

    @Test
    void aTokenThatTheModelLacksIsRefusedAndTheEngineGoesOn() throws IOException {
        try (var engine = Engine.open(config(withFewTokens(), 64))) {
            assertThatThrownBy(() -> engine.submit(
                            GenerationRequest.builder().text("abf").build()))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContainingAll("token id 320", "0 to 319");
            assertThatThrownBy(() -> engine.submit(
                            GenerationRequest.builder().tokens(1, 4).build()))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("token id 4");
            var events = events(engine.submit(
                    GenerationRequest.builder().text("ab").maxTokens(2).build()));
            assertThat(events).last().isInstanceOf(Finished.class);
        }
    }

    private Path withFewTokens() throws IOException {
        Path llama = MODELS.resolve("llama");
        Files.copy(llama.resolve("config.json"), folder.resolve("config.json"));
        Files.copy(llama.resolve("model.safetensors"), folder.resolve("model.safetensors"));
        Files.writeString(folder.resolve("tokenizer.json"), """
                {"added_tokens": [], "decoder": {"type": "ByteLevel"},
                 "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false},
                 "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "d": 3, "e": 5, "f": 320}, "merges": []}}
                """);
        return folder;
    }

    /** What was accepted ends in one event, what came too late is refused, and nobody waits for ever. */
    @Test
    @Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void closingWhileManySubmitLeavesNobodyWaiting() throws Exception {
        for (int round = 0; round < 20; round++) {
            var engine = Engine.open(config(MODELS.resolve("llama"), 64));
            var jobs = new ArrayList<Callable<Integer>>();
            for (int i = 0; i < 24; i++) {
                jobs.add(() -> submitUntilRefused(engine));
            }
            try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                var ends = new ArrayList<Future<Integer>>();
                jobs.forEach(job -> ends.add(threads.submit(job)));
                while (engine.status().totals().steps() < 1 + round) {
                    Thread.onSpinWait();
                }
                engine.close();
                for (Future<Integer> end : ends) {
                    assertThat(end.get()).isNotNegative();
                }
            }
        }
    }

    private static int submitUntilRefused(Engine engine) {
        for (int answered = 0; true; answered++) {
            try {
                var request = GenerationRequest.builder().tokens(5, 6, 7).maxTokens(5);
                var events = events(engine.submit(request.choices(2).build()));
                assertThat(events.getLast()).isInstanceOfAny(Finished.class, Failed.class);
                assertThat(events.subList(0, events.size() - 1))
                        .noneMatch(event -> event instanceof Finished || event instanceof Failed);
            } catch (DeviceException closed) {
                return answered;
            }
        }
    }

    @Test
    void closingEndsItsThreadsAndUnmapsTheModel() throws IOException {
        Path map = Path.of("/proc/self/maps");
        assumeTrue(Files.isReadable(map), "this system does not tell what is mapped");
        Path model = Files.copy(MODELS.resolve("llama/model.safetensors"), folder.resolve("model.safetensors"));
        Files.copy(MODELS.resolve("llama/config.json"), folder.resolve("config.json"));
        List<Thread> before = threads();
        try (var engine = Engine.open(config(folder, 64))) {
            assertThat(engine.submit(GenerationRequest.builder()
                                    .tokens(5, 6)
                                    .maxTokens(3)
                                    .build())
                            .text())
                    .isEmpty();
            assertThat(threads()).hasSizeGreaterThan(before.size());
            assertThat(Files.readString(map)).contains(model.toString());
        }
        assertThat(threads()).isEqualTo(before);
        assertThat(Files.readString(map)).doesNotContain(model.toString());
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            assertThat(open.filter(Files::isSymbolicLink).map(EngineEdgesTest::target))
                    .doesNotContain(model.toString());
        }
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException gone) {
            return "";
        }
    }

    private static List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("roselle-") && thread.isAlive())
                .sorted(java.util.Comparator.comparingLong(Thread::threadId))
                .toList();
    }
}
