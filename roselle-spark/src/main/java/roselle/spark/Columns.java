package roselle.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;
import roselle.api.InvalidRequestException;
import roselle.offline.Answer;

/** The columns that answers fill, behind those of the rows. */
final class Columns {
    static final String TEXT = "text";
    static final String REASONING = "reasoning";
    static final String TOKENS = "tokens";
    static final String FINISH_REASON = "finishReason";
    static final String USAGE = "usage";
    static final String ERROR = "error";
    static final String VALUE = "value";

    private static final StructType USAGE_TYPE = new StructType()
            .add("promptTokens", DataTypes.IntegerType, false)
            .add("completionTokens", DataTypes.IntegerType, false)
            .add("reasoningTokens", DataTypes.IntegerType, false);

    private static final StructType ERROR_TYPE =
            new StructType().add("kind", DataTypes.StringType, false).add("message", DataTypes.StringType, false);

    private Columns() {}

    /** The place of a column that an option names. */
    static int index(StructType schema, String name, String option) {
        int index = Arrays.asList(schema.fieldNames()).indexOf(name);
        if (index < 0) {
            throw new InvalidRequestException("the table has no column " + name + ", which " + option
                    + " names; it has: " + String.join(", ", schema.fieldNames()));
        }
        return index;
    }

    /** The columns of {@code schema}, as an option has them. */
    static StructType valueType(Settings settings) {
        return StructType.fromDDL(settings.text(Setting.SCHEMA));
    }

    /** The rows with what generating adds to them; {@code value} comes later. */
    static StructType withAnswers(StructType rows, Settings settings) {
        String prefix = settings.text(Setting.OUTPUT_PREFIX);
        return distinct(rows.add(prefix + TEXT, DataTypes.StringType)
                .add(prefix + REASONING, DataTypes.StringType)
                .add(prefix + TOKENS, DataTypes.createArrayType(DataTypes.IntegerType, false))
                .add(prefix + FINISH_REASON, DataTypes.StringType)
                .add(prefix + USAGE, USAGE_TYPE)
                .add(prefix + ERROR, ERROR_TYPE));
    }

    /** The same with a value that was read from the text. */
    static StructType withValue(StructType answers, Settings settings) {
        return settings.has(Setting.SCHEMA)
                ? distinct(answers.add(settings.text(Setting.OUTPUT_PREFIX) + VALUE, valueType(settings)))
                : answers;
    }

    /** The rows with what embedding adds to them. */
    static StructType withVectors(StructType rows, Settings settings) {
        String prefix = settings.text(Setting.OUTPUT_PREFIX);
        return distinct(rows.add(
                        prefix + settings.text(Setting.OUTPUT_COL),
                        DataTypes.createArrayType(DataTypes.FloatType, false))
                .add(prefix + ERROR, ERROR_TYPE));
    }

    private static StructType distinct(StructType columns) {
        var names = Arrays.asList(columns.fieldNames());
        for (int i = 0; i < names.size(); i++) {
            if (names.indexOf(names.get(i)) != i) {
                throw new InvalidRequestException(
                        "the table has a column " + names.get(i) + " already: set outputPrefix, or rename it");
            }
        }
        return columns;
    }

    static Row withAnswer(Row row, Answer answer) {
        return switch (answer) {
            case Answer.Generated done ->
                joined(
                        row,
                        done.text(),
                        done.reasoning(),
                        done.tokens().toArray(Integer[]::new),
                        done.reason().name().toLowerCase(Locale.ROOT),
                        RowFactory.create(
                                done.usage().promptTokens(),
                                done.usage().completionTokens(),
                                done.usage().reasoningTokens()),
                        null);
            case Answer.Failed failed -> joined(row, null, null, null, null, null, error(failed));
        };
    }

    static Row error(Answer.Failed failed) {
        return RowFactory.create(failed.kind().name().toLowerCase(Locale.ROOT), failed.message());
    }

    static Row joined(Row row, @Nullable Object... more) {
        List<@Nullable Object> values = new ArrayList<>(row.size() + more.length);
        for (int i = 0; i < row.size(); i++) {
            values.add(row.get(i));
        }
        values.addAll(Arrays.asList(more));
        return RowFactory.create(values.toArray());
    }
}
