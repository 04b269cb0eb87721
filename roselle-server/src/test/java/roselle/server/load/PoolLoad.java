package roselle.server.load;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.hub.BundledModel;
import roselle.server.Server;
import roselle.server.config.ListenOptions;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.ServerConfig;
import roselle.server.pool.ModelPool;
import roselle.tensor.DataType;
import roselle.testing.RandomLlama;

/**
 * Fifty models of many kinds in a server with memory for three, asked for by Zipf's law. The models are the demo, further files that
 * are given, some small ones of the tests, and Llamas of random shapes, in a random order of how often they are asked for. Each has
 * memory of its own size, and all of them what the three largest take.
 */
final class PoolLoad implements AutoCloseable {
    static final int MODELS = 50;
    static final int RESIDENT = 3;
    private static final int CLIENTS = 4;
    private static final int TINY_MODELS = 12;
    private static final long KV_BYTES = 4 << 20;
    private static final Path TINY = Path.of("../roselle-engine/src/test/resources/tiny-models");
    private static final long SEED = 50;

    private final List<PooledModel> models;
    private final List<Long> bytes;
    private final long budget;
    private final double[] odds =
            IntStream.rangeClosed(1, MODELS).mapToDouble(rank -> 1.0 / rank).toArray();
    private final Server server;
    private final HttpClient client = HttpClient.newHttpClient();
    private final LoadLog log = new LoadLog();
    private final List<Integer> asked = new ArrayList<>();

