package roselle.server.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.server.pool.FakeSource.FakeModel;

/** Models in one memory: made-up ones, whose loads end when the test says so. */
final class ModelPoolTest {
    private static final Duration FOREVER = Duration.ofSeconds(-1);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long SECOND = 1_000_000_000L;

    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final AtomicLong now = new AtomicLong();
    private final Map<String, FakeSource> sources = new LinkedHashMap<>();

    private FakeSource source(String name) {
        return java.util.Objects.requireNonNull(sources.get(name));
    }

    private PoolMember<FakeModel> member(String name, long bytes, boolean isPinned, Duration keepAlive) {
        var source = new FakeSource(bytes);
        sources.put(name, source);
        return new PoolMember<>(name, List.of(name + "-alias"), source, isPinned, keepAlive);
    }

    /** Models a, b, c … of these sizes. */
    private List<PoolMember<FakeModel>> members(long... sizes) {
        var members = new ArrayList<PoolMember<FakeModel>>();
        for (int index = 0; index < sizes.length; index++) {
            members.add(member(String.valueOf((char) ('a' + index)), sizes[index], false, FOREVER));
        }
        return members;
    }

    private ModelPool<FakeModel> pool(long budget, List<PoolMember<FakeModel>> members) {
        return pool(budget, members, PATIENCE, tasks::add, now::get);
    }

    private static ModelPool<FakeModel> pool(
            long budget,
            List<PoolMember<FakeModel>> members,
            Duration patience,
            Executor executor,
            LongSupplier clock) {
        return new ModelPool<>(members, budget, patience, executor, clock);
    }

    private void run() {
        while (!tasks.isEmpty()) {
            tasks.removeFirst().run();
        }
    }

    private static String word(ModelPool<FakeModel> pool, String name) {
        return pool.states().stream()
                .filter(state -> state.name().equals(name))
                .findFirst()
                .orElseThrow()
                .word();
    }

    /** Loads a model, and gives it back at once. */
    private void touch(ModelPool<FakeModel> pool, String name) {
        var asked = pool.ask(name);
        run();
        asked.join().close();
        run();
    }

    @Test
    void whatWaitsInTheMachinesMemoryIsParkedUntilItIsLoaded() {
        var pool = pool(100, members(10, 10));

        source("a").hostBytes = 7;
        assertThat(word(pool, "a")).isEqualTo("parked");
        assertThat(pool.states().getFirst().isParked()).isTrue();
        assertThat(pool.states().getFirst().hostBytes()).isEqualTo(7);
        assertThat(word(pool, "b")).isEqualTo("unloaded");
        var _ = pool.ask("a");
        assertThat(word(pool, "a")).isEqualTo("loading");
        source("a").hostBytes = 0;
        run();

        assertThat(word(pool, "a")).isEqualTo("loaded");
        assertThat(pool.states().getFirst().isParked()).isFalse();
    }

    @Test
    void loadsAModelOnceForAllThatAskForIt() {
        var pool = pool(100, members(10));

        var first = pool.ask("a");
        var second = pool.ask("a-alias");
        assertThat(first).isNotDone();
        assertThat(word(pool, "a")).isEqualTo("loading");
        run();
        var third = pool.ask("a");

        assertThat(third).isDone();
        assertThat(first.join().model())
                .isSameAs(second.join().model())
                .isSameAs(third.join().model());
        assertThat(source("a").loads).hasValue(1);
        assertThat(word(pool, "a")).isEqualTo("loaded");
        assertThat(pool.states().getFirst().users()).isEqualTo(3);
        assertThat(pool.totals()).isEqualTo(new PoolTotals(100, 10, 1, 0, 0, 0));
    }

    @Test
    void makesRoomByTheModelThatIsWorthLeast() {
        var pool = pool(20, members(10, 10, 10));
        touch(pool, "a");
        touch(pool, "a");
        touch(pool, "b");

        touch(pool, "c");

        assertThat(word(pool, "a")).isEqualTo("loaded");
        assertThat(word(pool, "b")).isEqualTo("unloaded");
        assertThat(word(pool, "c")).isEqualTo("loaded");
        assertThat(pool.totals().evictions()).isEqualTo(1);
        assertThat(source("b").open).hasValue(0);
    }

    @Test
    void waitsForAModelInUseAndNeverUnloadsIt() {
        var pool = pool(10, members(10, 10));
        var used = pool.ask("a");
        run();

        var waiting = pool.ask("b");
        run();
        assertThat(waiting).isNotDone();
        assertThat(word(pool, "b")).isEqualTo("waiting");
        assertThat(used.join().model().isClosed).isFalse();
        used.join().close();
        run();

        assertThat(waiting).isDone();
        assertThat(word(pool, "a")).isEqualTo("unloaded");
    }

