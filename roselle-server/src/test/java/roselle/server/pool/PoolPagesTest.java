package roselle.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import roselle.api.CapacityException;

/** Pages move between models while they are loaded, and models sleep. */
final class PoolPagesTest {
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final ElasticSource first = new ElasticSource(20, 80);
    private final ElasticSource second = new ElasticSource(20, 80);
    private final ModelPool<ElasticSource> pool = new ModelPool<>(
            List.of(member("a", first, 1), member("b", second, 3)), 100, Duration.ofSeconds(30), tasks::add, () -> 0);

    private static PoolMember<ElasticSource> member(String name, ElasticSource source, double share) {
        return new PoolMember<>(name, List.of(), source, false, Duration.ofSeconds(-1), share);
    }

    private void run() {
        while (!tasks.isEmpty()) {
            tasks.removeFirst().run();
            assertThat(pool.totals().heldBytes()).isLessThanOrEqualTo(100);
        }
    }

    private void load(String name) {
        var asked = pool.ask(name);
        run();
        asked.join().close();
        run();
    }

    private void balance() {
        pool.expire();
        run();
    }

    @Test
    void theSecondModelGetsPagesOfTheFirstAndNoneGoes() {
        load("a");
        assertThat(first.has).isEqualTo(80);
        load("b");

        assertThat(first.has).isEqualTo(80);
        assertThat(second.has).as("what was free").isEqualTo(20);
        assertThat(pool.totals().evictions()).isZero();
    }

    @Test
    void aModelInUseGivesPagesUpToo() {
        pool.put(member("c", new ElasticSource(30, 30), 1));
        var used = pool.ask("a");
        run();
        first.shrinking = new CompletableFuture<>();
        var waiting = pool.ask("c");
        run();
        assertThat(waiting).as("its pages are in use").isNotDone();
        assertThat(first.has).isEqualTo(80);

        first.shrinking.complete(null);
        run();

        assertThat(waiting).isDone();
        assertThat(first.has).isEqualTo(70);
        used.join().close();
    }

    @Test
    void pagesGoToTheModelThatWantsThemAndBack() {
        load("a");
        load("b");
        second.wants = 80;
        balance();
        balance();
        assertThat(first.has).isEqualTo(20);
        assertThat(second.has).isEqualTo(80);

        first.wants = 80;
        second.wants = 20;
        balance();
        balance();
        assertThat(first.has).isEqualTo(80);
        assertThat(second.has).isEqualTo(20);

        second.wants = 80;
        balance();
        balance();
        assertThat(first.has).as("by shares of 1 and 3").isEqualTo(35);
        assertThat(second.has).isEqualTo(65);
        assertThat(pool.totals().moves()).isEqualTo(6);
    }

    @Test
    void nothingMovesWhereNobodyIsShort() {
        load("a");
        load("b");
        balance();

        assertThat(pool.totals().moves()).isZero();
        assertThat(first.has).isEqualTo(80);
    }

    @Test
    void asleepOnLevelOneKeepsWhatIsGuaranteed() {
        load("a");
        var _ = pool.sleep("a", 1);
        run();

        assertThat(first.isAsleep).isTrue();
        assertThat(pool.states().getFirst().word()).isEqualTo("sleeping");
        assertThat(pool.totals().heldBytes()).isEqualTo(20);
        assertThat(pool.ask("a")).isCompletedExceptionally();
        assertThat(pool.ask("a").exceptionNow()).isInstanceOf(CapacityException.class);
        load("b");
        assertThat(second.has).isEqualTo(80);

        assertThat(pool.wake("a")).isTrue();
        run();
        assertThat(first.isAsleep).isFalse();
        assertThat(first.loads).isEqualTo(1);
        load("a");
        assertThat(pool.wake("a")).as("it is awake").isFalse();
    }

    @Test
    void asleepOnLevelTwoHasNothingAndIsLoadedWhenItWakes() {
        load("a");
        var _ = pool.sleep("a", 2);
        run();
        assertThat(pool.totals().heldBytes()).isZero();
        assertThat(pool.ask("a")).isCompletedExceptionally();

        pool.wake("a");
        run();

        assertThat(first.loads).isEqualTo(2);
        assertThat(pool.ask("a")).isDone();
    }

    @Test
    void anotherTakesTheNameAndRequestsKeepWhatTheyHave() {
        var old = pool.ask("a");
        run();
        var replacement = new ElasticSource(20, 40);
        pool.put(member("a", replacement, 1));
        run();
        assertThat(first.has).as("in use").isEqualTo(80);
        assertThat(pool.totals().heldBytes()).isEqualTo(80);

        load("a");
        assertThat(replacement.loads).isEqualTo(1);
        assertThat(pool.totals().heldBytes()).isEqualTo(100);
        old.join().close();
        run();

        assertThat(first.has).isZero();
        assertThat(pool.states()).hasSize(2);
        assertThat(pool.totals().heldBytes()).isEqualTo(20);
    }

    @Test
    void whoWaitsForTheOldOneGetsTheNew() {
        var asked = pool.ask("a");
        tasks.removeFirst().run(); // planned; now it is loaded
        var replacement = new ElasticSource(20, 40);
        pool.put(member("a", replacement, 1));
        run();

        assertThat(asked.join().model()).isSameAs(replacement);
        assertThat(first.has).as("loaded for nobody, and unloaded").isZero();
    }

    @Test
    void whatIsRemovedIsToldToWhoWaitsAndGoesBehindWhoHasIt() {
        var used = pool.ask("a");
        run();
        assertThat(pool.remove("a")).isTrue();
        assertThat(pool.remove("a")).isFalse();
        assertThat(pool.find("a")).isEmpty();
        assertThat(first.has).isEqualTo(80);
        used.join().close();
        run();
        assertThat(first.has).isZero();

        var waiting = pool.ask("b");
        pool.remove("b");
        run();
        assertThat(waiting).isCompletedExceptionally();
        assertThat(pool.totals().heldBytes()).isZero();
    }
}
