package roselle.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.InvalidRequestException;
import scala.jdk.javaapi.CollectionConverters;

@Tag("long")
class LocalSparkTest {
    private static final String ENCODER = "../roselle-engine/src/test/resources/tiny-encoders/bert";

    @SuppressWarnings("NullAway.Init")
    private static SparkSession spark;

    @BeforeAll
    static void open() {
        spark = SparkSession.builder()
                .master("local[2]")
                .config("spark.ui.enabled", "false")
                .config("spark.sql.shuffle.partitions", "2")
                .config("spark.sql.codegen.wholeStage", "false")
                .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
                .config("spark.sql.extensions", RoselleExtensions.class.getName())
                .config("spark.plugins", RosellePlugin.class.getName())
                .getOrCreate();
    }

    @AfterAll
    static void close() {
        spark.stop();
    }

    private static Map<String, String> options(String... more) {
        Map<String, String> options =
                new LinkedHashMap<>(Map.of("model", "demo", "maxTokens", "8", "context", "256", "maxSequences", "8"));
        for (int i = 0; i < more.length; i += 2) {
            options.put(more[i], more[i + 1]);
        }
        return options;
    }

    private static Dataset<Row> prompts(int partitions) {
        return table(
                partitions,
                "prompt",
                IntStream.range(0, 20).mapToObj(i -> "Tell me of " + i).toArray(String[]::new));
    }

    private static Dataset<Row> table(int partitions, String column, @Nullable String... texts) {
        var rows = IntStream.range(0, texts.length)
                .mapToObj(i -> RowFactory.create(i, texts[i]))
                .toList();
        var schema = new StructType().add("id", DataTypes.IntegerType).add(column, DataTypes.StringType);
        return spark.createDataFrame(
                JavaSparkContext.fromSparkContext(spark.sparkContext()).parallelize(rows, partitions), schema);
    }

    private static List<String> texts(Dataset<Row> answers) {
        return answers.select("id", "text", "tokens").collectAsList().stream()
                .map(Row::toString)
                .toList();
    }

    @Test
    void answersAreTheSameInAnyPartitionsAndInOrder() {
        Dataset<Row> answers = Roselle.generate(prompts(4), options());
        List<String> four = texts(answers);
        assertThat(four).hasSize(20);
        assertThat(answers.select("id").collectAsList().stream().map(row -> row.getInt(0)))
                .isSorted();
        assertThat(texts(Roselle.generate(prompts(1), options()))).isEqualTo(four);
        assertThat(texts(Roselle.generate(prompts(2), options("seed", "1")))).isNotEqualTo(four);
        Row usage = answers.select("usage").first().getStruct(0);
        assertThat(usage.<Integer>getAs("promptTokens")).isPositive();
        assertThat(usage.<Integer>getAs("completionTokens")).isBetween(1, 8);
    }

    @Test
    void sqlHasTheSameAnswers() {
        prompts(2).createOrReplaceTempView("prompts");
        var answers =
                spark.sql("SELECT id, text, tokens FROM roselle_generate(TABLE(SELECT * FROM prompts WHERE id < 5), "
                        + "map('model', 'demo', 'maxTokens', '8', 'context', '256', 'maxSequences', '8')) ORDER BY id");
        assertThat(texts(answers)).isEqualTo(texts(Roselle.generate(prompts(2).where("id < 5"), options())));
        assertThatThrownBy(() -> spark.sql("SELECT * FROM roselle_generate(TABLE(prompts))"))
                .hasMessageContaining("roselle_generate(TABLE(rows), map(");
    }

    @Test
    void aStageOfAPipelineKeepsItsOptions(@TempDir Path folder) throws Exception {
        var stage = new RoselleGenerator().options(options()).option("outputPrefix", "demo_");
        String path = folder.resolve("pipeline").toString();
        new Pipeline()
                .setStages(new PipelineStage[] {stage})
                .fit(prompts(2))
                .write()
                .save(path);
        Dataset<Row> answers = PipelineModel.load(path).transform(prompts(2));
        assertThat(texts(answers.selectExpr("id", "demo_text AS text", "demo_tokens AS tokens")))
                .isEqualTo(texts(Roselle.generate(prompts(2), options())));
        assertThat(stage.transformSchema(prompts(1).schema())).isEqualTo(answers.schema());
    }

    @Test
    void errorsAreRowsOrFailTheJob() {
        var rows = table(1, "prompt", "Hello", "word ".repeat(2000), null, "Good bye");
        List<Row> answers = Roselle.generate(rows, options()).collectAsList();
        assertThat(answers)
                .extracting(row -> row.isNullAt(row.fieldIndex("error")))
                .containsExactly(true, false, false, true);
        assertThat(answers)
                .extracting(row -> row.isNullAt(row.fieldIndex("text")))
                .containsExactly(false, true, true, false);
        Row error = answers.get(1).getAs("error");
        assertThat(error.<String>getAs("kind")).isEqualTo("invalid_request");
        assertThat(error.<String>getAs("message")).contains("context");
        assertThat(answers.get(2).<Row>getAs("error").<String>getAs("message")).contains("no text in prompt");
        assertThatThrownBy(
                        () -> Roselle.generate(rows, options("onError", "fail")).collectAsList())
                .hasMessageContaining("row 1 of partition 0 failed")
                .hasMessageContaining("context");
        var late =
                Roselle.generate(rows, options("timeLimitSeconds", "0.000001")).collectAsList();
        assertThat(late.getFirst().<Row>getAs("error").<String>getAs("kind")).isEqualTo("deadline");
    }

