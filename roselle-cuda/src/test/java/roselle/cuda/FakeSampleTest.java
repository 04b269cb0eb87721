package roselle.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.cuda.FakeDriver.Card;
import roselle.cuda.layout.SampleRowLayout;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineOnDevice;
import roselle.engine.Overlap;
import roselle.tensor.DataType;

/** What the device is told of penalties, biases and forbidden tokens, when it comes to sample. */
class FakeSampleTest {
    private static final Path GPT2 = Path.of("../roselle-engine/src/test/resources/tiny-models/gpt2");
    private static final int TOKEN = 9;

    /** A row as the kernel finds it. */
    private record Row(
            float repetition,
            float presence,
            float frequency,
            int prompt,
            List<Integer> history,
            List<Integer> biasIds,
            List<Float> biases,
            List<Integer> stops,
            long mask) {}

    private final FakeDriver driver = new FakeDriver(Card.HOPPER);
    private final List<Row> rows = new ArrayList<>();

    private void note(FakeKernels.Launch launch) {
        if (!launch.kernel().name().equals("sample")) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment row = arena.allocate(SampleRowLayout.BYTES, 8);
            driver.reach().read(launch.value("rows"), row);
            int biases = SampleRowLayout.BIAS_COUNT.of(row);
            List<Integer> amounts = ints(SampleRowLayout.BIASES.of(row), biases);
            rows.add(new Row(
                    SampleRowLayout.REPETITION.of(row),
                    SampleRowLayout.PRESENCE.of(row),
                    SampleRowLayout.FREQUENCY.of(row),
                    SampleRowLayout.PROMPT_LENGTH.of(row),
                    ints(SampleRowLayout.HISTORY.of(row), SampleRowLayout.HISTORY_LENGTH.of(row)),
                    ints(SampleRowLayout.BIAS_IDS.of(row), biases),
                    amounts.stream().map(Float::intBitsToFloat).toList(),
                    ints(SampleRowLayout.STOP_IDS.of(row), SampleRowLayout.STOP_COUNT.of(row)),
                    SampleRowLayout.MASK.of(row)));
            MemorySegment token = arena.allocate(JAVA_INT);
            token.set(JAVA_INT, 0, TOKEN);
            driver.reach().write(launch.value("results"), token);
        }
    }

    private List<Integer> ints(long address, int count) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(JAVA_INT, Math.max(1, count));
            if (count > 0) {
                driver.deviceMemory().requireLive("what a row names", address, 4L * count);
                driver.deviceMemory().read(address, copy);
            }
            return Arrays.stream(copy.toArray(JAVA_INT)).limit(count).boxed().toList();
        }
    }

    private List<Row> rowsOf(GenerationRequest request, Overlap overlap) {
        driver.whenRun(this::note);
        EngineConfig config =
                EngineConfig.of(GPT2).with(new BatchOptions(128, 8, 128, 0, 64)).with(overlap);
        try (Engine engine = EngineOnDevice.open(config, driver.open(DataType.BF16))) {
            int before = driver.count("cuMemcpyDtoHAsync");
            for (var _ : engine.submit(request)) {} // to its end
            assertThat(driver.count("cuMemcpyDtoHAsync"))
                    .as("tokens are written to the host, and no logits are copied")
                    .isEqualTo(before);
        }
        return rows;
    }

    private static GenerationRequestBuilder request() {
        return GenerationRequest.builder().tokens(3, 4, 5).maxTokens(4).ignoreEos(true);
    }

    @ParameterizedTest
    @EnumSource(
            value = Overlap.class,
            names = {"OFF", "ON"})
    void aRepetitionPenaltySeesPromptAndAnswer(Overlap overlap) {
        List<Row> told = rowsOf(request().repetitionPenalty(1.25).build(), overlap);
        assertThat(told.stream().map(Row::history))
                .containsExactly(
                        List.of(3, 4, 5),
                        List.of(3, 4, 5, TOKEN),
                        List.of(3, 4, 5, TOKEN, TOKEN),
                        List.of(3, 4, 5, TOKEN, TOKEN, TOKEN));
        assertThat(told).allMatch(row -> row.prompt == 3 && row.repetition == 1.25f);
    }

    @ParameterizedTest
    @EnumSource(
            value = Overlap.class,
            names = {"OFF", "ON"})
    void aWindowOfTwoIsAllThatTheDeviceHears(Overlap overlap) {
        List<Row> told = rowsOf(
                request()
                        .repetitionPenalty(1.25)
                        .presencePenalty(0.5)
                        .penaltyWindow(2)
                        .build(),
                overlap);
        assertThat(told.stream().map(Row::history))
                .containsExactly(List.of(4, 5), List.of(5, TOKEN), List.of(TOKEN, TOKEN), List.of(TOKEN, TOKEN));
        assertThat(told.stream().map(Row::prompt)).as("of these the prompt's").containsExactly(2, 1, 0, 0);
    }

    @Test
    void theOtherPenaltiesSeeThePromptWhereTheyAreToldTo() {
        List<Row> told = rowsOf(
                request()
                        .presencePenalty(0.5)
                        .penaltyWindow(2)
                        .penalizesPrompt(true)
                        .build(),
                Overlap.OFF);
        assertThat(told.stream().map(Row::history))
                .containsExactly(List.of(4, 5), List.of(5, TOKEN), List.of(TOKEN, TOKEN), List.of(TOKEN, TOKEN));
        assertThat(told).allMatch(row -> row.prompt == 0);
    }

    @Test
    void theOtherPenaltiesSeeTheAnswerAlone() {
        List<Row> told =
                rowsOf(request().presencePenalty(0.5).frequencyPenalty(-0.25).build(), Overlap.OFF);
        assertThat(told.stream().map(Row::history))
                .containsExactly(List.of(), List.of(TOKEN), List.of(TOKEN, TOKEN), List.of(TOKEN, TOKEN, TOKEN));
        assertThat(told)
                .allMatch(row ->
                        row.prompt == 0 && row.repetition == 1 && row.presence == 0.5f && row.frequency == -0.25f);
    }

    @Test
    void biasesAndStopTokensThatComeTooEarlyAreTold() {
        GenerationRequest request = request()
                .logitBias(Map.of(17, 2.5f, 8, -100f))
                .stopTokenIds(Set.of(100, 40))
                .minTokens(2)
                .build();
        List<Row> told = rowsOf(request, Overlap.OFF);
        assertThat(told).allMatch(row -> row.biasIds.equals(List.of(8, 17)) && row.biases.equals(List.of(-100f, 2.5f)));
        assertThat(told.stream().map(Row::stops))
                .containsExactly(List.of(40, 100), List.of(40, 100), List.of(), List.of());
        assertThat(told).allMatch(row -> row.mask == 0 && row.history.isEmpty());
    }
}
