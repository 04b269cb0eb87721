package roselle.server.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import roselle.api.CapacityException;
import roselle.api.DeviceException;

/** What goes wrong with one model is no concern of the others. */
final class PoolFailuresTest {
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final ElasticSource first = new ElasticSource(20, 60);
    private final ElasticSource second = new ElasticSource(20, 60);
    private final ElasticSource third = new ElasticSource(60, 60);
    private final ModelPool<ElasticSource> pool = new ModelPool<>(
            List.of(member("a", first), member("b", second), member("c", third)),
            100,
            Duration.ofMillis(1),
            tasks::add,
            () -> 0);

    private static PoolMember<ElasticSource> member(String name, ElasticSource source) {
        return new PoolMember<>(name, List.of(), source, false, Duration.ofSeconds(-1));
    }

    private void run() {
        while (!tasks.isEmpty()) {
            tasks.removeFirst().run();
        }
    }

    private void use(String name) {
        var asked = pool.ask(name);
        run();
        asked.join().close();
        run();
    }

    private String word(String name) {
        return pool.states().stream()
                .filter(state -> state.name().equals(name))
                .findFirst()
                .orElseThrow()
                .word();
    }

    @Test
    void aLoadThatDoesNotEndHoldsItsOwnMemoryAlone() {
        var stuck = pool.ask("a");
        tasks.removeFirst().run(); // the plan
        Runnable load = tasks.removeFirst();

        use("b");
        use("b");
        assertThat(stuck).isNotDone();
        assertThat(word("a")).isEqualTo("loading");
        assertThatThrownBy(() -> pool.use("a", _ -> {}))
                .isInstanceOf(CapacityException.class)
                .hasMessageContaining("it is being loaded, 0 % of it so far");

        load.run();
        run();
        assertThat(stuck).isDone();
    }

    @Test
    void aPoolClosesThoughWhatIsPlannedIsNotThereAnyMore() throws InterruptedException {
        var _ = pool.ask("a");
        pool.remove("a");
        Thread closing = Thread.ofPlatform().start(pool::close);
        while (closing.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }

        run();
        closing.join();
        assertThat(pool.totals().heldBytes()).isZero();
    }

    @Test
    void whoeverWaitsHearsHowFarItIs() {
        var told = new ArrayList<String>();
        var listener = new LoadListener(Duration.ofNanos(1), Duration.ofNanos(1), state -> {
            told.add(state.word() + " " + state.name());
            tasks.removeFirst().run(); // the plan, then the load
        });
        var patient = new ModelPool<>(List.of(member("a", first)), 100, Duration.ofDays(1), tasks::add, () -> 0);

        patient.use("a", _ -> {}, listener).close();

        assertThat(told).containsExactly("loading a", "loading a");
    }

    @Test
    void whoeverIsToldNoMoreWaitsNoMore() {
        var listener = new LoadListener(Duration.ofNanos(1), Duration.ofNanos(1), _ -> {
            throw new IllegalStateException("gone");
        });
        var patient = new ModelPool<>(
                List.of(member("a", first), member("c", third)), 100, Duration.ofDays(1), tasks::add, () -> 0);

        assertThatThrownBy(() -> patient.use("a", _ -> {}, listener)).hasMessage("gone");
        run();
        assertThat(patient.totals().heldBytes()).as("nobody waits for it").isZero();
    }

    @Test
    void anUnloadingThatDoesNotEndKeepsItsMemoryCounted() {
        use("a");
        pool.unload("a");
        Runnable close = tasks.removeFirst();

        use("b");
        assertThat(pool.totals().heldBytes()).as("60 of a, and what is left").isEqualTo(100);
        assertThat(second.has).isEqualTo(40);
        close.run();
        run();
        assertThat(pool.totals().heldBytes()).isEqualTo(40);
    }

    @Test
    void anEngineThatEndsWhileItGivesPagesUpHasThemStill() {
        use("a");
        use("b");
        first.shrinking = CompletableFuture.failedFuture(new DeviceException("the engine failed"));
        second.shrinking = new CompletableFuture<>();
        var waiting = pool.ask("c");
        run();

        assertThat(pool.totals().heldBytes()).isLessThanOrEqualTo(100);
        assertThat(word("a")).as("it went, since it gives nothing").isEqualTo("unloaded");
        assertThat(waiting).isDone();
        second.shrinking.complete(null);
        run();
        assertThat(pool.totals().heldBytes()).isEqualTo(80);
    }
}
