package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.ResponseFormat;
import roselle.api.Usage;
import roselle.backend.Device;
import roselle.cpu.CpuDevice;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.execution.QueuedDevice;
import roselle.testing.AheadDevices;

/**
 * Answers are the same whether tokens that must come are taken at once or sampled one by one, in fewer steps. A request that wants
 * log-probabilities has every token sampled: it is what the others are compared with.
 */
@Tag("long")
final class ForcedTokensTest {
    private static final Path DEMO = Path.of("../roselle-engine/src/test/resources/demo-model");
    private static final int REQUESTS = 24;

    /** Few tokens of the demo model hold capitals and digits, so literals of them have runs that can be written in one way. */
    private static final ResponseFormat SERIAL =
            new ResponseFormat.Regex("(QX7Z9K4W1|JV3Q8X2Z6)-[a-z]{1,4}-(ZKQ9X7W5V3J1 [0-9]){2}XQ[a-z]?");

    private static final ResponseFormat SCHEMA = new ResponseFormat.JsonSchema("""
            {"type": "object", "additionalProperties": false, "required": ["QXZ7K9W4V2"], "properties": {
             "QXZ7K9W4V2": {"enum": ["JQ0Z8X6K4V2W", "XJ1Q9Z7K5V3W"]}, "count": {"type": "integer"}}}""");

    /** What a request was told that must not depend on how its tokens came. */
    private record Told(List<List<Integer>> ids, List<String> texts, List<FinishReason> reasons, Counts counts) {}

    private record Counts(int promptTokens, int completionTokens) {}

    private static EngineConfig config() {
        return EngineConfig.of(DEMO)
                .with(new BatchOptions(256, 16, 64, 0, 100))
                .with(new CacheOptions("f32", 0, 4, true));
    }

    private static GenerationRequestBuilder request(int number) {
        ResponseFormat format = number % 3 == 0 ? SERIAL : number % 3 == 1 ? SCHEMA : ResponseFormat.TEXT;
        return GenerationRequest.builder()
                .text("Tell me a long story about a fox and a lamp number " + number % 4)
                .format(format)
                .seed(number)
                .temperature(number % 4)
                .typicalP(number % 7 == 3 ? 0.9 : 1)
                .repetitionPenalty(number % 6 == 1 ? 1.2 : 1)
                .choices(number % 8 == 3 ? 3 : 1)
                .stopStrings(number % 5 == 1 ? List.of("K4", "9Z") : List.of())
                .maxTokens(number % 4 == 2 ? 5 + number : 90);
    }

    private static Told told(Generation generation) {
        var ids = new ArrayList<List<Integer>>();
        var texts = new ArrayList<StringBuilder>();
        for (int choice = 0; choice < 3; choice++) {
            ids.add(new ArrayList<>());
            texts.add(new StringBuilder());
        }
        @Nullable Finished finished = null;
        for (GenerationEvent event : generation) {
            switch (event) {
                case TokenGenerated token -> {
                    ids.get(token.choice()).add(token.id());
                    texts.get(token.choice()).append(token.text());
                }
                case ChoiceEnded end -> texts.get(end.choice()).append(end.text());
                case Reasoning thought -> texts.get(thought.choice()).append(thought.text());
                case Finished end -> finished = end;
                default -> throw new AssertionError(event.toString());
            }
        }
        Finished last = Objects.requireNonNull(finished);
        Usage usage = last.usage();
        return new Told(
                ids,
                texts.stream().map(StringBuilder::toString).toList(),
                last.reasons(),
                new Counts(usage.promptTokens(), usage.completionTokens()));
    }

    /** All answers, and what the engine counted meanwhile. */
    private record Run(List<Told> told, EngineTotals totals) {}

    private static Run run(EngineConfig config, Device device, boolean isSampled) {
        var gate = new Gate();
        try (var engine = EngineOnDevice.open(config, device, gate)) {
            List<Generation> generations = IntStream.range(0, REQUESTS)
                    .mapToObj(number ->
                            engine.submit((isSampled ? request(number).logprobs(1) : request(number)).build()))
                    .toList();
            gate.open();
            List<Told> told = generations.stream().map(ForcedTokensTest::told).toList();
            return new Run(told, engine.status().totals());
        }
    }