    @Test
    void hasABusyModelGoForOneThatWaitsForLong() {
        var pool = pool(10, members(10, 10));
        var used = pool.ask("a");
        run();
        var waiting = pool.ask("b");
        run();

        now.addAndGet(ModelPool.BEFORE_INSISTING.toNanos() - 1);
        pool.expire();
        var overlapping = pool.ask("a");
        assertThat(overlapping).as("not yet").isDone();
        used.join().close();
        run();
        assertThat(waiting).as("a is never idle").isNotDone();

        now.addAndGet(1);
        pool.expire();
        pool.expire(); // counts it once
        var behind = pool.ask("a");
        assertThat(behind).as("it waits its turn").isNotDone();
        assertThat(overlapping.join().model().isClosed).isFalse();
        overlapping.join().close();
        run();
        assertThat(waiting).isDone();
        waiting.join().close();
        run();

        assertThat(behind).isDone();
        assertThat(pool.totals().evictions()).isEqualTo(2);
    }

    @Test
    void leavesBusyModelsAloneThatArePinned() {
        var pool = pool(
                20,
                List.of(
                        member("a", 10, true, FOREVER),
                        member("b", 10, false, FOREVER),
                        member("c", 10, false, FOREVER)));
        var _ = pool.ask("a");
        var _ = pool.ask("b");
        var _ = pool.ask("c");
        run();

        now.addAndGet(ModelPool.BEFORE_INSISTING.toNanos());
        pool.expire();

        assertThat(pool.ask("a")).isDone();
        assertThat(pool.ask("b")).isNotDone();
    }

    @Test
    void promisesMemoryBeforeItLoads() {
        var pool = pool(15, members(10, 10));
        var first = pool.ask("a");
        var second = pool.ask("b");
        tasks.removeFirst().run(); // both are planned while neither is loaded
        tasks.removeFirst().run();

        assertThat(word(pool, "a")).isEqualTo("loading");
        assertThat(word(pool, "b")).isEqualTo("waiting");
        run();
        assertThat(first).isDone();
        assertThat(second).isNotDone();
        assertThat(pool.totals().heldBytes()).isEqualTo(10);
        first.join().close();
        run();
        assertThat(second).isDone();
    }

    @Test
    void letsNoSmallModelOvertakeALargeOneThatWaits() {
        var pool = pool(20, members(10, 20, 5));
        var used = pool.ask("a");
        run();
        var large = pool.ask("b");
        run();
        var small = pool.ask("c");
        run();

        assertThat(large).isNotDone();
        assertThat(small).isNotDone();
        used.join().close();
        run();
        assertThat(large).isDone();
        large.join().close();
        run();
        assertThat(small).isDone();
    }

