package roselle.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How many requests find their model loaded: 50 models that are asked for by Zipf's law, room for three, clients that each have
 * one request at a time, in made-up time.
 *
 * <p>A model that is asked for must be loaded. Then, of all policies that do not know the future, the best keeps the two models that
 * are asked for most, and has the third place for whatever else was asked for last (Coffman and Denning, 1973): that is <i>best</i>
 * below. Who knows the future, Belady's policy, has more; it is printed for the same order of requests.
 */
final class HitsTest {
    private static final int MODELS = 50;
    private static final int RESIDENT = 3;
    private static final int REQUESTS = 2000;
    private static final long MILLISECOND = 1_000_000;

    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final PriorityQueue<Event> events = new PriorityQueue<>(Comparator.comparingLong(Event::time));
    private final double[] odds =
            IntStream.rangeClosed(1, MODELS).mapToDouble(rank -> 1.0 / rank).toArray();
    private final List<Integer> order = new ArrayList<>();
    private final Random random = new Random(11);
    private long now;

    private record Event(long time, Runnable what) {}

    /** A model whose loads take time, each another. */
    private final class SlowSource implements ModelSource<Object> {
        @Override
        public ModelPlan plan() {
            return ModelPlan.fixed(10, 5, 100, 1000);
        }

        @Override
        public Object open(Progress progress) {
            now += (50 + random.nextInt(100)) * MILLISECOND;
            return new Object();
        }

        @Override
        public boolean isSound(Object model) {
            return true;
        }

        @Override
        public void close(Object model) {}
    }

    private int draw() {
        double point = random.nextDouble(DoubleStream.of(odds).sum());
        int model = 0;
        while (model < MODELS - 1 && point >= odds[model]) {
            point -= odds[model++];
        }
        return model;
    }

    private void ask(ModelPool<Object> pool) {
        if (order.size() == REQUESTS) {
            return;
        }
        int model = draw();
        order.add(model);
        var _ = pool.ask("m" + model)
                .thenAccept(lease -> events.add(new Event(now + random.nextInt(40) * MILLISECOND, () -> {
                    lease.close();
                    ask(pool);
                })));
    }

    private double best() {
        double all = DoubleStream.of(odds).sum();
        double rest = DoubleStream.of(odds).skip(RESIDENT - 1).sum();
        double again = DoubleStream.of(odds)
                .skip(RESIDENT - 1)
                .map(odd -> odd * odd / rest)
                .sum();
        return (DoubleStream.of(odds).limit(RESIDENT - 1).sum() + again) / all;
    }

    /** Hits of the policy that has the model go that is asked for again last. */
    private double belady() {
        Set<Integer> resident = new HashSet<>();
        int hits = 0;
        for (int at = 0; at < order.size(); at++) {
            int from = at;
            if (resident.contains(order.get(at))) {
                hits++;
                continue;
            }
            if (resident.size() == RESIDENT) {
                resident.remove(resident.stream()
                        .max(Comparator.comparingInt(model -> next(model, from)))
                        .orElseThrow());
            }
            resident.add(order.get(at));
        }
        return hits / (double) order.size();
    }

    private int next(int model, int from) {
        int at = from;
        while (at < order.size() && order.get(at) != model) {
            at++;
        }
        return at;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 8})
    void areAsManyAsTheBestHasThatDoesNotKnowTheFuture(int clients) {
        var members = new ArrayList<PoolMember<Object>>();
        for (int index = 0; index < MODELS; index++) {
            members.add(new PoolMember<>("m" + index, List.of(), new SlowSource(), false, Duration.ofSeconds(-1)));
        }
        var pool = new ModelPool<>(members, RESIDENT * 10, Duration.ofSeconds(30), tasks::add, () -> now);
        for (int client = 0; client < clients; client++) {
            ask(pool);
        }
        while (!tasks.isEmpty() || !events.isEmpty()) {
            if (!tasks.isEmpty()) {
                tasks.removeFirst().run();
            } else {
                Event event = events.remove();
                now = Math.max(now, event.time());
                event.what().run();
            }
            if (pool.states().stream().anyMatch(state -> state.word().equals("waiting"))) {
                pool.expire();
            }
        }

        double hits = 1 - pool.totals().loads() / (double) REQUESTS;
        System.out.printf("%d clients: hits %.3f, best %.3f, Belady %.3f%n", clients, hits, best(), belady());
        assertThat(hits).isGreaterThan(0.95 * best());
    }
}
