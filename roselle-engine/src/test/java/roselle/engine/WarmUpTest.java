package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.GenerationEvent;
import roselle.api.GenerationRequest;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.DeviceOptions;

/** An engine that has warmed up is one that has done nothing yet. */
final class WarmUpTest {
    private static final int[] PROMPT = new int[40];

    @TempDir
    private Path folder = Path.of("");

    private static EngineConfig config(WarmUp warmUp) {
        return EngineConfig.of(Path.of("src/test/resources/tiny-models/llama"))
                .with(new DeviceOptions("cpu", 1))
                .with(warmUp);
    }

    /** Has an engine that warms up answer a request. */
    private static StartObserver answering(List<String> answers) {
        return new StartObserver() {
            @Override
            public void warmsUp(Engine engine) {
                answers.add(answer(engine));
            }
        };
    }

    private static String answer(Engine engine) {
        var request = GenerationRequest.builder().tokens(PROMPT).maxTokens(8).ignoreEos(true);
        try (var generation = engine.submit(request.build())) {
            return generation.text();
        }
    }

    @Test
    void answersWhileItWarmsUpAndForgetsIt() {
        var answers = new ArrayList<String>();
        try (var warm = Engine.open(config(WarmUp.ON), answering(answers));
                var cold = Engine.open(config(WarmUp.OFF))) {
            assertThat(answers).hasSize(1);
            assertThat(warm.status().totals()).isEqualTo(new EngineTotals(0, 0, 0, 0, 0, 0, 0));
            assertThat(warm.status().usedPages() + warm.status().cachedPages()).isZero();
            assertThat(warm.status().lastStepNanos()).isZero();

            String first = answer(warm);

            assertThat(first).isEqualTo(answer(cold));
            assertThat(warm.status().totals().cachedTokens()).isZero();
            assertThat(warm.status().totals().generatedTokens()).isEqualTo(8);
            answer(warm);
            assertThat(warm.status().totals().cachedTokens()).isPositive(); // what was asked is remembered
        }
    }

    @Test
    void isNotInARecording() throws IOException {
        Path file = folder.resolve("engine.jfr");
        long steps;
        try (var recording = new Recording()) {
            recording.enable("roselle.Step");
            recording.enable("roselle.Request");
            recording.start();
            try (var engine = Engine.open(config(WarmUp.ON), answering(new ArrayList<>()))) {
                answer(engine);
                steps = engine.status().totals().steps();
            }
            recording.stop();
            recording.dump(file);
        }

        var names = RecordingFile.readAllEvents(file).stream()
                .map(event -> event.getEventType().getName())
                .toList();
        assertThat(names).filteredOn("roselle.Request"::equals).hasSize(1);
        assertThat(names).filteredOn("roselle.Step"::equals).isNotEmpty().hasSizeLessThanOrEqualTo((int) steps + 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5})
    void opensWithAContextThatHoldsHardlyAnything(int context) {
        var batch = new BatchOptions(context, 1, 16, 0, 1);
        try (var engine = Engine.open(config(WarmUp.ON).with(batch))) {
            var request = GenerationRequest.builder().tokens(1).maxTokens(1).ignoreEos(true);
            try (var generation = engine.submit(request.build())) {
                generation.text();
            }
            assertThat(engine.status().totals().generatedTokens()).isEqualTo(1);
        }
    }

    @Test
    void leavesNoThreadBehindWhenItsObserverFails() {
        var observer = new StartObserver() {
            @Override
            public void warmsUp(Engine engine) {
                throw new IllegalStateException("planted");
            }
        };
        assertThatThrownBy(() -> Engine.open(config(WarmUp.ON), observer)).hasMessage("planted");
        assertThat(Thread.getAllStackTraces().keySet())
                .filteredOn(thread -> thread.getName().equals("roselle-engine"))
                .isEmpty();
    }

    @Test
    @Timeout(60)
    void endsEachRequestThatIsStillBeingAnsweredWhenItIsOver() {
        var open = new ArrayList<Generation>();
        var observer = new StartObserver() {
            @Override
            public void warmsUp(Engine engine) {
                for (int i = 0; i < 100; i++) {
                    open.add(engine.submit(GenerationRequest.builder()
                            .tokens(PROMPT)
                            .ignoreEos(true)
                            .build()));
                }
            }
        };
        try (var engine = Engine.open(config(WarmUp.ON), observer)) {
            int failed = 0;
            for (Generation generation : open) {
                failed += end(generation) instanceof GenerationEvent.Failed ? 1 : 0;
            }
            assertThat(failed).isPositive();
            assertThat(engine.status().totals()).isEqualTo(new EngineTotals(0, 0, 0, 0, 0, 0, 0));
            answer(engine);
            assertThat(engine.status().totals().generatedTokens()).isEqualTo(8);
        }
    }

    private static GenerationEvent end(Generation generation) {
        GenerationEvent last = generation.next();
        while (generation.hasNext()) {
            last = generation.next();
        }
        return last;
    }
}