    @Test
    void answersAreTheSameHoweverTheyAreComputed() {
        EngineConfig config = config();
        Run sampled = run(config.with(Overlap.OFF), new CpuDevice(2), true);
        assertThat(sampled.totals.forcedTokens()).isZero();
        List<FinishReason> reasons =
                sampled.told.stream().flatMap(each -> each.reasons.stream()).toList();
        assertThat(reasons).contains(FinishReason.STOP, FinishReason.LENGTH);

        Run forced = run(config.with(Overlap.OFF), new CpuDevice(2), false);
        assertThat(forced.told).isEqualTo(sampled.told);
        assertThat(forced.totals.forcedTokens()).isGreaterThan(100);

        Run ahead = run(config.with(Overlap.ON), AheadDevices.late(new QueuedDevice(new CpuDevice(2))), false);
        assertThat(ahead.told).isEqualTo(sampled.told);
        assertThat(ahead.totals.forcedTokens()).isGreaterThan(100);

        var chunks = config.with(new BatchOptions(256, 16, 32, 3, 100)); // shorter than runs are
        assertThat(run(chunks.with(Overlap.OFF), new CpuDevice(2), false).told).isEqualTo(sampled.told);
        assertThat(run(chunks.with(Overlap.ON), new QueuedDevice(new CpuDevice(2)), false).told)
                .isEqualTo(sampled.told);

        var noPrefixes = config.with(new CacheOptions("f32", 0, 4, false));
        assertThat(run(noPrefixes.with(Overlap.OFF), new CpuDevice(2), false).told)
                .isEqualTo(sampled.told);
    }

    @Test
    void answersThatLoseTheirPagesAreTheSame() {
        EngineConfig config = config();
        Run sampled = run(config.with(Overlap.OFF), new CpuDevice(2), true);
        long bytes = Engine.plan(config.with(new BatchOptions(256, 1, 32, 0, 100))).caches().stream()
                .mapToLong(EnginePlan.Cache::bytes)
                .sum();
        EngineConfig few = config.with(new CacheOptions("f32", bytes, 4, true));
        for (Overlap overlap : List.of(Overlap.OFF, Overlap.ON)) {
            Device device = overlap == Overlap.ON ? new QueuedDevice(new CpuDevice(2)) : new CpuDevice(2);
            Run forced = run(few.with(overlap), device, false);
            assertThat(forced.told).isEqualTo(sampled.told);
            assertThat(forced.totals.preemptions()).isPositive();
            assertThat(forced.totals.forcedTokens()).isGreaterThan(100);
        }
    }

    @Test
    void anAnswerMayEndAnywhereInARunOfForcedTokensAndTakesFewerSteps() {
        try (var engine = Engine.open(config().with(Overlap.OFF))) {
            int length = 0;
            double fewest = 1;
            for (int most = 1; most <= 30; most++) {
                GenerationRequestBuilder asked = GenerationRequest.builder()
                        .text("Write: ")
                        .format(new ResponseFormat.Regex("QX7Z9K4W1J[a-z]QX7Z9K4W1J"))
                        .seed(7)
                        .temperature(1)
                        .maxTokens(most);
                long before = engine.status().totals().steps();
                Told forced = told(engine.submit(asked.build()));
                long between = engine.status().totals().steps();
                Told sampled = told(engine.submit(asked.logprobs(0).build()));
                long after = engine.status().totals().steps();
                assertThat(forced).as("%d tokens", most).isEqualTo(sampled);
                length = forced.ids.getFirst().size();
                assertThat(after - between).as("steps of %d tokens", length).isGreaterThanOrEqualTo(length);
                fewest = (between - before) / (double) length;
            }
            assertThat(length).isGreaterThan(15);
            assertThat(fewest).as("steps a token").isLessThan(0.5);
        }
    }
}
