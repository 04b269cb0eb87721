package roselle.server.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** As many streams at a time as a busy service has on one machine. */
@Tag("long")
final class ConcurrentStreamsTest {
    private static final int STREAMS = 1_000;
    private static final int TOKENS = 64;

    @Test
    void carriesAThousandStreamsAtATime() throws Exception {
        try (var serving = new NullServer(STREAMS, 64, 250_000_000L);
                var clients = Executors.newVirtualThreadPerTaskExecutor()) {
            serving.isHeld = true; // else the first may have ended before the last has come
            var allAsked = new CountDownLatch(STREAMS);
            var allBegan = new CountDownLatch(STREAMS);
            long begin = System.nanoTime();
            var streams = IntStream.range(0, STREAMS)
                    .mapToObj(client -> clients.submit(() -> stream(serving.port(), client, allAsked, allBegan, begin)))
                    .toList();

            assertThat(allAsked.await(180, TimeUnit.SECONDS)).isTrue();
            serving.isHeld = false;
            NullServer.await(() -> serving.status().running() == STREAMS); // slow steps, until all are there
            double together = (System.nanoTime() - begin) / 1e9;
            serving.stepNanos = 0;
            assertThat(allBegan.await(180, TimeUnit.SECONDS)).isTrue();
            long[] firsts = new long[STREAMS];
            for (int client = 0; client < STREAMS; client++) {
                firsts[client] = firstToken(streams.get(client));
            }
            double seconds = (System.nanoTime() - begin) / 1e9;
            Arrays.sort(firsts);

            System.out.printf(
                    "%d streams of %d tokens: together after %.2f s, the rest %.2f s, first token p50 %.0f ms, p99 %.0f ms%n",
                    STREAMS,
                    TOKENS,
                    together,
                    seconds - together,
                    NullServer.millis(firsts, 0.5),
                    NullServer.millis(firsts, 0.99));
            assertThat(serving.status().totals().generatedTokens()).isEqualTo((long) STREAMS * TOKENS);
            serving.requireConserved();
        }
    }

    private static long firstToken(Future<Long> stream) throws Exception {
        return stream.get(300, TimeUnit.SECONDS);
    }

    /** One client's stream, open until all others have begun; returns when its first token came. */
    private static long stream(int port, int client, CountDownLatch allAsked, CountDownLatch allBegan, long begin)
            throws Exception {
        try (var connection = new LoadConnection(port, client)) {
            connection.send(LoadConnection.post(LoadConnection.completion(TOKENS, true)));
            allAsked.countDown();
            assertThat(connection.head()).isEqualTo(200);
            String first = connection.chunk();
            long nanos = System.nanoTime() - begin;
            assertThat(first).startsWith("data: {");
            allBegan.countDown();
            allBegan.await();
            int events = 1 + connection.events();
            assertThat(events).isEqualTo(TOKENS + 2); // one a token, the reason, [DONE]
            return nanos;
        }
    }
}
