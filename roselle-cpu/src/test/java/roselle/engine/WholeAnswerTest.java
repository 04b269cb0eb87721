package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.backend.DeviceOptions;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;

/** Answers that are read when all of them is there. */
@Timeout(120)
class WholeAnswerTest {
    private static final Engine ENGINE =
            Engine.open(TestConfig.of(Path.of("../roselle-engine/src/test/resources/demo-model"))
                    .with(new DeviceOptions("cpu", 2))
                    .with(new CacheOptions("f32", 16L << 20, 16, true))
                    .with(new BatchOptions(1024, 8, 64, 0, 100)));

    @AfterAll
    static void close() {
        ENGINE.close();
    }

    private static GenerationRequestBuilder story() {
        return GenerationRequest.builder()
                .user("Tell me a story about a fox.")
                .temperature(1)
                .seed(20261201)
                .maxTokens(150); // more than a chunk of the channel
    }

    /** All but the end, which has times. */
    private static List<GenerationEvent> events(Generation generation) {
        List<GenerationEvent> events = new ArrayList<>();
        generation.forEach(events::add);
        assertThat(events.removeLast()).isInstanceOf(Finished.class);
        return events;
    }

    @Test
    void whatIsAwaitedIsWhatIsReadAsItComes() {
        var request = story().choices(3).build();
        try (Generation read = ENGINE.submit(request);
                Generation awaited = ENGINE.submit(request)) {
            awaited.awaitWhole();
            assertThat(events(awaited)).isEqualTo(events(read));
            awaited.awaitWhole(); // there is no more
        }
    }

    @Test
    void aStopStringEndsItAsEver() {
        var request = story().stopStrings(List.of(" the")).maxTokens(900).ignoreEos(true);
        try (Generation generation = ENGINE.submit(request.build())) {
            generation.awaitWhole();
            assertThat(generation.text()).isNotEmpty().doesNotContain(" the");
        }
    }

    @Test
    void closingEndsTheWait() {
        Generation generation =
                ENGINE.submit(story().maxTokens(900).ignoreEos(true).build());
        generation.next(); // it has begun
        var end = CompletableFuture.supplyAsync(() -> {
            generation.awaitWhole();
            GenerationEvent last = generation.next();
            while (generation.hasNext()) {
                last = generation.next();
            }
            return last;
        });
        generation.close();
        assertThat(end.join())
                .isInstanceOfSatisfying(
                        Finished.class,
                        finished -> assertThat(finished.reasons()).containsExactly(FinishReason.CANCELLED));
    }

    @Test
    void whoIsInterruptedWaitsNoLonger() throws Exception {
        try (Generation generation =
                ENGINE.submit(story().maxTokens(900).ignoreEos(true).build())) {
            var waiting = new CompletableFuture<Void>();
            Thread reader = Thread.ofVirtual().start(() -> {
                try {
                    generation.awaitWhole();
                    waiting.complete(null);
                } catch (Throwable failure) {
                    waiting.completeExceptionally(failure);
                }
            });
            reader.interrupt();
            reader.join();
            assertThatThrownBy(waiting::get).isInstanceOf(CancellationException.class);
        }
    }
}
