package roselle.server.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EnginePlan;
import roselle.hub.BundledModel;
import roselle.server.Server;
import roselle.server.config.ListenOptions;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.ServerConfig;

/** Many models that share the memory for a few, for long. */
@Tag("long")
final class ManyModelsTest {
    private static final long MEBIBYTE = 1 << 20;
    private static final int SWITCHES = 1000;
    private static final int MODELS = 50;
    private static final int RESIDENT = 3;
    private static final int REQUESTS = 1500;

    @TempDir
    private Path folder;

    private final HttpClient client = HttpClient.newHttpClient();

    private Server server(int models, int resident) throws IOException {
        Path file = Files.copy(BundledModel.DEMO.unpackInto(Path.of("target", "models")), folder.resolve("demo.gguf"));
        EngineConfig config = EngineConfig.of(file).with(new BatchOptions(256, 4, 64, 0, 16));
        EnginePlan plan = Engine.plan(config);
        long bytes =
                plan.totalBytes() - plan.kvBytes() + plan.leastCacheBytes(); // to which the others go down for one more
        List<PooledModel> pooled = IntStream.range(0, models)
                .mapToObj(index -> PooledModel.of("m" + index, config))
                .toList();
        return Server.start(
                ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)),
                new PoolOptions(pooled, resident * bytes + bytes / 2, Duration.ofMinutes(5)));
    }

    private int ask(Server server, int model) {
        var request = HttpRequest.newBuilder(URI.create(server.uri() + "/v1/completions"))
                .POST(BodyPublishers.ofString(
                        "{\"model\":\"m" + model + "\",\"prompt\":\"Once\",\"max_tokens\":2,\"ignore_eos\":true}"))
                .build();
        try {
            return client.send(request, BodyHandlers.ofString()).statusCode();
        } catch (IOException lost) {
            throw new UncheckedIOException(lost);
        } catch (InterruptedException interruption) {
            throw new IllegalStateException(interruption);
        }
    }

    private double metric(Server server, String name) throws IOException, InterruptedException {
        var request =
                HttpRequest.newBuilder(URI.create(server.uri() + "/metrics")).build();
        return client.send(request, BodyHandlers.ofString())
                .body()
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
                .findFirst()
                .orElseThrow();
    }

    /** What a process may leak. */
    private record Held(long heap, long direct, long mapped, long mappings, long threads, long descriptors) {
        static Held now() throws IOException, InterruptedException {
            for (int turn = 0; turn < 3; turn++) { // cleaners run behind a collection
                System.gc();
                Thread.sleep(200);
            }
            try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"));
                    Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
                return new Held(
                        ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
                        buffers("direct"),
                        buffers("mapped"),
                        maps.filter(line -> line.endsWith("demo.gguf")).count(),
                        ManagementFactory.getThreadMXBean().getThreadCount(),
                        files.count());
            }
        }

        private static long buffers(String pool) {
            return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                    .filter(bean -> bean.getName().equals(pool))
                    .mapToLong(BufferPoolMXBean::getMemoryUsed)
                    .sum();
        }
    }

    @Test
    void holdsAsMuchAfterAThousandSwitchesAsBefore() throws Exception {
        try (var server = server(2, 1)) {
            for (int turn = 0; turn < 100; turn++) {
                assertThat(ask(server, turn % 2)).isEqualTo(200);
            }
            Held before = Held.now();
            long begin = System.nanoTime();
            for (int turn = 0; turn < SWITCHES; turn++) {
                assertThat(ask(server, turn % 2)).isEqualTo(200);
            }
            long nanos = System.nanoTime() - begin;
            Held after = Held.now();

            System.out.printf("%d switches, %.1f ms each: %s, %s%n", SWITCHES, nanos / 1e6 / SWITCHES, before, after);
            assertThat(metric(server, "roselle_models_loads_total")).isEqualTo(SWITCHES + 100.0);
            assertThat(after.heap() - before.heap()).isLessThan(MEBIBYTE);
            assertThat(after.direct() - before.direct()).isLessThan(MEBIBYTE);
            assertThat(after.mapped()).isEqualTo(before.mapped());
            assertThat(after.mappings()).isEqualTo(before.mappings());
            assertThat(after.threads()).isLessThanOrEqualTo(before.threads());
            assertThat(after.descriptors()).isLessThanOrEqualTo(before.descriptors());
        }
    }

    /** The same in a process of its own whose heap is there from the beginning, so that what it takes more is native. */
    @Test
    void takesNoNativeMemoryMoreBySwitching() throws Exception {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules",
                "jdk.incubator.vector",
                "-Xms256m",
                "-Xmx256m",
                "-XX:+AlwaysPreTouch",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                SwitchProbe.class.getName(),
                Integer.toString(SWITCHES)));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        System.out.print(said.lines().filter(line -> line.contains("switches")).toList());
    }

    /**
     * Requests by Zipf's law, of four clients. Each model that is asked for must be loaded; then the best that does not know the
     * future, one request at a time, keeps the two most popular ones, and has the third place for what was asked for last among the
     * others. Requests that wait for the same model share a load, so several clients may see more.
     */
    @Test
    void answersEveryRequestOfManyModels() throws Exception {
        double[] shares = IntStream.range(0, MODELS)
                .mapToDouble(index -> 1.0 / (index + 1))
                .toArray();
        double sum = IntStream.range(0, MODELS).mapToDouble(i -> shares[i]).sum();
        double others = IntStream.range(RESIDENT - 1, MODELS)
                .mapToDouble(i -> shares[i] / sum)
                .sum();
        double again = IntStream.range(RESIDENT - 1, MODELS)
                .mapToDouble(i -> shares[i] / sum * shares[i] / sum)
                .sum();
        double best = 1 - others + again / others;
        try (var server = server(MODELS, RESIDENT);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Callable<Integer>> users = IntStream.range(0, 4)
                    .<Callable<Integer>>mapToObj(user -> () -> use(server, new Random(user), shares, sum))
                    .toList();
            int answered = 0;
            List<Future<Integer>> running = new ArrayList<>();
            users.forEach(user -> running.add(threads.submit(user)));
            for (Future<Integer> user : running) {
                answered += user.get();
            }

            double hits = 1 - metric(server, "roselle_models_loads_total") / REQUESTS;
            System.out.printf("%d of %d answered, %.3f hits, at best %.3f%n", answered, REQUESTS, hits, best);
            assertThat(answered).isEqualTo(REQUESTS);
            assertThat(metric(server, "roselle_models_load_failures_total")).isZero();
            assertThat(hits).isGreaterThan(0.95 * best);
        }
    }

    private int use(Server server, Random random, double[] shares, double sum) {
        int answered = 0;
        for (int turn = 0; turn < REQUESTS / 4; turn++) {
            double point = random.nextDouble() * sum;
            int model = 0;
            while (model < MODELS - 1 && (point -= shares[model]) > 0) {
                model++;
            }
            answered += ask(server, model) == 200 ? 1 : 0;
        }
        return answered;
    }

    /**
     * The same of models of many kinds, SmolLM2 among them; {@code -Droselle.poolSeconds=600} has it go on that long. The best choice
     * of two models that stay, with one place for the others, is made knowing what was asked for.
     */
    @Test
    void answersEveryRequestOfManyShapes() throws Exception {
        long seconds = Long.getLong("roselle.poolSeconds", 0);
        var begun = new AtomicInteger();
        long begin = System.nanoTime();
        try (var load = new PoolLoad(folder, List.of(smolLm2()))) {
            PoolLoad.Outcome outcome = load.run(() -> seconds > 0
                    ? System.nanoTime() - begin < seconds * 1_000_000_000L
                    : begun.getAndIncrement() < REQUESTS);

            load.tellModels();
            System.out.println(outcome);
            assertThat(outcome.answered()).isEqualTo(outcome.requests());
            assertThat(outcome.hits()).isGreaterThan(0.95 * outcome.bestStatic());
        }
    }

    private static Path smolLm2() throws IOException, InterruptedException {
        Process process = new ProcessBuilder("../tools/smollm2.sh")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return Path.of(said.strip());
    }
}
