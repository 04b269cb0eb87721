package roselle.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.Serial;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.GenerationRequest;
import roselle.engine.Engine;
import roselle.engine.EngineTotals;
import roselle.offline.Answer;
import roselle.offline.RowGenerator;

/**
 * Measures one worker against its own engine without Spark: the same JVM, the same engine, prompts of one kind, in turns. Prints
 * generated tokens a second, the processors' time that one takes, which other programs change less, and the time that no step took;
 * nothing here fails by a clock.
 *
 * <p>{@code -Droselle.rates.model=FILE}, {@code .rows=N}, {@code .tokens=N}, {@code .repeats=N} say what is measured, as
 * docs/performance.md has it.
 */
@Tag("manual")
class OfflineRatesTest {
    private static final String MODEL = System.getProperty("roselle.rates.model", "demo");
    private static final int ROWS = Integer.getInteger("roselle.rates.rows", 8_000);
    private static final int TOKENS = Integer.getInteger("roselle.rates.tokens", 32);
    private static final int REPEATS = Integer.getInteger("roselle.rates.repeats", 5);
    private static final int CORES = Runtime.getRuntime().availableProcessors();

    private static final StructType RATE =
            new StructType().add("nanos", DataTypes.LongType).add("tokens", DataTypes.LongType);

    private static final StructType STEPS =
            new StructType().add("count", DataTypes.LongType).add("nanos", DataTypes.LongType);

    private static Map<String, String> options() {
        return new HashMap<>(Map.of("model", MODEL, "context", "1024", "maxTokens", "" + TOKENS));
    }

    private static SparkSession session(StandaloneCluster cluster, String memory) {
        return SparkSession.builder()
                .master(cluster.master())
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.ui.enabled", "false")
                .config("spark.executor.cores", CORES)
                .config("spark.executor.memory", memory)
                .config("spark.executor.extraClassPath", StandaloneCluster.classFolders())
                .getOrCreate();
    }

    /** Prompts that no other run has. */
    private static Dataset<Row> prompts(SparkSession spark, long first, int rows, int partitions) {
        return spark.range(first, first + rows, 1, partitions)
                .select(
                        functions.col("id"),
                        functions
                                .concat(functions.lit("Tell me of "), functions.col("id"))
                                .as("prompt"));
    }

    @Test
    void comparesAWorkerWithItsEngine(@TempDir Path folder) throws Exception {
        try (var cluster = new StandaloneCluster(folder, 1, CORES);
                var spark = session(cluster, "1g")) {
            List<Rate> own = new ArrayList<>();
            List<Rate> ofSpark = new ArrayList<>();
            long first = 0;
            for (int repeat = -1; repeat < REPEATS; repeat++) {
                boolean isOwnFirst = repeat % 2 == 0;
                for (boolean isOwn : new boolean[] {isOwnFirst, !isOwnFirst}) {
                    long begin = first;
                    Steps before = steps(spark);
                    Rate rate = measured(cluster, () -> isOwn ? own(spark, begin) : ofSpark(spark, begin));
                    Steps steps = steps(spark).since(before);
                    System.out.printf(
                            Locale.ROOT,
                            "model=%s rows=%d repeat=%d %s: %.1f tokens/s, %.1f us of processors a token,"
                                    + " %d steps, %.2f s outside of them%n",
                            MODEL.substring(MODEL.lastIndexOf('/') + 1),
                            ROWS,
                            repeat,
                            isOwn ? "engine" : "spark",
                            rate.tokensPerSecond(),
                            rate.microsPerToken(),
                            steps.count(),
                            rate.seconds() - steps.seconds());
                    first += ROWS;
                    if (repeat >= 0) {
                        (isOwn ? own : ofSpark).add(rate);
                    }
                }
            }
            System.out.printf(
                    Locale.ROOT,
                    "of the engine's own, medians: throughput %.3f, by processors' time a token %.3f%n",
                    median(ofSpark, Rate::tokensPerSecond) / median(own, Rate::tokensPerSecond),
                    median(own, Rate::microsPerToken) / median(ofSpark, Rate::microsPerToken));
        }
    }

    /** 100,000 rows in four partitions, by an executor of nearly the smallest heap that Spark allows. Prints all that it took. */
    @Test
    void holdsManyRowsInLittleMemory(@TempDir Path folder) throws Exception {
        int rows = Integer.getInteger("roselle.rates.many", 100_000);
        try (var cluster = new StandaloneCluster(folder, 1, CORES);
                var spark = session(cluster, "512m")) {
            Map<String, String> options = options();
            options.put("maxTokens", "4");
            options.put("aheadMiB", "4");
            long begin = System.nanoTime();
            Row sums = Roselle.generate(prompts(spark, 0, rows, 4), options)
                    .select(functions.count("text"), functions.sum("usage.completionTokens"))
                    .first();
            System.out.printf(
                    Locale.ROOT,
                    "rows=%d tokens=%d seconds=%.0f heap=512 MiB, most memory of the executor=%d MiB%n",
                    sums.getLong(0),
                    sums.getLong(1),
                    (System.nanoTime() - begin) / 1e9,
                    cluster.mostMemory() >> 20);
            assertThat(sums.getLong(0)).isEqualTo(rows);
        }
    }

