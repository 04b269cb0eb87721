package roselle.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.jdk.javaapi.CollectionConverters;

/** A real cluster of two workers gives the same bytes as this process alone, and when an executor is killed. */
@Tag("manual")
class StandaloneClusterTest {
    private static final int ROWS = 600;
    private static final int LENGTH = 6;

    /**
     * Rows that may be computed twice where an executor is killed: two of a hundred. By {@code checkpointRows} and {@code rowsAtATime} it is
     * eight; what is measured is what the driver had heard of, a heartbeat before the end.
     */
    private static final int MOST_LOST = ROWS / 50;

    private static SparkSession session(String master) {
        return SparkSession.builder()
                .master(master)
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.ui.enabled", "false")
                .config("spark.sql.codegen.wholeStage", "false")
                .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
                .config("spark.executor.cores", 1)
                .config("spark.executor.memory", "512m")
                .config("spark.executor.heartbeatInterval", "100ms")
                .config("spark.executor.extraClassPath", StandaloneCluster.classFolders())
                .config("spark.executor.extraJavaOptions", "-XX:+UseSerialGC")
                .getOrCreate();
    }

    /** The answers of all rows, in two partitions, as they come. */
    private static List<String> answers(SparkSession spark, Path checkpoint) {
        var prompts = spark.range(0, ROWS, 1, 2)
                .select(
                        functions.col("id"),
                        functions
                                .concat(functions.lit("Tell me of "), functions.col("id"))
                                .as("prompt"));
        return Roselle.generate(
                        prompts,
                        Map.of(
                                "model", "demo",
                                "context", "256",
                                "maxTokens", "" + LENGTH,
                                "temperature", "1",
                                "maxSequences", "4",
                                "rowsAtATime", "4",
                                "checkpoint", checkpoint.toUri().toString(),
                                "checkpointRows", "4"))
                .select("id", "text", "tokens", "usage", "error")
                .collectAsList()
                .stream()
                .map(Row::toString)
                .toList();
    }

    @Test
    void givesTheSameBytesWhateverHappens(@TempDir Path folder) throws Exception {
        List<String> ofOne;
        try (var spark = session("local[1]")) {
            ofOne = answers(spark, folder.resolve("one"));
        }
        assertThat(ofOne).hasSize(ROWS).allMatch(row -> row.endsWith(",null]"));
        try (var cluster = new StandaloneCluster(folder, 2, 1);
                var spark = session(cluster.master())) {
            assertThat(afterAKill(spark, cluster, folder.resolve("killed"))).isEqualTo(ofOne);
        }
    }

    /** Kills an executor in the middle of its task, and looks at what the next attempt takes from the checkpoint. */
    private static List<String> afterAKill(SparkSession spark, StandaloneCluster cluster, Path checkpoint)
            throws Exception {
        var counts = new Counts();
        spark.sparkContext().addSparkListener(counts);
        var all = CompletableFuture.supplyAsync(() -> answers(spark, checkpoint));
        CompletableFuture.anyOf(counts.inTheMiddle, all).join();
        ProcessHandle killed = cluster.executor(counts.inTheMiddle.getNow("none"));
        assertThat(killed.destroyForcibly()).isTrue();
        killed.onExit().join();
        List<String> answers = all.get();
        spark.sparkContext().listenerBus().waitUntilEmpty();
        assertThat(counts.rows()).isEqualTo(ROWS);
        assertThat(counts.kept.get()).isPositive();
        assertThat(counts.begun.get() - counts.kept.get()).isLessThanOrEqualTo(MOST_LOST);
        return answers;
    }

    /** Rows of attempts that ended well, those of them that were kept, and rows that the attempt which was killed had taken. */
    private static final class Counts extends SparkListener {
        private final AtomicLong rows = new AtomicLong();
        private final AtomicLong kept = new AtomicLong();
        private final AtomicLong begun = new AtomicLong();
        private final Map<Long, Long> running = new ConcurrentHashMap<>();
        private final CompletableFuture<String> inTheMiddle = new CompletableFuture<>(); // an executor's id

        long rows() {
            return rows.get();
        }

        @Override
        public void onExecutorMetricsUpdate(SparkListenerExecutorMetricsUpdate update) {
            CollectionConverters.asJava(update.accumUpdates()).forEach(task -> {
                long rows = value(CollectionConverters.asJava(task._4()), "roselle: rows");
                running.put((Long) task._1(), rows);
                if (rows >= ROWS / 6) {
                    inTheMiddle.complete(update.execId());
                }
            });
        }

        @Override
        public void onTaskEnd(SparkListenerTaskEnd end) {
            if (end.taskInfo().successful()) {
                var values = CollectionConverters.asJava(end.taskInfo().accumulables());
                rows.addAndGet(value(values, "roselle: rows"));
                kept.addAndGet(value(values, "roselle: rows from the checkpoint"));
            } else {
                begun.addAndGet(running.getOrDefault(end.taskInfo().taskId(), 0L));
            }
        }

        private static long value(Iterable<AccumulableInfo> values, String name) {
            for (AccumulableInfo value : values) {
                if (value.name().contains(name) && value.update().isDefined()) {
                    return (Long) value.update().get();
                }
            }
            return 0;
        }
    }
}