    @Test
    void conversationsAndSeedsComeFromColumns() {
        var rows = spark.sql("SELECT 0 AS id, 5L AS own, array(named_struct('role', 'system', 'content', 'Be brief.'), "
                + "named_struct('role', 'user', 'content', 'Hello')) AS messages "
                + "UNION ALL SELECT 1, 5L, array(named_struct('role', 'user', 'content', 'Hello')) "
                + "UNION ALL SELECT 2, 6L, array(named_struct('role', 'user', 'content', 'Hello')) "
                + "UNION ALL SELECT 3, 5L, array(named_struct('role', 'user', 'content', 'Hello'))");
        var answers = Roselle.generate(
                rows.coalesce(1), options("messagesCol", "messages", "seedCol", "own", "temperature", "2"));
        List<String> texts = answers.sort("id").select("text").collectAsList().stream()
                .map(row -> row.getString(0))
                .toList();
        assertThat(texts.get(1))
                .isEqualTo(texts.get(3))
                .isNotEqualTo(texts.get(2))
                .isNotEqualTo(texts.get(0));
    }

    @Test
    void aSchemaBecomesColumns() {
        var answers = Roselle.generate(
                table(1, "prompt", "A cat", "A dog"),
                options(
                        "schema",
                        "name STRING NOT NULL, legs TINYINT NOT NULL, pet BOOLEAN NOT NULL",
                        "maxTokens",
                        "200"));
        List<Row> values = answers.where("error IS NULL").select("value").collectAsList();
        assertThat(values).isNotEmpty().allSatisfy(row -> {
            Row value = row.getStruct(0);
            assertThat(value.<String>getAs("name")).isNotNull();
            assertThat(value.<Byte>getAs("legs")).isNotNull();
            assertThat(value.<Boolean>getAs("pet")).isNotNull();
        });
        var cut = Roselle.generate(
                table(1, "prompt", "A cat"), options("schema", "name STRING NOT NULL", "maxTokens", "2"));
        assertThat(cut.first().<Row>getAs("error").<String>getAs("message")).contains("raise maxTokens");
    }

    @Test
    void keptAnswersAreNotComputedAgain(@TempDir Path folder) {
        var kept = options("checkpoint", folder.toString(), "checkpointRows", "4");
        List<String> first = texts(Roselle.generate(prompts(2), kept));
        long steps = steps();
        assertThat(texts(Roselle.generate(prompts(2), kept))).isEqualTo(first);
        assertThat(steps()).isEqualTo(steps);
        texts(Roselle.generate(prompts(2), options("checkpoint", folder.toString(), "temperature", "0.5")));
        assertThat(steps()).isGreaterThan(steps);
    }

    private static long steps() {
        return ExecutorEngines.OF_THIS_JVM
                .each((_, engine) -> engine.status().totals().steps())
                .stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    @Test
    void textsHaveVectors() {
        var rows = table(2, "text", "hello world", "a b", "hello world", null);
        var options = Map.of("model", ENCODER, "truncate", "true");
        List<Row> vectors = Roselle.embed(rows, options).sort("id").collectAsList();
        assertThat(vectors.get(0).<Object>getAs("embedding"))
                .isEqualTo(vectors.get(2).getAs("embedding"));
        assertThat(vectors.get(0).<Object>getAs("embedding"))
                .isNotEqualTo(vectors.get(1).getAs("embedding"));
        assertThat(vectors.get(3).<Row>getAs("error").<String>getAs("message")).contains("no text");
        var stage = new RoselleEmbedder().options(options);
        assertThat(stage.transform(rows).sort("id").collectAsList()).isEqualTo(vectors);
        assertThat(stage.transformSchema(rows.schema()).fieldNames())
                .containsExactly("id", "text", "embedding", "error");
    }

    @Test
    void refusesWhatItDoesNotKnowBeforeAnythingRuns() {
        assertThatThrownBy(() -> Roselle.generate(prompts(1), options("max_tokens", "8")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("there is no option max_tokens")
                .hasMessageContaining("maxTokens");
        assertThatThrownBy(() -> Roselle.generate(prompts(1), options("promptCol", "question")))
                .hasMessageContaining("the table has no column question, which promptCol names; it has: id, prompt");
        assertThatThrownBy(() -> Roselle.generate(prompts(1), options("temperature", "-1")))
                .hasMessageContaining("temperature");
        assertThatThrownBy(() ->
                        Roselle.generate(table(1, "text", "a").withColumn("prompt", functions.lit("b")), options()))
                .hasMessageContaining("has a column text already");
        assertThatThrownBy(() -> Roselle.generate(prompts(1), options("schema", "at BINARY")))
                .hasMessageContaining("schema.at is of type BINARY");
    }

    @Test
    void enginesAreInSparksMetrics() {
        texts(Roselle.generate(prompts(1), options()));
        var sources = CollectionConverters.asJava(
                SparkEnv.get().metricsSystem().getSourcesByName("plugin." + RosellePlugin.class.getName()));
        assertThat(sources).hasSize(1);
        var gauges = sources.getFirst().metricRegistry().getGauges();
        assertThat((Long) Objects.requireNonNull(gauges.get("generatedTokens")).getValue())
                .isPositive();
        assertThat((Long) Objects.requireNonNull(gauges.get("running")).getValue())
                .isZero();
    }
}
