package roselle.server.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** As many clients that keep a connection and say nothing as a gateway's pools may bring. */
@Tag("long")
final class IdleConnectionsTest {
    private static final int CONNECTIONS = 10_000;
    private static final int REQUESTS = 200;

    @Test
    void answersBesideTenThousandIdleConnections() throws Exception {
        assumeTrue(
                NullServer.mostDescriptors() > CONNECTIONS + 500,
                "this process may not have as many connections open: raise ulimit -n");
        try (var serving = new NullServer(8, 64, 0)) {
            measured(serving);
            long[] alone = measured(serving);
            long descriptors = NullServer.descriptors();
            int threads = NullServer.platformThreads();
            long heap = usedHeap();

            Process clients = clients(serving.port());
            try {
                String said = new BufferedReader(
                                new InputStreamReader(clients.getInputStream(), StandardCharsets.UTF_8))
                        .readLine();
                assertThat(said).isEqualTo("open " + CONNECTIONS);
                NullServer.await(() -> NullServer.descriptors() >= CONNECTIONS); // all are accepted
                long[] beside = measured(serving);

                System.out.printf(
                        "%d idle connections: %.1f KiB of heap each, %d more threads;"
                                + " a request of one token p50 %.2f ms, p99 %.2f ms (alone %.2f and %.2f ms)%n",
                        CONNECTIONS,
                        (usedHeap() - heap) / 1024.0 / CONNECTIONS,
                        NullServer.platformThreads() - threads,
                        NullServer.millis(beside, 0.5),
                        NullServer.millis(beside, 0.99),
                        NullServer.millis(alone, 0.5),
                        NullServer.millis(alone, 0.99));
                assertThat(NullServer.millis(beside, 0.5)).isLessThan(1_000);
                assertThat(NullServer.platformThreads() - threads).isLessThan(NullServer.carriers());
            } finally {
                clients.getOutputStream().close();
                assertThat(clients.waitFor()).isZero();
            }
            NullServer.await(() -> NullServer.descriptors() <= descriptors + 4);
            serving.requireConserved();
        }
    }

    private static Process clients(int port) throws IOException {
        return new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx512m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        IdleClients.class.getName(),
                        Integer.toString(port),
                        Integer.toString(CONNECTIONS)))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /** How long requests take, one after the other, sorted. */
    private static long[] measured(NullServer serving) throws IOException {
        long[] nanos = new long[REQUESTS];
        try (var connection = new LoadConnection(serving.port(), 0)) {
            for (int request = 0; request < REQUESTS; request++) {
                long begin = System.nanoTime();
                connection.send(LoadConnection.post(LoadConnection.completion(1, false)));
                assertThat(connection.head()).isEqualTo(200);
                assertThat(connection.chunk()).contains("\"completion_tokens\":1");
                nanos[request] = System.nanoTime() - begin;
            }
        }
        Arrays.sort(nanos);
        return nanos;
    }

    private static long usedHeap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