    /** What a run has come to; the time of processors is that of the whole executor. */
    private record Rate(double seconds, double tokensPerSecond, double microsPerToken) {}

    private record Run(long tokens, double seconds) {}

    /** What the executor's engine has done since it was opened. */
    private record Steps(long count, double seconds) {
        Steps since(Steps before) {
            return new Steps(count - before.count, seconds - before.seconds);
        }
    }

    private static Steps steps(SparkSession spark) {
        Row sums = prompts(spark, 0, 1, 1)
                .mapPartitions(new Totals(), Encoders.row(STEPS))
                .collectAsList()
                .getFirst();
        return new Steps(sums.getLong(0), sums.getLong(1) / 1e9);
    }

    private static final class Totals implements MapPartitionsFunction<Row, Row> {
        @Serial
        private static final long serialVersionUID = 1L;

        @Override
        public Iterator<Row> call(Iterator<Row> rows) {
            List<EngineTotals> all = ExecutorEngines.OF_THIS_JVM.each(
                    (_, engine) -> engine.status().totals());
            return List.of(RowFactory.create(
                            all.stream().mapToLong(EngineTotals::steps).sum(),
                            all.stream().mapToLong(EngineTotals::stepNanos).sum()))
                    .iterator();
        }
    }

    private static Rate measured(StandaloneCluster cluster, Supplier<Run> work) {
        Duration before = cluster.processorTime();
        Run run = work.get();
        double micros = cluster.processorTime().minus(before).toNanos() / 1e3;
        return new Rate(run.seconds(), run.tokens() / run.seconds(), micros / run.tokens());
    }

    private static double median(List<Rate> rates, ToDoubleFunction<Rate> of) {
        return rates.stream()
                .mapToDouble(of)
                .sorted()
                .skip(rates.size() / 2)
                .findFirst()
                .orElseThrow();
    }

    /** A query, from the driver's call to the last answer in the driver. */
    private static Run ofSpark(SparkSession spark, long first) {
        long begin = System.nanoTime();
        List<Row> answers = Roselle.generate(prompts(spark, first, ROWS, 2 * CORES), options())
                .select("text", "usage.completionTokens")
                .collectAsList();
        double seconds = (System.nanoTime() - begin) / 1e9;
        assertThat(answers).hasSize(ROWS);
        return new Run(answers.stream().mapToLong(row -> row.getInt(1)).sum(), seconds);
    }

    /** The executor's engine, given the requests of all rows by one thread, without Spark's time. */
    private static Run own(SparkSession spark, long first) {
        Row rate = prompts(spark, first, ROWS, 1)
                .mapPartitions(new Alone(options()), Encoders.row(RATE))
                .collectAsList()
                .getFirst();
        return new Run(rate.getLong(1), rate.getLong(0) / 1e9);
    }

    /** Hands an engine all requests, as many as it lets wait, and reads each on a virtual thread. */
    private static final class Alone implements MapPartitionsFunction<Row, Row> {
        @Serial
        private static final long serialVersionUID = 1L;

        private static final int WAITING = 1_000;

        private final HashMap<String, String> options;

        Alone(Map<String, String> options) {
            this.options = new HashMap<>(options);
        }

        @Override
        public Iterator<Row> call(Iterator<Row> rows) throws InterruptedException, ExecutionException {
            Settings settings = Settings.of(options, Setting.ofGeneration());
            try (var use = ExecutorEngines.OF_THIS_JVM.generator(ModelSpec.of(settings, TaskContext.get()));
                    ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
                List<GenerationRequest> requests = new ArrayList<>();
                while (rows.hasNext()) {
                    Row row = rows.next();
                    requests.add(
                            Requests.of(settings, row.schema(), use.engine()).of(row));
                }
                long begin = System.nanoTime();
                long tokens = tokens(use.engine(), readers, requests);
                return List.of(RowFactory.create(System.nanoTime() - begin, tokens))
                        .iterator();
            }
        }

        private static long tokens(Engine engine, ExecutorService readers, List<GenerationRequest> requests)
                throws InterruptedException, ExecutionException {
            var generator = new RowGenerator(engine);
            var places = new Semaphore(WAITING);
            List<Future<Integer>> answers = new ArrayList<>();
            for (GenerationRequest request : requests) {
                places.acquire();
                answers.add(readers.submit(() -> answered(generator, request, places)));
            }
            long tokens = 0;
            for (Future<Integer> answer : answers) {
                tokens += answer.get();
            }
            return tokens;
        }

        private static int answered(RowGenerator generator, GenerationRequest request, Semaphore places) {
            try {
                if (generator.answer(request) instanceof Answer.Generated answer) {
                    return answer.usage().completionTokens();
                }
                throw new IllegalStateException("a row failed");
            } finally {
                places.release();
            }
        }
    }
}
