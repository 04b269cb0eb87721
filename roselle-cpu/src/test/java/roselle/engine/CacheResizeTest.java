package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import roselle.api.CapacityException;
import roselle.api.FailureKind;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;

/** An engine gives memory of its pages back while it answers, takes it again, and sleeps. */
final class CacheResizeTest {
    private static EngineConfig config() {
        return EngineConfig.of(Path.of("../roselle-engine/src/test/resources/demo-model"))
                .with(new BatchOptions(256, 8, 64, 0, 100))
                .with(new CacheOptions("auto", 0, 16, true));
    }

    private static GenerationRequest request(int number, int tokens) {
        return GenerationRequest.builder()
                .text("Once upon a time there were " + number)
                .temperature(0)
                .ignoreEos(true)
                .maxTokens(tokens)
                .build();
    }

    private static List<Integer> tokens(Generation generation) {
        var ids = new ArrayList<Integer>();
        try (generation) {
            for (GenerationEvent event : generation) {
                if (event instanceof TokenGenerated token) {
                    ids.add(token.id());
                }
            }
        }
        return ids;
    }

    private static void await(CompletableFuture<Void> future) throws Exception {
        future.get(60, TimeUnit.SECONDS);
    }

    @Test
    void answersAreTheSameWhileTheCacheShrinksAndGrows() throws Exception {
        try (var engine = Engine.open(config())) {
            var expected = new ArrayList<List<Integer>>();
            for (int number = 0; number < 6; number++) {
                expected.add(tokens(engine.submit(request(number, 40))));
            }
            long most = engine.plan().kvBytes();
            long least = engine.plan().leastCacheBytes();
            assertThat(engine.status().cacheBytes()).isEqualTo(most).isGreaterThan(2 * least);

            for (long bytes : new long[] {least, most, (least + most) / 2, 0}) {
                var running = new ArrayList<Generation>();
                for (int number = 0; number < 6; number++) {
                    running.add(engine.submit(request(number, 40)));
                }
                CompletableFuture<Void> resized = engine.cache().resize(bytes);
                for (int number = 0; number < 6; number++) {
                    assertThat(tokens(running.get(number))).isEqualTo(expected.get(number));
                }
                await(resized);
                tokens(engine.submit(request(0, 1)));
                assertThat(engine.status().cacheBytes())
                        .isBetween(Math.max(least, bytes * 9 / 10), Math.max(least, bytes));
            }
            assertThat(tokens(engine.submit(request(7, 200))))
                    .as("one still fits")
                    .hasSize(200);
        }
    }

    @Test
    void whatSleepsHasNoPagesAndTakesNoRequestsUntilItIsWoken() throws Exception {
        try (var engine = Engine.open(config())) {
            List<Integer> expected = tokens(engine.submit(request(1, 20)));
            try (Generation broken = engine.submit(request(2, 200))) {
                assertThat(broken.next()).isInstanceOf(TokenGenerated.class);
                await(engine.cache().sleep());
                GenerationEvent last = broken.next();
                while (!(last instanceof Failed) && !(last instanceof Finished)) {
                    last = broken.next();
                }
                assertThat(((Failed) last).kind()).isEqualTo(FailureKind.CAPACITY);
            }
            assertThat(engine.cache().isAsleep()).isTrue();
            assertThatThrownBy(() -> engine.submit(request(3, 1)))
                    .isInstanceOf(CapacityException.class)
                    .hasMessageContaining("sleeps");
            await(engine.cache().wake());
            assertThat(engine.cache().isAsleep()).isFalse();
            assertThat(tokens(engine.submit(request(1, 20)))).isEqualTo(expected);
        }
    }

    @Test
    void whoWaitsForAnEngineThatEndsHearsOfIt() {
        var engine = Engine.open(config());
        engine.close();
        assertThat(engine.cache().resize(0)).isCompletedExceptionally();
        assertThat(engine.cache().sleep()).isCompletedExceptionally();
    }
}
