package roselle.server.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Clients that go at any moment of a request's life. */
@Tag("long")
final class RandomCancelsTest {
    private static final int CANCELS = 100_000;
    private static final int CLIENTS = 48;
    private static final int SEQUENCES = 32;

    /** Room for those whose clients went and who are still to be noticed, however late a busy machine comes to that. */
    private static final int QUEUE = 1024;

    private static final long SEED = 20_261_121;

    @Test
    void keepsEveryPageThroughAHundredThousandCancels() throws Exception {
        System.out.println("seed " + SEED);
        try (var serving = new NullServer(SEQUENCES, QUEUE, 0)) {
            ask(serving, 8);
            serving.requireConserved();
            long descriptors = NullServer.descriptors();
            int threads = NullServer.platformThreads();
            long begin = System.nanoTime();

            var next = new AtomicInteger();
            var outcomes = new int[4];
            try (var clients = Executors.newVirtualThreadPerTaskExecutor()) {
                var random = new SplittableRandom(SEED);
                var all = IntStream.range(0, CLIENTS)
                        .mapToObj(client -> {
                            SplittableRandom own = random.split();
                            return clients.submit(() -> cancelMany(serving.port(), own, next));
                        })
                        .toList();
                for (Future<int[]> client : all) {
                    int[] counts = client.get();
                    for (int moment = 0; moment < outcomes.length; moment++) {
                        outcomes[moment] += counts[moment];
                    }
                }
            }
            double seconds = (System.nanoTime() - begin) / 1e9;

            serving.requireConserved();
            NullServer.await(() -> NullServer.descriptors() <= descriptors + 4);
            var totals = serving.status().totals();
            System.out.printf(
                    "%d cancels in %.1f s: %d within the request, %d unanswered, %d in the stream, %d refused; %d tokens%n",
                    CANCELS, seconds, outcomes[0], outcomes[1], outcomes[2], outcomes[3], totals.generatedTokens());
            assertThat(outcomes[1]).isGreaterThan(CANCELS / 10);
            assertThat(outcomes[2]).isGreaterThan(CANCELS / 10);
            assertThat(NullServer.platformThreads() - threads).isLessThan(NullServer.carriers());
            ask(serving, SEQUENCES); // there is room for as many as at first
        }
    }

    /** Requests that all must be answered whole, at the same time. */
    private static void ask(NullServer serving, int count) throws Exception {
        try (var clients = Executors.newVirtualThreadPerTaskExecutor()) {
            var answers = IntStream.range(0, count)
                    .mapToObj(client -> clients.submit(() -> {
                        try (var connection = new LoadConnection(serving.port(), client)) {
                            connection.send(LoadConnection.post(LoadConnection.completion(200, true)));
                            assertThat(connection.head()).isEqualTo(200);
                            return connection.events();
                        }
                    }))
                    .toList();
            for (Future<Integer> answer : answers) {
                assertThat(answer.get()).isEqualTo(202);
            }
        }
    }

    private static int[] cancelMany(int port, SplittableRandom random, AtomicInteger next) throws IOException {
        int[] counts = new int[4];
        for (int number = next.getAndIncrement(); number < CANCELS; number = next.getAndIncrement()) {
            counts[cancel(port, number, random)]++;
        }
        return counts;
    }

    /** Begins one request and goes: within it, before its answer, within its answer; 3 where it was refused. */
    private static int cancel(int port, int number, SplittableRandom random) throws IOException {
        var connection = new LoadConnection(port, number);
        boolean streams = random.nextBoolean();
        String request = LoadConnection.post(LoadConnection.completion(200, streams));
        int moment = random.nextInt(10);
        try {
            if (moment < 2) {
                connection.send(request.substring(0, random.nextInt(request.length())));
                return 0;
            }
            connection.send(request);
            if (moment < 6 || !streams) {
                LockSupport.parkNanos(random.nextLong(5_000_000));
                return 1;
            }
            if (connection.head() != 200) {
                return 3;
            }
            int events = random.nextInt(8);
            for (int event = 0; event < events; event++) {
                connection.chunk();
            }
            return 2;
        } finally {
            if (random.nextInt(4) == 0) {
                connection.close();
            } else {
                connection.reset();
            }
        }
    }
}
