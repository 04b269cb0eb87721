package roselle.spark;

import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import roselle.api.InvalidRequestException;
import roselle.api.SamplingParameters;

/**
 * Tables of prompts to tables of answers, and of texts to vectors; options are in docs/guide/spark.md.
 *
 * {@snippet :
 * Dataset<Row> answers = Roselle.generate(prompts, Map.of("model", "demo", "promptCol", "question", "maxTokens", "64"));
 * }
 *
 * <p>All tasks of an executor share one engine and its batch; rows keep their order.
 */
public final class Roselle {
    private Roselle() {}

    /**
     * The rows with their answers behind them: {@code text}, {@code reasoning}, {@code tokens}, {@code finishReason}, {@code usage},
     * {@code error}, and {@code value} where the option {@code schema} says its columns.
     *
     * @throws InvalidRequestException if an option is not known or cannot be, or the table lacks a column
     */
    public static Dataset<Row> generate(Dataset<?> rows, Map<String, String> options) {
        Settings settings = Settings.of(options, Setting.ofGeneration());
        StructType schema = rows.schema();
        StructType answered = generated(schema, settings);
        var context = rows.sparkSession().sparkContext();
        var hadoop = SerializableConfiguration.broadcast(context);
        Dataset<Row> answers = rows.toDF()
                .mapPartitions(
                        new GenerateTask(settings, schema, hadoop, new Counters(context)), Encoders.row(answered));
        if (!settings.has(Setting.SCHEMA)) {
            return answers;
        }
        String prefix = settings.text(Setting.OUTPUT_PREFIX);
        var value = functions.from_json(answers.col(prefix + Columns.TEXT), Columns.valueType(settings));
        return answers.withColumn(prefix + Columns.VALUE, value);
    }

    /** The columns that {@link #generate} gives for these, with all checks that need no model. */
    static StructType generatedSchema(StructType schema, Settings settings) {
        return Columns.withValue(generated(schema, settings), settings);
    }

    private static StructType generated(StructType schema, Settings settings) {
        new Requests(settings, schema, true, SamplingParameters.DEFAULT);
        settings.failsOnError();
        StructType answered = Columns.withAnswers(schema, settings);
        Columns.withValue(answered, settings);
        return answered;
    }

    /**
     * The rows with their vectors behind them: {@code embedding}, and {@code error}.
     *
     * @throws InvalidRequestException if an option is not known or cannot be, or the table lacks a column
     */
    public static Dataset<Row> embed(Dataset<?> rows, Map<String, String> options) {
        Settings settings = Settings.of(options, Setting.ofEmbedding());
        StructType schema = rows.schema();
        StructType embedded = embeddedSchema(schema, settings);
        var counters = new Counters(rows.sparkSession().sparkContext());
        return rows.toDF().mapPartitions(new EmbedTask(settings, schema, counters), Encoders.row(embedded));
    }

    static StructType embeddedSchema(StructType schema, Settings settings) {
        Columns.index(schema, settings.text(Setting.INPUT_COL), Setting.INPUT_COL.key());
        EmbedTask.options(settings);
        settings.failsOnError();
        return Columns.withVectors(schema, settings);
    }
}
