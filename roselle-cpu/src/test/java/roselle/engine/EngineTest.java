package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import roselle.api.CapacityException;
import roselle.api.CheckpointException;
import roselle.api.DeviceException;
import roselle.api.FailureKind;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.InvalidRequestException;
import roselle.backend.Device;
import roselle.backend.DeviceOptions;
import roselle.cpu.CpuDevice;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.testing.ChangedOperations;

class EngineTest {
    private static final Path MODEL = Path.of("../roselle-engine/src/test/resources/tiny-models/llama");
    private Engine engine;

    @BeforeEach
    void open() {
        engine = Engine.open(config());
    }

    @AfterEach
    void close() {
        engine.close();
    }

    /** What a subclass may change. */
    EngineConfig config() {
        return TestConfig.of(MODEL)
                .with(new DeviceOptions("cpu", 2))
                .with(new CacheOptions("f32", 8L << 20, 16, true))
                .with(new BatchOptions(256, 16, 64, 0, 40));
    }

    private static GenerationRequestBuilder request(int tokens) {
        return GenerationRequest.builder()
                .tokens(5, 6, 7, 8, 9)
                .temperature(0)
                .ignoreEos(true)
                .maxTokens(tokens);
    }

    private static List<GenerationEvent> events(Generation generation) {
        var events = new ArrayList<GenerationEvent>();
        try (generation) {
            generation.forEach(events::add);
        }
        return events;
    }

    private void awaitIdle() {
        long giveUp = System.nanoTime() + Duration.ofMinutes(2).toNanos();
        while (engine.status().usedPages() > 0 || engine.status().running() > 0) {
            assertThat(System.nanoTime()).as("%s", engine.status()).isLessThan(giveUp);
            Thread.onSpinWait();
        }
    }

    @Test
    void endsEachRequestInExactlyOneFinished() {
        var events = events(engine.submit(request(7).build()));
        assertThat(events).filteredOn(TokenGenerated.class::isInstance).hasSize(7);
        assertThat(events).filteredOn(ChoiceEnded.class::isInstance).hasSize(1);
        assertThat(events.getLast()).isInstanceOfSatisfying(Finished.class, finished -> {
            assertThat(finished.reasons()).containsExactly(FinishReason.LENGTH);
            assertThat(finished.usage().promptTokens()).isEqualTo(5);
            assertThat(finished.usage().completionTokens()).isEqualTo(7);
            assertThat(finished.usage().totalNanos())
                    .isGreaterThanOrEqualTo(finished.usage().firstTokenNanos());
        });
    }

