package roselle.spark;

import java.io.Serial;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.api.FailureKind;
import roselle.api.InvalidRequestException;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.TextResults;
import roselle.offline.Answer;
import roselle.offline.OrderedRows;
import roselle.offline.RowWork;

/** Finds the vectors of a partition's rows. */
final class EmbedTask implements MapPartitionsFunction<Row, Row> {
    @Serial
    private static final long serialVersionUID = 1L;

    private final Settings settings;
    private final StructType schema;
    private final Counters counters;

    EmbedTask(Settings settings, StructType schema, Counters counters) {
        this.settings = settings;
        this.schema = schema;
        this.counters = counters;
    }

    /** A row with its vector, or with why it has none. */
    @SuppressWarnings("ArrayRecordComponent") // handed on once, and never compared
    private record Embedded(Row row, float[] vector, int tokens, Answer.@Nullable Failed failed) {}

    @Override
    public Iterator<Row> call(Iterator<Row> rows) {
        TaskContext task = TaskContext.get();
        var use = ExecutorEngines.OF_THIS_JVM.encoder(ModelSpec.of(settings, task));
        TaskEnds.add(task, use::close);
        int column = Columns.index(schema, settings.text(Setting.INPUT_COL), Setting.INPUT_COL.key());
        var answers = new OrderedRows<>(
                rows, new Work(use.engine(), column, options(settings)), use.pool(), settings.aheadBytes());
        TaskEnds.add(task, answers::close);
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return answers.hasNext();
            }

            @Override
            public Row next() {
                return row(answers.next());
            }
        };
    }

    private Row row(Embedded embedded) {
        Answer.Failed failed = embedded.failed();
        counters.countEmbedded(embedded.tokens(), failed != null);
        if (failed == null) {
            return Columns.joined(embedded.row(), embedded.vector(), null);
        }
        if (settings.failsOnError()) {
            throw new InvalidRequestException(
                    "a row of partition " + TaskContext.getPartitionId() + " failed: " + failed.message());
        }
        return Columns.joined(embedded.row(), null, Columns.error(failed));
    }

    /** What is asked of all texts, checked. */
    static EmbeddingOptions options(Settings settings) {
        return new EmbeddingOptions(
                settings.has(Setting.PROMPT_NAME) ? settings.text(Setting.PROMPT_NAME) : null,
                settings.whole(Setting.DIMENSIONS),
                settings.flag(Setting.TRUNCATE),
                settings.seconds(Setting.DEADLINE_SECONDS));
    }

    private record Work(EmbeddingEngine engine, int column, EmbeddingOptions options)
            implements RowWork<Row, Embedded> {
        private static final float[] NONE = {};

        @Override
        public Embedded answer(Row row) {
            if (!(row.get(column) instanceof String text)) {
                return failed(row, FailureKind.INVALID_REQUEST, "the row has no text");
            }
            try {
                TextResults results = engine.embed(List.of(text), options);
                return new Embedded(row, results.vectors().getFirst(), results.tokens(), null);
            } catch (InvalidRequestException refused) {
                return failed(row, FailureKind.INVALID_REQUEST, String.valueOf(refused.getMessage()));
            } catch (CapacityException late) {
                return failed(row, FailureKind.CAPACITY, String.valueOf(late.getMessage()));
            }
        }

        private static Embedded failed(Row row, FailureKind kind, String message) {
            return new Embedded(row, NONE, 0, new Answer.Failed(kind, message));
        }

        @Override
        public long expectedTokens(Row row) {
            return rowBytes(row);
        }

        @Override
        public long rowBytes(Row row) {
            return row.get(column) instanceof String text ? 2L * text.length() : 0;
        }

        @Override
        public long answerBytes(Embedded answer) {
            return (long) Float.BYTES * answer.vector().length;
        }
    }
}
