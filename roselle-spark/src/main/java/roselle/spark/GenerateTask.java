package roselle.spark;

import java.io.Serial;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.Optional;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import org.jspecify.annotations.Nullable;
import roselle.api.FailureKind;
import roselle.api.FinishReason;
import roselle.api.GenerationRequest;
import roselle.api.InvalidRequestException;
import roselle.api.SchedulingOptions;
import roselle.offline.Answer;
import roselle.offline.OrderedRows;
import roselle.offline.RowGenerator;
import roselle.offline.RowKey;
import roselle.offline.RowWork;

/** Answers the rows of a partition. */
final class GenerateTask implements MapPartitionsFunction<Row, Row> {
    @Serial
    private static final long serialVersionUID = 1L;

    private final Settings settings;
    private final StructType schema;
    private final Broadcast<SerializableConfiguration> hadoop;
    private final Counters counters;

    GenerateTask(Settings settings, StructType schema, Broadcast<SerializableConfiguration> hadoop, Counters counters) {
        this.settings = settings;
        this.schema = schema;
        this.hadoop = hadoop;
        this.counters = counters;
    }

    /** A row with its answer. */
    private record Answered(Row row, Answer answer, boolean wasKept) {}

    @Override
    public Iterator<Row> call(Iterator<Row> rows) {
        TaskContext task = TaskContext.get();
        var use = ExecutorEngines.OF_THIS_JVM.generator(ModelSpec.of(settings, task));
        TaskEnds.add(task, use::close);
        var requests = Requests.of(settings, schema, use.engine());
        use.engine().requireKeepable(requests.common().format());
        @Nullable AnswerLog log = log(task.partitionId());
        if (log != null) {
            TaskEnds.add(task, log::close);
        }
        var work = new Work(
                settings,
                requests,
                new RowGenerator(use.engine()),
                log,
                use.engine().context());
        var answers = new OrderedRows<>(rows, work, use.pool(), settings.aheadBytes());
        TaskEnds.add(task, answers::close);
        return new AnsweredRows(answers);
    }

    private @Nullable AnswerLog log(int partition) {
        return settings.has(Setting.CHECKPOINT)
                ? AnswerLog.open(
                        settings.text(Setting.CHECKPOINT),
                        partition,
                        (int) settings.number(Setting.CHECKPOINT_ROWS, 1, 1 << 20),
                        hadoop.value().value())
                : null;
    }

    /** Rows for Spark, counted on the task's own thread. */
    private final class AnsweredRows implements Iterator<Row> {
        private final OrderedRows<Row, Answered> answers;
        private long taken;

        AnsweredRows(OrderedRows<Row, Answered> answers) {
            this.answers = answers;
        }

        @Override
        public boolean hasNext() {
            return answers.hasNext();
        }

        @Override
        public Row next() {
            Answered answered = answers.next();
            counters.count(answered.answer(), answered.wasKept());
            if (answered.answer() instanceof Answer.Failed failed && settings.failsOnError()) {
                throw new InvalidRequestException("row " + taken + " of partition " + TaskContext.getPartitionId()
                        + " failed: " + failed.message());
            }
            taken++;
            return Columns.withAnswer(answered.row(), answered.answer());
        }
    }

    /** What is done with a row: kept answers first. */
    private static final class Work implements RowWork<Row, Answered> {
        /** Of one character or token, with what Java has around it. */
        private static final long BYTES = 4;

        private static final int CHARACTERS_OF_A_TOKEN = 4;

        private final String model;
        private final Requests requests;
        private final RowGenerator generator;
        private final @Nullable AnswerLog log;
        private final boolean mustBeWhole;
        private final Duration deadline;
        private final @Nullable Instant end;
        private final int longest;

        Work(Settings settings, Requests requests, RowGenerator generator, @Nullable AnswerLog log, int longest) {
            this.requests = requests;
            this.generator = generator;
            this.log = log;
            this.longest = longest;
            model = settings.text(Setting.MODEL) + " " + settings.text(Setting.COMPUTE) + " "
                    + settings.text(Setting.KV_TYPE);
            mustBeWhole = settings.has(Setting.SCHEMA);
            deadline = settings.seconds(Setting.DEADLINE_SECONDS);
            Duration limit = settings.seconds(Setting.TIME_LIMIT_SECONDS);
            end = limit.isZero() ? null : Instant.now().plus(limit);
        }

        @Override
        public Answered answer(Row row) {
            GenerationRequest request;
            try {
                request = requests.of(row);
            } catch (InvalidRequestException refused) {
                return new Answered(
                        row,
                        new Answer.Failed(FailureKind.INVALID_REQUEST, String.valueOf(refused.getMessage())),
                        false);
            }
            String key = log == null ? "" : RowKey.of(model, request);
            Optional<Answer.Generated> kept = log == null ? Optional.empty() : log.find(key);
            Answer answer = kept.isPresent() ? kept.get() : generated(request);
            if (log != null && kept.isEmpty() && answer instanceof Answer.Generated generated) {
                log.add(key, generated);
            }
            return new Answered(row, whole(answer), kept.isPresent());
        }

        private Answer generated(GenerationRequest request) {
            Duration time = deadline;
            if (end != null) {
                Duration left = Duration.between(Instant.now(), end);
                if (!left.isPositive()) {
                    return new Answer.Failed(FailureKind.DEADLINE, "the partition's time was over");
                }
                time = time.isZero() || left.compareTo(time) < 0 ? left : time;
            }
            return generator.answer(request.with(new SchedulingOptions(0, "", "", time)));
        }

        /** An answer in JSON that was cut is none. */
        private Answer whole(Answer answer) {
            return mustBeWhole
                            && answer instanceof Answer.Generated generated
                            && generated.reason() == FinishReason.LENGTH
                    ? new Answer.Failed(
                            FailureKind.INVALID_REQUEST,
                            "the answer was cut after " + generated.tokens().size()
                                    + " tokens, before its JSON was whole: raise maxTokens")
                    : answer;
        }

        @Override
        public long expectedTokens(Row row) {
            return rowBytes(row) / BYTES / CHARACTERS_OF_A_TOKEN + Math.min(longest, requests.maxTokens(row));
        }

        @Override
        public long rowBytes(Row row) {
            long characters = 0;
            for (int i = 0; i < row.size(); i++) {
                characters += characters(row.get(i));
            }
            return BYTES * characters;
        }

        private static long characters(@Nullable Object value) {
            return switch (value) {
                case String text -> text.length();
                case Row row -> {
                    long sum = 0;
                    for (int i = 0; i < row.size(); i++) {
                        sum += characters(row.get(i));
                    }
                    yield sum;
                }
                case scala.collection.Seq<?> list ->
                    scala.jdk.javaapi.CollectionConverters.asJava(list).stream()
                            .mapToLong(Work::characters)
                            .sum();
                case byte[] bytes -> bytes.length;
                case null, default -> 2 * BYTES;
            };
        }

        @Override
        public long answerBytes(Answered answered) {
            return switch (answered.answer()) {
                case Answer.Generated done ->
                    BYTES
                            * (done.text().length()
                                    + done.reasoning().length()
                                    + 5L * done.tokens().size());
                case Answer.Failed failed -> BYTES * failed.message().length();
            };
        }
    }
}
