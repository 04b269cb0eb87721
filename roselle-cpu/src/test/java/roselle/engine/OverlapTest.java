package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.InvalidRequestException;
import roselle.backend.Device;
import roselle.cpu.CpuDevice;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.execution.QueuedDevice;
import roselle.testing.AheadDevices;
import roselle.testing.MixedRequests;

/** What requests are told is the same, bit for bit, whether or not steps are launched before tokens are read. */
class OverlapTest {
    private static EngineConfig config(String model, long kvBytes) {
        return TestConfig.of(Path.of("../roselle-engine/src/test/resources/tiny-models", model))
                .with(new BatchOptions(64, 16, 64, 0, 100))
                .with(new CacheOptions("f32", kvBytes, 4, true));
    }

    private static List<String> answers(EngineConfig config, Device device) {
        try (var engine = EngineOnDevice.open(config, device)) {
            return MixedRequests.answers(engine);
        }
    }

    /** A decoder that sees all, one with windows, one with latent attention and experts, one with learned positions. */
    @ParameterizedTest
    @ValueSource(strings = {"llama", "gemma3", "deepseek_v3", "gpt2"})
    void stepsLaunchedAheadGiveTheSameBitsHoweverLateTheDeviceComesToThem(String model) {
        var stepsAhead = new AtomicInteger();
        EngineConfig config = config(model, 0);
        List<String> plain = answers(config.with(Overlap.OFF), AheadDevices.counting(new CpuDevice(2), stepsAhead));
        assertThat(stepsAhead.get()).as("steps ahead with overlap off").isZero();
        assertThat(plain).anyMatch(answer -> answer.contains("STOP"));
        assertThat(plain).anyMatch(answer -> answer.contains("LENGTH"));

        EngineConfig overlapped = config.with(Overlap.ON);
        assertThat(answers(overlapped, AheadDevices.counting(new CpuDevice(2), stepsAhead)))
                .isEqualTo(plain);
        assertThat(stepsAhead.getAndSet(0)).as("steps ahead").isGreaterThan(10);

        Device late = AheadDevices.late(new QueuedDevice(new CpuDevice(2)));
        assertThat(answers(overlapped, AheadDevices.counting(late, stepsAhead))).isEqualTo(plain);
        assertThat(stepsAhead.get()).as("late steps ahead").isGreaterThan(10);
    }

    /** Pages for one of sixteen sequences: they run short again and again. */
    @Test
    void fewPagesGiveTheSameBits() {
        String model = "llama";
        EngineConfig one = config(model, 0).with(new BatchOptions(64, 1, 32, 0, 100));
        long bytes = Engine.plan(one).caches().stream()
                .mapToLong(EnginePlan.Cache::bytes)
                .sum();
        List<String> plain = answers(config(model, 0).with(Overlap.OFF), new CpuDevice(2));
        EngineConfig overlapped = config(model, bytes).with(Overlap.ON);
        Device late = AheadDevices.late(new QueuedDevice(new CpuDevice(2)));
        var gate = new Gate(); // else each might end before the next has come
        try (var engine = EngineOnDevice.open(overlapped, late, gate)) {
            assertThat(MixedRequests.answers(engine, gate::open)).isEqualTo(plain);
            assertThat(engine.status().totals().preemptions()).isPositive();
        }
    }

    private static GenerationRequestBuilder longAnswer(int first) {
        return GenerationRequest.builder()
                .tokens(first, 6, 7)
                .seed(first)
                .temperature(1)
                .ignoreEos(true)
                .maxTokens(40);
    }

    /** Steps launched ahead while some requests run to their ends together. */
    private static int stepsAhead(GenerationRequest... requests) {
        var stepsAhead = new AtomicInteger();
        Device device = AheadDevices.counting(new CpuDevice(2), stepsAhead);
        var gate = new Gate();
        EngineConfig config = config("llama", 0).with(new BatchOptions(64, 16, 64, 8, 100)); // chunks of 8
        try (var engine = EngineOnDevice.open(config.with(Overlap.ON), device, gate)) {
            List<Generation> generations =
                    Arrays.stream(requests).map(engine::submit).toList();
            gate.open();
            for (Generation generation : generations) {
                for (var _ : generation) {} // to its end
            }
        }
        return stepsAhead.get();
    }

    @Test
    void rowsWithPenaltiesGoAhead() {
        GenerationRequest request =
                longAnswer(5).repetitionPenalty(1.3).presencePenalty(0.3).build();
        assertThat(stepsAhead(request)).isEqualTo(39);
    }

    @Test
    void aRowThatTheHostSamplesStopsNoOther() {
        GenerationRequest typical = longAnswer(5).typicalP(0.9).build();
        assertThat(stepsAhead(typical)).as("alone it always waits").isZero();
        assertThat(stepsAhead(typical, longAnswer(6).build())).isEqualTo(39);
    }

    @Test
    void aPromptInChunksStopsNobody() {
        int[] prompt = new Random(3).ints(50, 3, 300).toArray();
        GenerationRequest longPrompt = longAnswer(5).tokens(prompt).maxTokens(1).build();
        assertThat(stepsAhead(longAnswer(6).build(), longPrompt)).isEqualTo(39);
    }

    @Test
    void aFailureOfAStepAheadIsTheEnginesEnd() {
        var steps = new AtomicInteger();
        Device device =
                AheadDevices.failing(new CpuDevice(1), inputs -> inputs.takesSampled && steps.incrementAndGet() == 3);
        try (var engine = EngineOnDevice.open(config("llama", 0).with(Overlap.ON), device)) {
            var generation = engine.submit(GenerationRequest.builder()
                    .tokens(5, 6, 7)
                    .ignoreEos(true)
                    .maxTokens(40)
                    .build());
            int tokens = 0;
            GenerationEvent last = null;
            while (generation.hasNext()) {
                last = generation.next();
                tokens += last instanceof TokenGenerated ? 1 : 0;
            }
            assertThat(last)
                    .isInstanceOfSatisfying(
                            GenerationEvent.Failed.class,
                            failed -> assertThat(failed.message()).contains("the device is gone"));
            assertThat(tokens).isBetween(2, 4);
            assertThat(engine.status().isAlive()).isFalse();
        }
    }

    @Test
    void leftOpenItIsOnWhereTheDeviceSamplesTokens() {
        assertThat(Overlap.AUTO.isOn(true)).isTrue();
        assertThat(Overlap.AUTO.isOn(false)).isFalse();
        assertThat(Overlap.OFF.isOn(true)).isFalse();
    }

    @Test
    void anUnknownWordIsRefused() {
        assertThat(Overlap.of("ON")).isEqualTo(Overlap.ON);
        assertThatThrownBy(() -> Overlap.of("yes"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("overlap is yes: it must be auto, on or off");
    }
}
