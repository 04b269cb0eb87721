package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationRequest;
import roselle.cpu.CpuDevice;

/** What an engine says while it finds out why it failed. */
final class DeathTest {
    private static final Path LLAMA = Path.of("../roselle-engine/src/test/resources/tiny-models/llama");

    @Test
    void tellsNoOtherReasonBeforeItKnowsWhy() {
        var opened = new CompletableFuture<Engine>();
        List<String> told = new ArrayList<>();
        StepHook hook = scheduler -> {
            if (scheduler.waiting() + scheduler.running() > 0) {
                throw new IllegalStateException() {
                    @Override
                    public String getMessage() {
                        told.add(opened.join().status().failure());
                        return "planted";
                    }
                };
            }
        };
        try (Engine engine = EngineOnDevice.open(EngineConfig.of(LLAMA), new CpuDevice(1), hook)) {
            opened.complete(engine);
            try (Generation generation = engine.submit(
                    GenerationRequest.builder().tokens(1, 2).maxTokens(8).build())) {
                for (var event : generation) {
                    if (event instanceof Failed failed) {
                        assertThat(failed.message()).startsWith("the engine failed and must be opened again: ");
                    }
                }
            }
            assertThat(told.getFirst()).isEmpty();
            assertThat(engine.status().failure()).contains("planted");
        }
    }
}