    /** A server of such models, whose files are made in a folder. */
    PoolLoad(Path folder, List<Path> more) throws IOException {
        models = models(folder, more);
        bytes = models.stream()
                .map(model -> Engine.plan(model.engine()).totalBytes())
                .toList();
        budget = bytes.stream()
                .sorted(Comparator.reverseOrder())
                .limit(RESIDENT)
                .mapToLong(Long::longValue)
                .sum();
        server = Server.start(
                ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)),
                new PoolOptions(models, budget, Duration.ofMinutes(5)));
        log.begin();
    }

    private static List<PooledModel> models(Path folder, List<Path> more) throws IOException {
        var files = new ArrayList<>(more);
        files.add(BundledModel.DEMO.unpackInto(Path.of("target", "models")));
        try (Stream<Path> tiny = Files.list(TINY)) {
            tiny.filter(Files::isDirectory).sorted().limit(TINY_MODELS).forEach(files::add);
        }
        var random = new Random(SEED);
        var types = List.of(DataType.Q8_0, DataType.Q4_0, DataType.Q4_K, DataType.F16);
        while (files.size() < MODELS) {
            DataType type = types.get(random.nextInt(types.size()));
            Path file = folder.resolve("random" + files.size() + ".gguf");
            files.add(RandomLlama.writeShape(type, 1 + random.nextInt(6), 1 + random.nextInt(4), file));
        }
        java.util.Collections.shuffle(files, random);
        return IntStream.range(0, MODELS)
                .mapToObj(index -> model("m" + index, files.get(index)))
                .toList();
    }

    private static PooledModel model(String name, Path file) {
        EngineConfig config = EngineConfig.of(file)
                .with(new BatchOptions(64, 4, 64, 0, 16))
                .with(new CacheOptions("auto", KV_BYTES, 16, true));
        return new PooledModel(
                name, List.of(), config, false, PooledModel.WHILE_THERE_IS_ROOM, new PooledModel.Memory(KV_BYTES, 1));
    }

    /** Which models were loaded, and how long that took, as the server's log says. */
    private static final class LoadLog extends Handler {
        private final Logger logger = Logger.getLogger(ModelPool.class.getName());
        private final Map<String, Long> millis = new TreeMap<>();
        private final Map<String, Integer> loads = new TreeMap<>();
        private final Map<String, Integer> before = new TreeMap<>();

        void begin() {
            logger.setLevel(Level.INFO);
            logger.setUseParentHandlers(false);
            logger.addHandler(this);
        }

        @Override
        public synchronized void publish(LogRecord line) {
            if (line.getMessage().startsWith("event=model_loaded")) {
                String model = String.valueOf(line.getParameters()[0]);
                loads.merge(model, 1, Integer::sum);
                millis.merge(
                        model,
                        Long.parseLong(String.valueOf(line.getParameters()[1]).replaceAll("\\D", "")),
                        Long::sum);
            }
        }

        /** Counts anew; what the loads until now took is not forgotten. */
        synchronized void countAnew() {
            before.putAll(loads);
        }

        /** Milliseconds that a load of a model takes, on average. */
        synchronized double costOf(String model) {
            return millis.getOrDefault(model, 0L) / (double) loads.getOrDefault(model, 1);
        }

        synchronized int loads() {
            return loads.keySet().stream().mapToInt(this::loadsOf).sum();
        }

        synchronized int loadsOf(String model) {
            return loads.getOrDefault(model, 0) - before.getOrDefault(model, 0);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            logger.removeHandler(this);
            logger.setUseParentHandlers(true);
        }
    }

    /**
     * What became of the requests.
     *
     * @param hits of all requests, the part that found its model loaded, or shared its loading
     * @param saved of all time that loading for every request would have taken, the part that was not taken
     * @param bestStatic the part that the best choice of models that stay finds loaded
     * @param bestSaved what that choice saves which saves the most
     */
    record Outcome(
            int requests, int answered, int loads, double hits, double bestStatic, double saved, double bestSaved) {}

    /** Four clients ask, each for one answer at a time, as long as they shall. */
    Outcome run(BooleanSupplier goesOn) throws Exception {
        for (int model = 0; model < MODELS; model++) {
            if (ask(model) != 200) {
                throw new IllegalStateException(models.get(model) + " does not answer");
            }
        }
        log.countAnew();
        var answered = new AtomicInteger();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var clients = new ArrayList<Future<?>>();
            for (int number = 0; number < CLIENTS; number++) {
                var random = new Random(SEED + number);
                clients.add(threads.submit(() -> {
                    while (goesOn.getAsBoolean()) {
                        answered.addAndGet(ask(draw(random)) == 200 ? 1 : 0);
                    }
                }));
            }
            for (Future<?> each : clients) {
                each.get();
            }
        }
        return outcome(answered.get());
    }

    private Outcome outcome(int answered) {
        var trace = new PoolTrace(asked.subList(MODELS, asked.size()), bytes, budget);
        double requests = trace.models().size();
        double whole = trace.models().stream().mapToDouble(this::cost).sum();
        double taken = IntStream.range(0, MODELS)
                .mapToDouble(model -> log.loadsOf("m" + model) * cost(model))
                .sum();
        return new Outcome(
                trace.models().size(),
                answered,
                log.loads(),
                1 - log.loads() / requests,
                trace.bestStatic(_ -> 1) / requests,
                1 - taken / whole,
                trace.bestStatic(this::cost) / whole);
    }

    private double cost(int model) {
        return log.costOf("m" + model);
    }

    private int draw(Random random) {
        double point = random.nextDouble()
                * IntStream.range(0, MODELS).mapToDouble(i -> odds[i]).sum();
        int model = 0;
        while (model < MODELS - 1 && (point -= odds[model]) > 0) {
            model++;
        }
        return model;
    }

    private int ask(int model) {
        synchronized (asked) {
            asked.add(model);
        }
        var request = HttpRequest.newBuilder(URI.create(server.uri() + "/v1/completions"))
                .POST(BodyPublishers.ofString(
                        "{\"model\":\"m" + model + "\",\"prompt\":[5,6,7,8],\"max_tokens\":4,\"ignore_eos\":true}"))
                .build();
        try {
            HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
            if (answer.statusCode() != 200) {
                System.out.println(answer.body());
            }
            return answer.statusCode();
        } catch (IOException lost) {
            throw new UncheckedIOException(lost);
        } catch (InterruptedException interruption) {
            throw new IllegalStateException(interruption);
        }
    }

    /** Which models were how popular and took how long to load, a line each. */
    void tellModels() {
        for (int index = 0; index < MODELS; index++) {
            System.out.printf(
                    Locale.ROOT,
                    "%s %s %.1f MiB, %.0f ms a load, %d loads%n",
                    models.get(index).name(),
                    models.get(index).engine().model().getFileName(),
                    bytes.get(index) / (double) (1 << 20),
                    cost(index),
                    log.loadsOf("m" + index));
        }
    }

    @Override
    public void close() {
        log.close();
        client.close();
        server.close();
    }
}