    @Test
    void tellsOfAFailureAndHarmsNoOther() {
        var pool = pool(20, members(10, 10));
        touch(pool, "b");
        source("a").failure = "it is no model";

        var asked = pool.ask("a");
        run();

        assertThatThrownBy(asked::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(DeviceException.class)
                .hasMessageContaining("the model a could not be loaded: it is no model");
        assertThat(word(pool, "a")).isEqualTo("failed");
        assertThat(word(pool, "b")).isEqualTo("loaded");
        assertThat(pool.totals()).isEqualTo(new PoolTotals(20, 10, 1, 1, 0, 0));
    }

    @Test
    void triesAFailedModelAgainAfterAWhile() {
        var pool = pool(20, members(10));
        source("a").failure = "it is half written";
        var failed = pool.ask("a");
        run();
        assertThat(failed).isCompletedExceptionally();
        source("a").failure = "";

        assertThat(pool.ask("a")).isCompletedExceptionally();
        assertThat(tasks).isEmpty();
        now.addAndGet(ModelPool.BETWEEN_TRIES.toNanos());
        touch(pool, "a");

        assertThat(word(pool, "a")).isEqualTo("loaded");
    }

    @Test
    void refusesAModelThatCanNeverFit() {
        var members = members(10, 12);
        members.add(member("pinned", 10, true, FOREVER));
        var pool = pool(20, members);
        touch(pool, "pinned");

        var asked = pool.ask("b");
        run();

        assertThatThrownBy(asked::join).hasMessageContaining("--model-memory");
        touch(pool, "a");
        assertThat(word(pool, "pinned")).isEqualTo("loaded");
        assertThat(word(pool, "a")).isEqualTo("loaded");
    }

    @Test
    void takesTheMachinesMemoryWhereNoneIsNamed() {
        var pool = pool(0, members(10));
        assertThat(pool.totals().budgetBytes()).isZero();

        touch(pool, "a");

        assertThat(pool.totals().budgetBytes()).isEqualTo(1000);
    }

    @Test
    void unloadsWhatNobodyHasAskedForInItsTime() {
        var pool = pool(100, List.of(member("a", 10, false, Duration.ofSeconds(60)), member("b", 10, false, FOREVER)));
        touch(pool, "a");
        touch(pool, "b");
        now.addAndGet(59 * SECOND);
        pool.expire();
        run();
        assertThat(word(pool, "a")).isEqualTo("loaded");
        assertThat(pool.states().getFirst().unloadsAfter()).contains(Duration.ofSeconds(1));

        now.addAndGet(SECOND);
        pool.expire();
        run();

        assertThat(word(pool, "a")).isEqualTo("unloaded");
        assertThat(word(pool, "b")).isEqualTo("loaded");
        assertThat(pool.totals().heldBytes()).isEqualTo(10);
    }

    @Test
    void keepsAModelForAsLongAsItsLastRequestSays() {
        var pool = pool(100, List.of(member("a", 10, false, Duration.ofSeconds(60))));
        var asked = pool.ask("a");
        run();
        asked.join().keepAlive(FOREVER);
        asked.join().close();
        now.addAndGet(1000 * SECOND);
        pool.expire();
        run();
        assertThat(word(pool, "a")).isEqualTo("loaded");

        var last = pool.ask("a").join();
        last.keepAlive(Duration.ZERO);
        run();
        assertThat(word(pool, "a")).isEqualTo("loaded");
        last.close();
        run();

        assertThat(word(pool, "a")).isEqualTo("unloaded");
    }

    @Test
    void unloadsOnDemandBehindTheRequestsThatUseIt() {
        var pool = pool(100, members(10));
        var asked = pool.ask("a");
        run();
        assertThat(pool.unload("a")).isTrue();
        var later = pool.ask("a");
        run();
        assertThat(asked.join().model().isClosed).isFalse();
        assertThat(later).isNotDone();

        asked.join().close();
        run();

        assertThat(asked.join().model().isClosed).isTrue();
        assertThat(later.join().model()).isNotSameAs(asked.join().model());
        assertThat(source("a").loads).hasValue(2);
    }

    @Test
    void unloadsAModelThatIsStillLoadedBehindThoseWhoWait() {
        var pool = pool(100, members(10));
        assertThat(pool.unload("a")).isFalse();
        var asked = pool.ask("a");
        assertThat(pool.unload("a")).isTrue();
        run();
        assertThat(asked.join().model().isClosed).isFalse();

        asked.join().close();
        run();

        assertThat(word(pool, "a")).isEqualTo("unloaded");
        touch(pool, "a");
        assertThat(word(pool, "a")).isEqualTo("loaded");
    }

    /** The best that loads what is asked for keeps all but one place for the models that are asked for most (Coffman and Denning). */
    @Test
    void keepsWhatIsAskedForMost() {
        long seed = 42;
        var random = new Random(seed);
        var members = new ArrayList<PoolMember<FakeModel>>();
        for (int index = 0; index < 50; index++) {
            members.add(member("m" + index, 10, false, FOREVER));
        }
        var pool = pool(30, members);
        double[] odds =
                IntStream.rangeClosed(1, 50).mapToDouble(rank -> 1.0 / rank).toArray();
        double all = DoubleStream.of(odds).sum();
        double rest = DoubleStream.of(odds).skip(2).sum();
        double restAgain =
                DoubleStream.of(odds).skip(2).map(odd -> odd * odd / rest).sum();
        double best = (odds[0] + odds[1] + restAgain) / all;
        int requests = 6000;
        for (int request = 0; request < requests; request++) {
            double point = random.nextDouble(all);
            int index = 0;
            while (index < 49 && point >= odds[index]) {
                point -= odds[index++];
            }
            touch(pool, "m" + index);
            now.addAndGet(SECOND / 10);
        }

        double hits = 1 - pool.totals().loads() / (double) requests;
        assertThat(hits).as("seed %d, of %f", seed, best).isGreaterThan(0.95 * best);
    }

    @Test
    void loadsAModelAnewWhoseEngineHasEnded() {
        var pool = pool(100, members(10));
        var first = pool.ask("a");
        run();
        first.join().model().isDead = true;
        first.join().close();

        var second = pool.ask("a");
        run();

        assertThat(second.join().model().isDead).isFalse();
        assertThat(source("a").open).hasValue(1);
    }

    @Test
    void forgetsWhoHasGone() {
        var pool = pool(10, members(10, 10));
        var gone = pool.ask("a");
        gone.cancel(false);
        run();

        assertThat(pool.states().getFirst().users()).isZero();
        touch(pool, "b");
        assertThat(word(pool, "b")).isEqualTo("loaded");
    }

    @Test
    void saysWhyAModelIsNotLoadedInTime() {
        var pool = pool(10, members(10, 10), Duration.ofMillis(1), tasks::add, now::get);
        var used = pool.ask("a");
        run();

        assertThatThrownBy(() -> pool.use("b", _ -> {}))
                .isInstanceOf(CapacityException.class)
                .hasMessageContaining("the model b was not loaded within 0 s: it is being loaded");
        run(); // its plan, which nobody wants any more
        assertThat(word(pool, "b")).isEqualTo("unloaded");
        used.join().close();
        run();
        assertThat(word(pool, "a")).isEqualTo("loaded");
    }

    @Test
    void endsAWaitWhenItsRequestIsBrokenOff() {
        var pool = pool(10, members(10));

        assertThatThrownBy(() -> pool.use("a", Runnable::run))
                .isInstanceOf(java.util.concurrent.CancellationException.class);
        run();

        assertThat(word(pool, "a")).isEqualTo("unloaded");
        assertThat(source("a").loads).hasValue(0);
    }

    @Test
    void unloadsEverythingAtItsEnd() {
        var pool = pool(100, members(10, 10), PATIENCE, Runnable::run, now::get);
        Lease<FakeModel> used = pool.ask("a").join();
        pool.ask("b").join().close();

        pool.close();

        assertThat(used.model().isClosed).isTrue();
        assertThat(pool.totals().heldBytes()).isZero();
        assertThat(pool.ask("a")).isCompletedExceptionally();
    }

    @Test
    void breaksOffALoadAtItsEnd() throws Exception {
        var pool = pool(100, members(10), PATIENCE, tasks::add, now::get);
        var asked = pool.ask("a");
        tasks.removeFirst().run(); // the plan
        Runnable load = tasks.removeFirst();
        var closing = Thread.ofVirtual().start(pool::close);
        assertThatThrownBy(asked::join).hasRootCauseInstanceOf(DeviceException.class);

        load.run();
        closing.join();

        assertThat(source("a").open).hasValue(0);
        assertThat(source("a").loads).hasValue(0);
    }

    /** Any order of requests, ends and loads: the memory is never exceeded, nothing in use is closed, everyone gets a model. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void keepsItsPromisesInAnyOrder(long seed) {
        var random = new Random(seed);
        var pool = pool(25, members(10, 12, 5, 20, 1, 25));
        var asked = new ArrayList<CompletableFuture<Lease<FakeModel>>>();
        int answered = 0;
        for (int turn = 0; turn < 4000; turn++) {
            switch (random.nextInt(8)) {
                case 0 -> asked.add(pool.ask(String.valueOf((char) ('a' + random.nextInt(6)))));
                case 1 -> {
                    now.addAndGet(random.nextLong(SECOND));
                    pool.expire();
                }
                case 2, 3 -> answered += answer(asked, random) ? 1 : 0;
                default -> runAny(random);
            }
            assertThat(pool.totals().heldBytes())
                    .as("seed %d, turn %d", seed, turn)
                    .isLessThanOrEqualTo(25);
        }
        while (!asked.isEmpty()) {
            runAny(random);
            answered += answer(asked, random) ? 1 : 0;
        }
        run();

        assertThat(answered).as("seed %d", seed).isGreaterThan(200);
        assertThat(pool.totals().evictions()).isGreaterThan(20);
        assertThat(sources.values().stream()
                        .mapToInt(source -> source.open.get())
                        .sum())
                .isEqualTo(pool.loaded().size());
    }

    private void runAny(Random random) {
        if (!tasks.isEmpty()) {
            var all = new ArrayList<>(tasks);
            Runnable task = all.get(random.nextInt(all.size()));
            tasks.remove(task);
            task.run();
        }
    }

    /** Ends one of the requests that have their model. */
    private static boolean answer(List<CompletableFuture<Lease<FakeModel>>> asked, Random random) {
        int[] ready = IntStream.range(0, asked.size())
                .filter(index -> asked.get(index).isDone())
                .toArray();
        if (ready.length == 0) {
            return false;
        }
        Lease<FakeModel> lease =
                asked.remove(ready[random.nextInt(ready.length)]).join();
        assertThat(lease.model().isClosed).isFalse();
        lease.close();
        return true;
    }

    @Test
    void servesManyThreads() throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var pool = pool(25, members(10, 10, 10, 10, 20), PATIENCE, threads, System::nanoTime)) {
            var users = new ArrayList<Future<?>>();
            for (int user = 0; user < 8; user++) {
                var random = new Random(user);
                users.add(threads.submit(() -> {
                    for (int turn = 0; turn < 100; turn++) {
                        String name = String.valueOf((char) ('a' + random.nextInt(5)));
                        try (var lease = pool.use(name, _ -> {})) {
                            Thread.onSpinWait();
                            assertThat(lease.model().isClosed).isFalse();
                        }
                        assertThat(pool.totals().heldBytes()).isLessThanOrEqualTo(25);
                    }
                }));
            }
            for (Future<?> user : users) {
                user.get();
            }
        }
        assertThat(sources.values())
                .allSatisfy(source -> assertThat(source.open).hasValue(0));
    }
}