    @Test
    void aThousandVirtualThreadsShareOneBatch() throws Exception {
        engine.close();
        engine = Engine.open(config().with(new BatchOptions(256, 64, 128, 0, 1000)));
        var alone = new ArrayList<List<GenerationEvent>>();
        for (int id = 0; id < 20; id++) {
            alone.add(withoutUsage(request(3).tokens(3 + id, 4 + id)));
        }
        var jobs = new ArrayList<Callable<List<GenerationEvent>>>();
        for (int i = 0; i < 1000; i++) {
            int id = i % 20;
            jobs.add(() -> withoutUsage(request(3).tokens(3 + id, 4 + id)));
        }
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<List<GenerationEvent>>> answers = threads.invokeAll(jobs);
            for (int i = 0; i < 1000; i++) {
                assertThat(answers.get(i).get()).as("thread %d", i).isEqualTo(alone.get(i % 20));
            }
        }
        awaitIdle();
    }

    /** All events but the last, whose times differ. */
    private List<GenerationEvent> withoutUsage(GenerationRequestBuilder request) {
        var events = events(engine.submit(request.logprobs(3).build()));
        assertThat(events.getLast()).isInstanceOf(Finished.class);
        return events.subList(0, events.size() - 1);
    }

    @Test
    void closingAGenerationFreesItsPages() {
        for (int round = 0; round < 50; round++) {
            var generation = engine.submit(request(200).build());
            for (int i = 0; i < round % 5; i++) {
                generation.next();
            }
            generation.close();
            generation.close();
            assertThat(events(generation).getLast())
                    .isInstanceOfSatisfying(
                            Finished.class,
                            finished -> assertThat(finished.reasons())
                                    .containsAnyOf(FinishReason.CANCELLED, FinishReason.LENGTH));
        }
        awaitIdle();
    }

    @Test
    void strangersWhoCancelAtAnyTimeLeaveNothingBehind() throws Exception {
        var random = new Random(5);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var futures = new ArrayList<Future<?>>();
            for (int i = 0; i < 300; i++) {
                int read = random.nextInt(12);
                int choices = 1 + random.nextInt(3);
                futures.add(threads.submit(() -> {
                    Generation generation;
                    try {
                        generation = engine.submit(
                                request(20).choices(choices).temperature(1).build());
                    } catch (CapacityException full) {
                        return;
                    }
                    try (generation) {
                        for (int event = 0; event < read && generation.hasNext(); event++) {
                            generation.next();
                        }
                        generation.close();
                        events(generation); // its end, so that its place in the queue is free
                    }
                }));
            }
            for (Future<?> future : futures) {
                future.get();
            }
        }
        awaitIdle();
        assertThat(events(engine.submit(request(2).build())).getLast()).isInstanceOf(Finished.class);
    }

    @Test
    void choicesShareTheirPromptAndDrawTheirOwnTokens() {
        int[] prompt = new Random(3).ints(40, 3, 300).toArray();
        var events = events(engine.submit(
                request(6).tokens(prompt).choices(3).temperature(1).seed(9).build()));
        var byChoice = List.of(new ArrayList<Integer>(), new ArrayList<Integer>(), new ArrayList<Integer>());
        for (GenerationEvent event : events) {
            if (event instanceof TokenGenerated token) {
                byChoice.get(token.choice()).add(token.id());
            }
        }
        assertThat(byChoice).allSatisfy(ids -> assertThat(ids).hasSize(6));
        assertThat(byChoice).doesNotHaveDuplicates();
    }

    @Test
    void aSecondRequestFindsItsPromptInTheCache() {
        int[] prompt = new Random(4).ints(64, 3, 300).toArray();
        events(engine.submit(request(2).tokens(prompt).build()));
        var events = events(engine.submit(request(2).tokens(prompt).build()));
        assertThat(((Finished) events.getLast()).usage().cachedTokens()).isGreaterThanOrEqualTo(48);
        var salted = events(engine.submit(request(2)
                .tokens(prompt)
                .scheduling(new roselle.api.SchedulingOptions(0, "", "salt", Duration.ZERO))
                .build()));
        assertThat(((Finished) salted.getLast()).usage().cachedTokens()).isZero();
    }

    @Test
    void theStatusCountsTokensHitsAndPages() {
        int[] prompt = new Random(3).ints(40, 3, 300).toArray();
        engine.submit(request(4).tokens(prompt).build()).text();
        engine.submit(request(4).tokens(prompt).build()).text();
        awaitIdle();
        EngineStatus status = engine.status();
        assertThat(status.isAlive()).isTrue();
        assertThat(status.waiting() + status.preempted() + status.running()).isZero();
        assertThat(status.totals().promptTokens()).isEqualTo(80);
        assertThat(status.totals().cachedTokens()).isBetween(32L, 39L);
        assertThat(status.totals().generatedTokens()).isEqualTo(8);
        assertThat(status.totals().preemptions()).isZero();
        // a prompt and three more rows for each answer: the last token is never read
        assertThat(status.totals().rows()).isEqualTo(80 + 6 - status.totals().cachedTokens());
        assertThat(status.cachedPages()).isPositive();
        assertThat(status.totalPages()).isGreaterThan(status.cachedPages());
    }

    /** What is told of an answer is in the status before the answer's reader hears of it. */
    @Test
    void theStatusIsNeverOlderThanAnEventThatWasRead() {
        for (int round = 1; round <= 200; round++) {
            assertThat(events(engine.submit(request(1).build())).getLast()).isInstanceOf(Finished.class);
            EngineStatus status = engine.status();
            assertThat(status.totals().generatedTokens()).isEqualTo(round);
            assertThat(status.running()).isZero();
            assertThat(status.usedPages()).isZero();
        }
    }

    /** As many answers as there is room for, again and again: the end of one makes room for the next. */
    @Test
    void thePlaceOfAnAnswerIsFreeOnceItsEndWasRead() {
        for (int round = 0; round < 50; round++) {
            assertThat(events(engine.submit(
                                    request(1).choices(engine.maxAnswers()).build()))
                            .getLast())
                    .isInstanceOf(Finished.class);
        }
    }

    @Test
    void onlyRequestsWithTheSameSaltSharePrefixes() {
        int[] prompt = new Random(4).ints(40, 3, 300).toArray();
        assertThat(cachedTokens(request(1).tokens(prompt).cacheSalt("one"))).isZero();
        assertThat(cachedTokens(request(1).tokens(prompt).cacheSalt("another"))).isZero();
        assertThat(cachedTokens(request(1).tokens(prompt).cacheSalt("one"))).isBetween(32, 39);
    }

    private int cachedTokens(GenerationRequestBuilder request) {
        return ((Finished) events(engine.submit(request.build())).getLast())
                .usage()
                .cachedTokens();
    }

    @Test
    void scoresThePromptTokenByToken() {
        var events =
                events(engine.submit(request(1).logprobs(2).promptLogprobs(true).build()));
        assertThat(events.getFirst()).isInstanceOfSatisfying(PromptScored.class, scored -> {
            assertThat(scored.ids()).containsExactly(5, 6, 7, 8, 9);
            assertThat(scored.logprobs().getFirst()).isEmpty();
            assertThat(scored.logprobs().subList(1, 5)).allSatisfy(each -> {
                assertThat(each).hasSize(3);
                assertThat(each.getFirst().logprob()).isNegative();
            });
        });
    }

    @Test
    void thePromptIsScoredOnceHoweverManyChoices() {
        int[] prompt = new Random(8).ints(90, 3, 300).toArray();
        var one = request(3).tokens(prompt).logprobs(2).promptLogprobs(true);
        GenerationEvent alone = events(engine.submit(one.build())).getFirst();
        var events = events(engine.submit(one.choices(4).build()));
        assertThat(events).filteredOn(PromptScored.class::isInstance).containsExactly(alone);
        assertThat(events.getFirst()).isEqualTo(alone);
        assertThat(events).filteredOn(TokenGenerated.class::isInstance).hasSize(12);
    }

    @Test
    void aPromptOfOneTokenHasNothingToScoreButIsTold() {
        var events = events(engine.submit(
                request(1).tokens(7).logprobs(2).promptLogprobs(true).build()));
        assertThat(events.getFirst()).isEqualTo(new PromptScored(List.of(7), List.of(List.of())));
    }

    @Test
    void stopTokensAndTheirMinimumAreKept() {
        var free = events(engine.submit(request(8).build()));
        int third = ((TokenGenerated) free.get(2)).id();
        var stopped = events(
                engine.submit(request(8).stopTokenIds(java.util.Set.of(third)).build()));
        assertThat(((Finished) stopped.getLast()).reasons()).containsExactly(FinishReason.STOP);
        assertThat(stopped).filteredOn(TokenGenerated.class::isInstance).hasSizeLessThanOrEqualTo(3);
        var later = events(engine.submit(
                request(8).stopTokenIds(java.util.Set.of(third)).minTokens(6).build()));
        assertThat(later).filteredOn(TokenGenerated.class::isInstance).hasSizeGreaterThanOrEqualTo(6);
    }

    @Test
    void whatCannotBeHonouredIsRefusedAtOnceWithBothNumbers() {
        assertThatThrownBy(() -> engine.submit(request(500).build()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContainingAll("505", "256");
        assertThatThrownBy(() -> engine.submit(request(1).tokens(new int[300]).build()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContainingAll("300", "256");
        assertThatThrownBy(() -> engine.submit(request(1).tokens().build()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("no tokens");
        assertThatThrownBy(() -> engine.submit(request(1).tokens(999).build()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("999");
        assertThatThrownBy(() -> engine.submit(
                        request(1).logitBias(java.util.Map.of(4000, 1f)).build()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("4000");
        assertThatThrownBy(() ->
                        engine.submit(GenerationRequest.builder().user("Hello").build()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("chat template");
        assertThatThrownBy(() ->
                        engine.submit(GenerationRequest.builder().text("Hello").build()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("tokenizer");
        assertThat(engine.submit(request(1).build()).text()).isEmpty();
    }

    @Test
    void aFullQueueIsRefusedWithBothNumbers() {
        engine.close();
        var gate = new Gate(); // no step ends an answer before all have come
        engine = EngineOnDevice.open(config(), new CpuDevice(2), gate);
        var held = new ArrayList<Generation>();
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 200; i++) {
                        held.add(engine.submit(request(240).build()));
                    }
                })
                .isInstanceOf(CapacityException.class)
                .hasMessageContaining("56");
        gate.open();
        held.forEach(Generation::close);
        awaitIdle();
    }

    @Test
    void aDeadlineThatPassesFailsTheRequest() {
        var events =
                events(engine.submit(request(240).deadline(Duration.ofNanos(1)).build()));
        assertThat(events.getLast())
                .isInstanceOfSatisfying(
                        Failed.class, failed -> assertThat(failed.kind()).isEqualTo(FailureKind.DEADLINE));
    }

    @Test
    void aModelThatDoesNotFitIsRefusedWithTheLargestContextThatDoes() {
        assertThatThrownBy(() -> Engine.plan(TestConfig.of(MODEL)
                        .with(new CacheOptions("f32", 64 << 10, 16, true))
                        .with(new BatchOptions(256, 4, 64, 0, 4))))
                .isInstanceOf(CapacityException.class)
                .hasMessageContainingAll("256", "largest context that fits is");
    }

    @Test
    void closingTheEngineFailsWhatIsInFlightAndRefusesMore() {
        var generation = engine.submit(request(240).build());
        engine.close();
        assertThat(events(generation).getLast()).isInstanceOfAny(Failed.class, Finished.class);
        assertThatThrownBy(() -> engine.submit(request(1).build())).isInstanceOf(DeviceException.class);
    }

    @Test
    void aMissingModelIsNamed() {
        assertThatThrownBy(() -> Engine.open(TestConfig.of(Path.of("no/such/model"))))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("no/such/model");
    }

    @Test
    void aDeviceThatFailsMidBatchFailsEveryRequestAndTheEngine() {
        engine.close();
        var gate = new Gate();
        engine = EngineOnDevice.open(config(), failing(100), gate);
        var first = engine.submit(request(240).build());
        var second = engine.submit(request(240).build());
        gate.open();
        assertThat(first.next()).as("before the device breaks").isInstanceOf(TokenGenerated.class);
        for (Generation each : List.of(first, second)) {
            assertThat(events(each).getLast())
                    .isInstanceOfSatisfying(
                            Failed.class, failed -> assertThat(failed.message()).contains("the device is gone"));
        }
        assertThat(engine.status().isAlive()).isFalse();
        assertThatThrownBy(() -> engine.submit(request(1).build()))
                .isInstanceOf(DeviceException.class)
                .hasMessageContaining("the device is gone");
    }

    /** A device that breaks in the product of this number, after some steps. */
    private static Device failing(int product) {
        var made = new int[1];
        return ChangedOperations.of(new CpuDevice(1), new ChangedOperations.Change() {
            @Override
            public void before(Method operation) {
                if (operation.getName().equals("linear") && ++made[0] >= product) {
                    throw new DeviceException("the device is gone");
                }
            }
        });
    }
}
